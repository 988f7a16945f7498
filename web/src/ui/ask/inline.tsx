// A request inside the card of its tool: it points to the whole request above the input.

import type { PendingPrompt } from "../../rpc/service";
import { answerPermission } from "../../state/actions";
import { w } from "../../state/app";
import { ofTool } from "../../state/diff";
import { promptKey } from "../../state/inbox";
import { promptType } from "../../state/tools";
import { Button } from "../button";
import { focusRequest } from "./request";

/** Allow is offered only where all that it allows stands in the card above. */
function isShown(p: PendingPrompt["prompt"]): boolean {
  if (p.type !== "permission_request" || p.kind !== "tool" || p.tool_kind !== undefined || p.request !== undefined)
    return false;
  const type = promptType(p);
  if (type === "CLAUDE_BASH") return true;
  const diff = ofTool(type, p.input, undefined);
  return diff !== undefined && diff.added + diff.removed <= 60;
}

export function InlineRequest({ prompt }: { prompt: PendingPrompt }) {
  const t = w.value;
  return (
    <div class="ask-inline" role="group" aria-label={t.waitsForYou}>
      <span class="dot ask" aria-hidden="true" />
      <span class="strong">{t.waitsForYou}</span>
      <span class="sp" />
      {isShown(prompt.prompt) && (
        <>
          <Button small onClick={() => void answerPermission(prompt, { behavior: "allow" })}>
            {t.ask.once}
          </Button>
          <Button small kind="danger" onClick={() => void answerPermission(prompt, { behavior: "deny" })}>
            {t.ask.deny}
          </Button>
        </>
      )}
      <Button small kind="ghost" onClick={() => focusRequest(promptKey(prompt))}>
        {t.review}
      </Button>
    </div>
  );
}
