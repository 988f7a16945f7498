// The frame of a request: its subject, who asks, and since when; the answers below.

import type { ComponentChildren } from "preact";
import type { PendingPrompt } from "../../rpc/service";
import { promptKey } from "../../state/inbox";
import { lang } from "../../state/prefs";
import { now, w } from "../../state/app";
import { age } from "../../state/time";
import { Icon, type IconName } from "../icon";

interface FrameProps {
  prompt: PendingPrompt;
  icon: IconName;
  title: ComponentChildren;
  note: string;
  body: ComponentChildren;
  answers: ComponentChildren;
}

export function AskFrame({ prompt, icon, title, note, body, answers }: FrameProps) {
  const since = age(prompt.asked_at, now.value, w.value, lang.value);
  return (
    <>
      <header class="ask-h">
        <span class="badge">
          <Icon name={icon} />
        </span>
        <div>
          <h2 id={`ask-${promptKey(prompt)}`} dir="auto">
            {title}
          </h2>
          <p>
            {[
              note,
              since === "" ? "" : w.value.asked(since),
              "agent_id" in prompt.prompt && prompt.prompt.agent_id ? w.value.bySubagent : "",
            ]
              .filter((s) => s !== "")
              .join(" · ")}
          </p>
        </div>
      </header>
      <div class="ask-b">{body}</div>
      <footer class="ask-f">{answers}</footer>
    </>
  );
}
