// A request for permission. The whole call is visible; each rule to keep is chosen separately.

import { useState } from "preact/hooks";
import type { Choice, PermissionRequest } from "../../rpc/messages";
import { answerPermission, type PermissionAnswer } from "../../state/actions";
import { sessionStore, w } from "../../state/app";
import { requestName, useKept } from "../../state/kept";
import { choices, type Scope, updates } from "../../state/rules";
import { plain } from "../../state/safe";
import { directoryOf } from "../../state/sessions";
import { isData, toolName } from "../../state/tidy";
import { changedPath, commandOf, isWireName, named, promptType, shortPath, titleOf } from "../../state/tools";
import { Button } from "../button";
import { composes, takeFocus } from "../composer/focus";
import { CallDetails } from "./calldetails";
import { AskFrame } from "./frame";
import { useInFile } from "./infile";
import type { AskProps } from "./request";
import { Rules } from "./rules";

/** Returns the tool and the title of a call, which can differ. */
function names(p: PermissionRequest, verb: string): string {
  const tool = p.tool_name ?? "";
  const title = isData(p.display_name ?? "") ? "" : (p.display_name ?? "");
  if (p.tool_kind === undefined) return title || (isWireName(tool) ? verb : toolName(tool));
  const shown = title === commandOf(p.input) ? "" : title;
  return [shown.startsWith(tool) ? "" : tool, shown].filter((s) => s !== "").join(" · ");
}

/** Reports whether two choices are the same and apply once: one button then covers both. */
const sameOnce = (a: Choice, b: Choice) => a.behavior === b.behavior && (a.scope || "once") === "once" && (b.scope || "once") === "once";

export function Permission({ prompt, keys }: AskProps<PermissionRequest>) {
  const p = prompt.prompt;
  const t = w.value;
  const type = promptType(p);
  const title = titleOf(named(p.display_name, p.tool_name), type, p.input, t);
  const all = choices(p.permission_suggestions);
  const [chosen, setChosen] = useState<ReadonlyMap<string, Scope>>(new Map());
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useKept<string | undefined>(`${requestName(prompt)}reason`, undefined);
  // A restored one does not take the focus.
  const [fresh, setFresh] = useState(false);
  const [busy, setBusy] = useState(false);
  const careful = p.default_to_no === true;
  const canKeep = all.length > 0;
  const own = p.tool_kind !== undefined; // an agent of the Agent Client Protocol names its options

  const answer = (a: PermissionAnswer) => {
    setBusy(true);
    void answerPermission(prompt, a).then(() => setBusy(false));
  };
  const once = () => answer({ behavior: "allow" });
  const always = () => {
    if (!canKeep) return;
    if (chosen.size === 0) setOpen(true);
    else answer({ behavior: "allow", updated_permissions: updates(all, chosen) });
  };
  const deny = (stop = false) =>
    answer({ behavior: "deny", ...(reason ? { reason } : {}), ...(stop ? { interrupt: true } : {}) });
  const explain = () => {
    setFresh(true);
    setReason(reason ?? "");
  };
  keys.current = busy ? {} : { o: once, a: always, d: () => deny(), r: explain };

  const cwd = sessionStore(prompt.session_id).conversation.cwd || directoryOf(prompt.session_id);
  const inFile = useInFile(p, prompt.session_id);
  const ask = inFile.makes === undefined ? t.ask.writeThis : inFile.makes ? t.ask.createThis : t.ask.changeThis;
  const [before, file, after] = ask(shortPath(changedPath(p), cwd));
  return (
    <AskFrame
      prompt={prompt}
      icon={title.icon}
      note={plain(names(p, title.verb))}
      title={
        title.shape === "diff" ? (
          <>
            {before}
            <span class="mono">{plain(file)}</span>
            {after}
          </>
        ) : title.shape === "bash" ? (
          t.ask.runThis
        ) : (
          t.ask.useThis(title.verb)
        )
      }
      body={
        <>
          <CallDetails prompt={p} cwd={cwd} inFile={inFile} />
          {canKeep && open && (
            <Rules
              all={all}
              chosen={chosen}
              setChosen={setChosen}
              close={() => setOpen(false)}
              keep={always}
            />
          )}
          {reason !== undefined && (
            <div class="field">
              <label for={`why-${p.request_id}`}>{t.ask.reasonLabel}</label>
              <input
                id={`why-${p.request_id}`}
                class="inp"
                value={reason}
                ref={fresh ? takeFocus : null}
                onInput={(e) => setReason(e.currentTarget.value)}
                onKeyDown={(e) => {
                  if (e.key === "Enter" && !composes(e)) deny();
                  if (e.key === "Escape") setReason(undefined);
                }}
              />
            </div>
          )}
        </>
      }
      answers={
        <>
          {chosen.size > 0 ? (
            <Button kind={careful ? "" : "primary"} busy={busy} hint="A" onClick={always}>
              {t.ask.keep(chosen.size)}
            </Button>
          ) : (
            <Button kind={careful ? "" : "primary"} busy={busy} hint="O" onClick={once}>
              {t.ask.once}
            </Button>
          )}
          {chosen.size > 0 && (
            <Button onClick={once} hint="O" disabled={busy}>
              {t.ask.once}
            </Button>
          )}
          {canKeep && chosen.size === 0 && (
            <Button hint="A" expanded={open} onClick={() => setOpen(!open)} disabled={busy}>
              {t.ask.always}
            </Button>
          )}
          {(p.choices ?? [])
            .filter((c, i, all) => (c.scope || "once") !== "once" || (own && all.findIndex((x) => sameOnce(x, c)) !== i))
            .map((c) => (
              <Button
                key={c.id}
                kind={c.behavior === "deny" ? "danger" : ""}
                disabled={busy}
                onClick={() => answer({ behavior: c.behavior === "deny" ? "deny" : "allow", choice: c.id })}
              >
                {(own ? undefined : t.ask.choices[c.id]) ?? plain(c.label)}
              </Button>
            ))}
          <span class="sp" />
          {reason === undefined && (
            <Button kind="ghost" class="no-p" onClick={explain} hint="R">
              {t.ask.withReason}
            </Button>
          )}
          {reason !== undefined && (
            <Button kind="danger" class="ghost" onClick={() => deny(true)} disabled={busy}>
              {t.ask.denyStop}
            </Button>
          )}
          <Button kind={careful ? "primary" : "danger"} onClick={() => deny()} hint="D" disabled={busy}>
            {reason ? t.ask.denyReason : t.ask.deny}
          </Button>
        </>
      }
    />
  );
}
