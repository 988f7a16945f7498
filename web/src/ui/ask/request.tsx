// A request that waits, drawn by its kind. Keys answer it only while it is armed (../keys.ts).

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { PendingPrompt, Prompt } from "../../rpc/service";
import { w } from "../../state/app";
import { arm, armed, disarm, setShown } from "../../state/arming";
import { promptKey } from "../../state/inbox";
import { letters } from "../../state/prefs";
import { Hint } from "../button";
import { focusInput } from "../composer/focus";
import { Icon } from "../icon";
import { Elicitation } from "./elicitation";
import { Permission } from "./permission";
import { watchPlace } from "./place";
import { Plan } from "./plan";
import { Question } from "./question";

/** The actions of a card by key. */
export type Answers = Readonly<Record<string, () => void>>;

export interface AskProps<P extends Prompt> {
  prompt: PendingPrompt & { prompt: P };
  /** Set by the card: the action of each key. */
  keys: { current: Answers };
}

/** The keys of the cards that are drawn, by their promptKey. */
const cards = new Map<string, { current: Answers }>();

/** Returns the actions of a request's keys. */
export function answersOf(key: string): Answers {
  return cards.get(key)?.current ?? {};
}

/** The whole card of a request. It never takes the focus by itself. */
export function RequestCard({ prompt, active }: { prompt: PendingPrompt; active?: boolean }) {
  const keys = useRef<Answers>({});
  const box = useRef<HTMLElement>(null);
  const p = prompt.prompt;
  const key = promptKey(prompt);
  const isArmed = armed.value === key;
  useEffect(() => {
    cards.set(key, keys);
    return () => {
      cards.delete(key);
      if (armed.peek() !== key) return;
      disarm();
      focusInput(prompt.session_id);
    };
  }, [key]);
  useLayoutEffect(() => (box.current ? watchPlace(box.current) : undefined), []);
  useEffect(() => {
    if (!isArmed || !box.current) return;
    const seen = new IntersectionObserver((all) =>
      setShown(all.some((e) => e.isIntersecting) && !document.hidden, performance.now()),
    );
    seen.observe(box.current);
    return () => seen.disconnect();
  }, [isArmed]);
  return (
    <section
      ref={box}
      role="group"
      class={`ask-card${active ? " is-active" : ""}${isArmed ? " armed" : ""}`}
      tabIndex={-1}
      data-request={key}
      aria-labelledby={`ask-${key}`}
    >
      {isArmed && letters.value && (
        <p class="arm" role="status">
          <Icon name="keyboard" />
          <span>{w.value.armed}</span>
          <span class="sp" />
          <Hint of="Esc" /> {w.value.backToText}
        </p>
      )}
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

/** Moves the focus to a request's card, by its promptKey. Its keys stay off. */
export function focusRequest(id: string): void {
  const card = [...document.querySelectorAll<HTMLElement>("[data-request]")].find((e) => e.dataset["request"] === id);
  card?.scrollIntoView({ block: "nearest" });
  card?.focus({ preventScroll: true });
}

/** Arms the request of a drawn card: letters then answer it. */
export function armRequest(id: string): void {
  focusRequest(id);
  if ((document.activeElement as HTMLElement | null)?.dataset["request"] === id) arm(id);
}
