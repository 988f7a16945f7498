// After a fault: one action to continue, only at the end of the conversation.

import type { Item, Message } from "../fold/conversation";
import { copyText, goOn, send } from "../state/actions";
import { w } from "../state/app";
import { isBusy } from "../state/phase";
import { isPerson, type Row } from "../state/rows";
import type { SessionStore } from "../state/session";
import { RaiseBudget } from "./budget";
import { Button } from "./button";
import { Guide } from "./guide";
import { imagesOf, read } from "./user";

/** Reports whether no prompt followed an item and the agent is idle. */
export function isLast(store: SessionStore, item: Item): boolean {
  const c = store.settled;
  if (store.past || isBusy(c) || c.queue.length > 0) return false;
  const items = c.threads[0]?.items ?? [];
  for (let i = items.length - 1; i >= 0 && items[i] !== item; i--) {
    const m = items[i]?.message;
    if (m && isPerson(m)) return false;
  }
  return true;
}

/** The last message of a person before an item. */
function promptBefore(store: SessionStore, item: Item): Message | undefined {
  const items = store.settled.threads[0]?.items ?? [];
  for (let i = items.lastIndexOf(item); i >= 0; i--) {
    const m = items[i]?.message;
    if (m && isPerson(m)) return m;
  }
  return undefined;
}

function again(store: SessionStore, m: Message): void {
  const { before, text, after } = read(m);
  const images = imagesOf(m).map((i, n) => ({
    ...i,
    name: w.peek().picture(n + 1),
    size: Math.floor(i.data.length * 0.75),
  }));
  send(store.id, { text: before + text + after, contexts: [], images });
}

/** Errors for which a retry cannot help. */
const hopeless = new Set(["invalid_request", "model_not_found", "billing_error", "oauth_org_not_allowed"]);

/** The action for a fault by its code: that of an answer of the API, or the subtype of a result. */
export function FaultAction({ code, item, store }: { code: string; item: Item; store: SessionStore }) {
  const t = w.value;
  if (!isLast(store, item) || hopeless.has(code)) return null;
  if (code === "error_max_budget_usd") return <RaiseBudget store={store} />;
  const provider = store.settled.provider ?? "";
  const command = provider.startsWith("codex") ? "codex login" : "claude /login";
  // The agent's own message explains how to log in to other agents.
  if (code === "authentication_failed" && !provider.startsWith("acp:"))
    return (
      <>
        <Button small onClick={() => void copyText(command)} title={command}>
          {t.copyLogin}
        </Button>
        <Guide page="guide/troubleshooting" />
      </>
    );
  if (code === "error_max_turns" || code === "max_output_tokens")
    return (
      <Button small onClick={() => goOn(store.id)}>
        {t.goOn}
      </Button>
    );
  const prompt = promptBefore(store, item);
  if (!prompt) return null;
  return (
    <Button small onClick={() => again(store, prompt)}>
      {t.tryAgain}
    </Button>
  );
}

/** The end of a text that was cut off. */
export function CutOff({ row, store }: { row: Row; store: SessionStore }) {
  return (
    <p class="cutoff">
      <span>{w.value.cutOff}</span>
      {isLast(store, row.item) && (
        <Button small onClick={() => goOn(store.id)}>
          {w.value.goOn}
        </Button>
      )}
    </p>
  );
}
