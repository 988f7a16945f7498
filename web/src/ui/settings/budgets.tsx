// The budgets of the server. A limit is set by its field; an empty one removes it.

import { useState } from "preact/hooks";
import type { Budget } from "../../rpc/service";
import { newKey } from "../../state/actions";
import { call, hello, sayError, w } from "../../state/app";
import { money } from "../../state/time";
import { BudgetRow, useBudgets } from "../usage/limits";
import { Row } from "./row";

/** The budgets that have a field. */
const fields = [
  ["day", { scope: "server", period: "day" }],
  ["month", { scope: "server", period: "month" }],
  ["session", { scope: "session" }],
] as const;

export function BudgetSettings() {
  const [version, setVersion] = useState(0);
  const all = useBudgets(undefined, version);
  const may = hello.value?.role === "admin";
  if (all === undefined) return null;
  const of = (b: { scope: string; period?: string }) =>
    all.find((x) => x.scope === b.scope && (x.period ?? "") === (b.period ?? "") && !x.target && x.limit_tokens === undefined);
  const known = new Set(fields.map(([, b]) => of(b)));
  const others = all.filter((b) => !known.has(b));
  return (
    <div class="set-card">
      {fields.map(([name, b]) => (
        <BudgetField key={name} name={name} base={b} b={of(b)} may={may} changed={() => setVersion((n) => n + 1)} />
      ))}
      {others.map((b, i) => (
        <div class="set-row" key={b.id ?? i}>
          <BudgetRow b={b} />
        </div>
      ))}
    </div>
  );
}

interface FieldProps {
  name: "day" | "month" | "session";
  base: { scope: string; period?: string };
  b: Budget | undefined;
  may: boolean;
  changed: () => void;
}

function BudgetField({ name, base, b, may, changed }: FieldProps) {
  const t = w.value.set_;
  const [error, setError] = useState("");
  const save = async (field: HTMLInputElement) => {
    const before = b?.limit_usd === undefined ? "" : String(b.limit_usd);
    const text = field.value.trim();
    if (text === before) return;
    const limit = Number(text);
    setError("");
    try {
      if (text === "") {
        if (b?.id) await call("budget.remove", { id: b.id });
      } else if (!(limit > 0)) throw new Error(t.notANumber);
      else
        await call("budget.set", {
          idempotency_key: newKey(),
          budget: { ...base, ...(b?.id ? { id: b.id } : {}), ...(b?.action ? { action: b.action } : {}), limit_usd: limit },
        });
      changed();
    } catch (err) {
      field.value = before;
      setError(sayError(err));
    }
  };
  const spent = b?.spent_usd ?? 0;
  const limit = b?.limit_usd;
  const note = limit === undefined ? t.noBudget : t.spent(money(spent), money(limit));
  return (
    <Row name={t.budgets[name]} note={may ? note : `${note} · ${t.adminOnly}`} error={error || undefined}>
      {limit !== undefined && (
        <meter aria-label={t.budgets[name]} min={0} max={limit} high={limit * 0.8} value={Math.min(spent, limit)} />
      )}
      <input
        class="inp sm set-num"
        type="text"
        inputMode="decimal"
        aria-label={t.limitOf(t.budgets[name])}
        key={String(limit)}
        defaultValue={limit === undefined ? "" : String(limit)}
        placeholder="$"
        disabled={!may}
        onBlur={(e) => void save(e.currentTarget)}
        onKeyDown={(e) => e.key === "Enter" && e.currentTarget.blur()}
      />
    </Row>
  );
}
