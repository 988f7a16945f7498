// A used-up budget, which can be raised where that is reported, so that the agent continues.

import { goOn, newKey, sendAgain } from "../state/actions";
import { tryCall, w } from "../state/app";
import { go } from "../state/route";
import type { SessionStore } from "../state/session";
import { Button } from "./button";
import { ask } from "./dialog";

/** Asks for a higher limit of a used-up budget, with which the agent continues. */
async function raise(store: SessionStore): Promise<void> {
  const t = w.peek();
  const r = await tryCall("budget.list", { session_id: store.id });
  const b = r?.budgets?.find((x) => x.level === "exceeded");
  if (!b) return go({ page: "settings", section: "budgets" });
  const unit = b.limit_usd !== undefined && (b.spent_usd ?? 0) >= b.limit_usd ? "limit_usd" : "limit_tokens";
  const spent = (unit === "limit_usd" ? b.spent_usd : b.spent_tokens) ?? 0;
  const limit = await ask({
    title: t.raiseBudget,
    input: { label: t.newLimit[unit], value: String(Math.ceil(200 * Math.max(spent, b[unit] ?? 0)) / 100) },
    ok: t.raiseDo,
  });
  if (limit === undefined || !(Number(limit) > 0)) return;
  const { spent_usd: _u, spent_tokens: _t, resets_at: _r, level: _l, of: _o, ...kept } = b;
  const budget = { ...kept, [unit]: Number(limit) };
  if ((await tryCall("budget.set", { budget, idempotency_key: newKey() })) === undefined) return;
  const refused = store.sending.peek().filter((m) => m.state === "failed");
  for (const m of refused) sendAgain(store, m.id);
  if (refused.length === 0) goOn(store.id);
}

export function RaiseBudget({ store }: { store: SessionStore }) {
  return (
    <Button small onClick={() => void raise(store)}>
      {w.value.raiseBudget}
    </Button>
  );
}
