// The usage of a session: its budgets, its rate limit, and the cost of each turn.

import { useEffect, useState } from "preact/hooks";
import { w } from "../../state/app";
import { turnCosts } from "../../state/log";
import { formatRoute } from "../../state/route";
import type { SessionStore } from "../../state/session";
import { live } from "../../state/sessions";
import { money } from "../../state/time";
import { Icon } from "../icon";
import { Section } from "../section";
import { BudgetRow, SessionLimit, useBudgets } from "./limits";

export function SessionUsage({ store }: { store: SessionStore }) {
  const t = w.value;
  const c = store.settled;
  const budgets = useBudgets(store.id, c.totals.turns) ?? [];
  const limited = live.value.find((s) => s.session_id === store.id)?.limited_until;
  return (
    <Section title={t.usage_.title}>
      <SessionLimit c={c} limitedUntil={limited} />
      {budgets.length > 0 && <h3 class="sub-h">{t.usage_.budgets}</h3>}
      {budgets.map((b, i) => (
        <BudgetRow key={b.id ?? i} b={b} />
      ))}
      <TurnCosts store={store} turns={c.totals.turns} />
      <div class="pad acts seg-row">
        <a class="btn sm" href={formatRoute({ page: "usage" })}>
          {t.usage_.allUsage}
        </a>
      </div>
    </Section>
  );
}

/** How many turns are shown; those before are in the log. */
const most = 12;

/** A bar for each turn, the newest first. The log is read when a person wants to see them. */
function TurnCosts({ store, turns }: { store: SessionStore; turns: number }) {
  const t = w.value;
  const [open, setOpen] = useState(false);
  const [got, setGot] = useState<{ costs: number[]; cut: boolean }>();
  useEffect(() => {
    if (!open) return;
    let gone = false;
    turnCosts(store)
      .then((r) => !gone && setGot(r))
      .catch(() => !gone && setGot({ costs: [], cut: false }));
    return () => {
      gone = true;
    };
  }, [open, store, turns]);
  const shown = (got?.costs ?? [])
    .map((cost, i) => ({ cost, turn: i + 1 }))
    .slice(-most)
    .reverse();
  const top = Math.max(0, ...shown.map((x) => x.cost));
  return (
    <details class="fold pad" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="two">{t.usage_.perTurn}</span>
        <Icon name="chevron" class="chev" />
      </summary>
      {got && top === 0 && <p class="dim">{t.usage_.noTurns}</p>}
      {top > 0 && (
        <table class="ut">
          <tbody>
            {shown.map((x) => (
              <tr key={x.turn}>
                <th scope="row">{t.usage_.turn(x.turn)}</th>
                <td class="r">
                  {money(x.cost)}
                  <span class="share" aria-hidden="true">
                    <i style={{ width: `${(100 * x.cost) / top}%` }} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {got && (got.cut || got.costs.length > most) && <p class="dim">{t.usage_.cutLog}</p>}
    </details>
  );
}
