// A request that waits, drawn by its kind, and the keys that answer it while it has the focus.

import { useRef } from "preact/hooks";
import type { PendingPrompt, Prompt } from "../../rpc/service";
import { promptKey } from "../../state/inbox";
import { letters } from "../../state/prefs";
import { Elicitation } from "./elicitation";
import { Permission } from "./permission";
import { Plan } from "./plan";
import { Question } from "./question";

export interface AskProps<P extends Prompt> {
  prompt: PendingPrompt & { prompt: P };
  /** Set by the card: what a key does. True says that it was used. */
  keys: { current: (key: string) => boolean };
}

/** The whole card of a request. It never takes the focus by itself. */
export function RequestCard({ prompt, active }: { prompt: PendingPrompt; active?: boolean }) {
  const keys = useRef<(key: string) => boolean>(() => false);
  const p = prompt.prompt;
  const key = promptKey(prompt);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return;
    const target = e.target as HTMLElement;
    const typing = target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");
    const onButton = target.matches("button, a, summary") && (e.key === "Enter" || e.key === " ");
    if (typing || onButton) return;
    if (e.key.length === 1 && !letters.value) return;
    if (keys.current(e.key.length === 1 ? e.key.toLowerCase() : e.key)) {
      e.preventDefault();
      e.stopPropagation();
    }
  };
  return (
    <section
      class={`ask-card${active ? " is-active" : ""}`}
      tabIndex={-1}
      data-request={key}
      onKeyDown={onKeyDown}
      aria-labelledby={`ask-${key}`}
    >
      {p.type === "question_request" ? (
        p.kind === "elicitation" ? (
          <Elicitation key={key} prompt={{ ...prompt, prompt: p }} keys={keys} />
        ) : (
          <Question key={key} prompt={{ ...prompt, prompt: p }} keys={keys} />
        )
      ) : p.kind === "plan" ? (
        <Plan key={key} prompt={{ ...prompt, prompt: p }} keys={keys} />
      ) : (
        <Permission key={key} prompt={{ ...prompt, prompt: p }} keys={keys} />
      )}
    </section>
  );
}

/** Moves the focus to a request's card, by its promptKey. */
export function focusRequest(id: string): void {
  const card = [...document.querySelectorAll<HTMLElement>("[data-request]")].find((e) => e.dataset["request"] === id);
  card?.scrollIntoView({ block: "nearest" });
  card?.focus({ preventScroll: true });
}
