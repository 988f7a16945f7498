// The whole effect of a tool call if it is allowed, never folded.

import { get, isObj, num, str } from "../../fold/json";
import type { PermissionRequest } from "../../rpc/messages";
import { w } from "../../state/app";
import { parts } from "../../state/command";
import type { FileDiff } from "../../state/diff";
import { type Option, outsidePath, type Part, partsOf } from "../../state/callparts";
import { plain, turnsText } from "../../state/safe";
import { untag } from "../../state/tidy";
import { changedPath, promptType, shortPath } from "../../state/tools";
import { Coloured } from "../code";
import { Counts, DiffTable, placeOf } from "../diff";
import { Icon } from "../icon";
import { Raw } from "../tool/output";
import { type InFile, unnumbered } from "./infile";

interface DetailsProps {
  prompt: PermissionRequest;
  cwd: string;
  inFile: InFile;
}

/** A reason that only repeats the question of the title. */
const saysNothing = /^Allow the .+ MCP server to run tool "[^"]+"\?$/;

export function CallDetails({ prompt: p, cwd, inFile }: DetailsProps) {
  const t = w.value;
  const parts = partsOf(p, cwd);
  const said = untag(p.description || str(get(p.input, "description"))).trim();
  const why = saysNothing.test(said) ? "" : said; // only a path is not a reason
  const outside = outsidePath(p, cwd);
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
        <One key={i} part={part} prompt={p} cwd={cwd} inFile={inFile} />
      ))}
      <dl class="facts">
        {why !== "" && !str(get(p.input, "file_path")).endsWith(why) && (
          <>
            <dt>{t.ask.why}</dt>
            <dd dir="auto">{plain(why)}</dd>
          </>
        )}
        {outside && (
          <>
            <dt>{t.ask.because}</dt>
            <dd>
              {t.ask.outside} <span class="mono">{plain(outside)}</span>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** One part of the call's effect. */
function One({ part, prompt, cwd, inFile }: DetailsProps & { part: Part }) {
  const t = w.value;
  switch (part.kind) {
    case "command":
      return <Command command={part.text} dir={part.cwd} cwd={cwd} />;
    case "diff":
      return <Change part={part.diff} prompt={prompt} cwd={cwd} inFile={inFile} />;
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
          <p class={`notice ${part.says === "nothing" ? "bad" : "warn"}`}>
            <Icon name="alert" />
            <span>{t.ask.says[part.says]}</span>
          </p>
          <Raw label={t.ask.request} value={part.request} />
        </>
      );
  }
}

/** A change of a file. The file of the title is not named again. */
function Change({ part, prompt, cwd, inFile }: DetailsProps & { part: FileDiff }) {
  const known = inFile.diff ?? (promptType(prompt) === "CLAUDE_EDIT" ? unnumbered(part) : part);
  const path = shortPath(part.path, cwd);
  const [first, ...others] = known.hunks;
  const place = others.length === 0 && first && !known.isNew ? placeOf(first) : "";
  return (
    <div class="card">
      <div class="card-h">
        <span class="cut">
          {path !== shortPath(changedPath(prompt), cwd) && <span class="arg">{plain(path)} </span>}
          {place}
        </span>
        <span class="meta">
          {inFile.makes && <span class="chip acc">{w.value.isNew}</span>}
          <Counts diff={known} />
        </span>
      </div>
      <DiffTable diff={known} warn bare={place !== ""} />
    </div>
  );
}

function optionText(option: Option, value: unknown): string {
  const t = w.value.ask.options;
  return option === "stopsAfter" ? t.stopsAfter(Math.round(num(value) / 1000)) : t[option];
}

/** Returns a directory relative to the session's, which may not be named like a project. */
function shortDir(dir: string, cwd: string): string {
  return dir === cwd ? w.value.ask.here : shortPath(dir, cwd);
}

/** A command, and where it runs if that is not the session's directory: each of its parts if they run in several. */
function Command({ command, dir, cwd }: { command: string; dir: string; cwd: string }) {
  const t = w.value;
  const all = parts(command, dir);
  const several = new Set(all.map((p) => p.dir)).size > 1;
  return (
    <div class="card">
      <pre class="cmd wrap" tabIndex={0} dir="ltr">
        <span class="p" aria-hidden="true">
          ${" "}
        </span>
        <Coloured code={command} lang="bash" />
      </pre>
      {several ? (
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
        dir !== cwd && (
          <p class="parts one">
            <span class="dim">{t.ask.where}</span> <span class="mono">{plain(shortDir(dir, cwd))}</span>
          </p>
        )
      )}
    </div>
  );
}

/** Draws arguments on one line each; values that are not simple as JSON. */
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
