// A plan to approve, to change in place, or to send back.

import { useState } from "preact/hooks";
import { get, isObj, str } from "../../fold/json";
import type { PermissionRequest } from "../../rpc/messages";
import { answerPermission, type PermissionAnswer } from "../../state/actions";
import { w } from "../../state/app";
import { requestName, useKept } from "../../state/kept";
import { Button } from "../button";
import { composes } from "../composer/focus";
import { Markdown } from "../markdown";
import { AskFrame } from "./frame";
import type { AskProps } from "./request";

export function Plan({ prompt, keys }: AskProps<PermissionRequest>) {
  const p = prompt.prompt;
  const t = w.value;
  const original = str(get(p.input, "plan"));
  const name = requestName(prompt);
  const [plan, setPlan] = useKept(`${name}plan`, original);
  const [editing, setEditing] = useKept(`${name}editing`, false);
  const [reason, setReason] = useKept(`${name}reason`, "");
  const [busy, setBusy] = useState(false);
  const answer = (a: PermissionAnswer) => {
    setBusy(true);
    void answerPermission(prompt, a).then(() => setBusy(false));
  };
  const approve = (mode: string) =>
    answer({
      behavior: "allow",
      ...(plan === original ? {} : { updated_input: { ...(isObj(p.input) ? p.input : {}), plan } }),
      updated_permissions: [{ type: "setMode", mode, destination: "session" }],
    });
  const refuse = () => answer({ behavior: "deny", reason: reason.trim() || t.ask.keepPlanning });
  keys.current = busy ? {} : { Enter: () => approve("default"), e: () => approve("acceptEdits"), d: refuse };
  return (
    <AskFrame
      prompt={prompt}
      icon="list"
      title={t.ask.plan}
      note={t.ask.planNote}
      body={
        <>
          {editing ? (
            <div class="field">
              <label for={`plan-${p.request_id}`}>{t.ask.editPlan}</label>
              <textarea
                id={`plan-${p.request_id}`}
                class="inp mono"
                rows={12}
                value={plan}
                onInput={(e) => setPlan(e.currentTarget.value)}
              />
            </div>
          ) : (
            <div class="plan-md" tabIndex={0} role="group" aria-label={t.tool.plan}>
              <Markdown text={plan} />
            </div>
          )}
          <div class="field">
            <label for={`why-${p.request_id}`}>{t.ask.different}</label>
            <input
              id={`why-${p.request_id}`}
              class="inp"
              value={reason}
              placeholder={t.ask.goesBack}
              onInput={(e) => setReason(e.currentTarget.value)}
              onKeyDown={(e) => e.key === "Enter" && !composes(e) && refuse()}
            />
          </div>
        </>
      }
      answers={
        <>
          <Button kind="primary" busy={busy} hint="↵" onClick={() => approve("default")}>
            {t.ask.approveAsk}
          </Button>
          <Button hint="E" disabled={busy} onClick={() => approve("acceptEdits")}>
            {t.ask.approveEdits}
          </Button>
          <span class="sp" />
          <Button kind="ghost" icon="pencil" onClick={() => setEditing(!editing)}>
            {editing ? t.ask.showPlan : t.ask.editPlan}
          </Button>
          <Button hint="D" disabled={busy} onClick={refuse}>
            {t.ask.keepPlanning}
          </Button>
        </>
      }
    />
  );
}
