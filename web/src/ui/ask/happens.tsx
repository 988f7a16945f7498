// What a tool will do if it is allowed: all of it, open.

import { useEffect, useState } from "preact/hooks";
import { get, isObj, num, str } from "../../fold/json";
import type { PermissionRequest } from "../../rpc/messages";
import { call, w } from "../../state/app";
import { parts } from "../../state/command";
import { isOutside } from "../../state/decided";
import { type FileDiff, fromTexts } from "../../state/diff";
import { type Option, type Part, partsOf } from "../../state/happens";
import { plain, turnsText } from "../../state/safe";
import { shortPath } from "../../state/tools";
import { Coloured } from "../code";
import { Counts, DiffTable } from "../diff";
import { Icon } from "../icon";
import { Raw } from "../tool/output";

export function Happens({ prompt: p, session, cwd }: { prompt: PermissionRequest; session: string; cwd: string }) {
  const t = w.value;
  const parts = partsOf(p, cwd);
  const why = p.description || str(get(p.input, "description")); // the path alone is no reason
  const strange = turnsText(JSON.stringify([p.input ?? "", p.content ?? "", p.display_name ?? ""]));
  return (
    <>
      {strange && (
        <p class="notice bad">
          <Icon name="alert" />
          <span>{t.ask.turned}</span>
        </p>
      )}
      {parts.map((part, i) => (
        <One key={i} part={part} prompt={p} session={session} cwd={cwd} />
      ))}
      <dl class="facts">
        {why !== "" && !str(get(p.input, "file_path")).endsWith(why) && (
          <>
            <dt>{t.ask.why}</dt>
            <dd dir="auto">{plain(why)}</dd>
          </>
        )}
        {!parts.some((part) => part.kind === "command") && cwd !== "" && (
          <>
            <dt>{t.ask.where}</dt>
            <dd class="mono">{plain(cwd)}</dd>
          </>
        )}
        {p.blocked_path && isOutside(p.blocked_path, cwd) && (
          <>
            <dt>{t.ask.because}</dt>
            <dd>
              {t.ask.outside} <span class="mono">{plain(p.blocked_path)}</span>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

interface OneProps {
  part: Part;
  prompt: PermissionRequest;
  session: string;
  cwd: string;
}

/** The change of an edit in its file, with the numbers of its lines; until the file is read, the change alone. */
function useInFile(part: Part, p: PermissionRequest, session: string): FileDiff | undefined {
  const [found, setFound] = useState<FileDiff>();
  const path = str(get(p.input, "file_path"));
  const before = str(get(p.input, "old_string"));
  useEffect(() => {
    if (part.kind !== "diff" || before === "" || path === "") return;
    let gone = false;
    call("files.read", { session_id: session, path })
      .then((r) => {
        if (gone || r.truncated || !r.text.includes(before)) return;
        const after = str(get(p.input, "new_string"));
        const all = get(p.input, "replace_all") === true;
        const text = all ? r.text.split(before).join(after) : r.text.replace(before, () => after);
        setFound(fromTexts(path, r.text, text));
      })
      .catch(() => {}); // a file elsewhere is shown without its lines
    return () => {
      gone = true;
    };
  }, [session, path, before]);
  return part.kind === "diff" ? (found ?? part.diff) : undefined;
}

/** One part of what will happen. */
function One({ part, prompt, session, cwd }: OneProps) {
  const t = w.value;
  const diff = useInFile(part, prompt, session);
  switch (part.kind) {
    case "command":
      return <Command command={part.text} cwd={part.cwd} />;
    case "diff":
      return (
        <div class="card">
          <div class="card-h">
            <span class="arg cut">{plain(shortPath(part.diff.path, cwd))}</span>
            <span class="meta">
              <Counts diff={part.diff} />
            </span>
          </div>
          <DiffTable diff={diff ?? part.diff} warn />
        </div>
      );
    case "text":
      return (
        <pre class="out" tabIndex={0} dir="auto">
          {plain(part.text)}
        </pre>
      );
    case "arguments":
      return <Arguments input={part.value} />;
    case "options":
      return (
        <ul class="options">
          {part.of.map(([option, value]) => (
            <li key={option} class={`chip${option === "noSandbox" ? " warn" : ""}`}>
              {optionText(option, value)}
            </li>
          ))}
        </ul>
      );
    case "files":
      return <Arguments input={{ [t.ask.files]: part.paths.join("\n") }} />;
    case "request":
      return (
        <>
          <p class={`notice ${part.titled ? "warn" : "bad"}`}>
            <Icon name="alert" />
            <span>{part.titled ? t.ask.onlyTitle : t.ask.saysNothing}</span>
          </p>
          <Raw label={t.ask.request} value={part.request} />
        </>
      );
  }
}

function optionText(option: Option, value: unknown): string {
  const t = w.value.ask.options;
  return option === "stopsAfter" ? t.stopsAfter(Math.round(num(value) / 1000)) : t[option];
}

/** A directory from the project's own name on. */
function shortDir(dir: string, cwd: string): string {
  const above = cwd.slice(0, cwd.lastIndexOf("/") + 1);
  return above.length > 1 && dir.startsWith(above) ? dir.slice(above.length) : dir;
}

/** A command, and where it has several parts each of them with its directory. */
function Command({ command, cwd }: { command: string; cwd: string }) {
  const t = w.value;
  const all = parts(command, cwd);
  return (
    <div class="card">
      <pre class="cmd wrap" tabIndex={0} dir="ltr">
        <span class="p" aria-hidden="true">
          ${" "}
        </span>
        <Coloured code={command} lang="bash" />
      </pre>
      {all.length > 1 ? (
        <ol class="parts" aria-label={t.ask.parts(all.length)}>
          {all.map((p, i) => (
            <li key={i}>
              <span class="join" title={p.join}>
                {i === 0 ? "" : p.join}
              </span>
              <code>{plain(p.text)}</code>
              <span class="mono dim" title={plain(p.dir)}>
                {plain(shortDir(p.dir, cwd))}
              </span>
            </li>
          ))}
        </ol>
      ) : (
        cwd !== "" && (
          <p class="parts one">
            <span class="dim">{t.ask.where}</span> <span class="mono">{plain(cwd)}</span>
          </p>
        )
      )}
    </div>
  );
}

/** Arguments, one line each; what is not simple as JSON. */
export function Arguments({ input }: { input: unknown }) {
  if (!isObj(input)) return <Raw label={w.value.input} value={input} />;
  const entries = Object.entries(input);
  if (entries.length === 0) return <p class="dim">{w.value.ask.noArguments}</p>;
  return (
    <dl class="facts args">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt class="mono">{plain(key)}</dt>
          <dd class="mono wrapany">{plain(typeof value === "string" ? value : JSON.stringify(value, null, 2))}</dd>
        </div>
      ))}
    </dl>
  );
}
