// The input of a session: it sends, or puts into the queue while the agent works.

import { interrupt, send } from "../../state/actions";
import { w } from "../../state/app";
import { isBusy } from "../../state/phase";
import type { SessionStore } from "../../state/session";
import { phone } from "../viewport";
import { InputBox } from "./input";
import { Switches } from "./switches";

export function Composer({ store }: { store: SessionStore }) {
  void store.durable.value;
  const c = store.settled;
  const busy = isBusy(c);
  const t = w.value;
  const asks = c.prompts.length > 0;
  const editLast = () => {
    const buttons = document.querySelectorAll<HTMLButtonElement>(".queue .q-edit");
    buttons[buttons.length - 1]?.click();
  };
  return (
    <InputBox
      id={store.id}
      session={store.id}
      commands={c.init?.slash_commands ?? []}
      placeholder={asks ? t.afterAnswers : busy ? t.placeholderBusy : t.placeholder}
      sendLabel={busy ? t.queueIt : t.send}
      onSend={(d) => send(store.id, d)}
      onEscape={() => busy && void interrupt(store.id)}
      onUpWhenEmpty={editLast}
      fold={asks && phone()}
      switches={<Switches store={store} />}
    />
  );
}
