// Budgets with the remaining amount, and rate limits with the time of their reset.

import { useEffect, useState } from "preact/hooks";
import type { FoldedConversation } from "../../fold/conversation";
import { get, isObj, num, str } from "../../fold/json";
import type { Budget } from "../../rpc/service";
import { call, now, status, w } from "../../state/app";
import { lang } from "../../state/prefs";
import { formatRoute } from "../../state/route";
import { plain } from "../../state/safe";
import { live } from "../../state/sessions";
import { clockTime, dateTime, duration, money, tokens } from "../../state/time";
import { Icon } from "../icon";

/** The budgets of the server, or those that apply to a session; reloaded periodically. */
export function useBudgets(session?: string, version = 0): readonly Budget[] | undefined {
  const [all, setAll] = useState<readonly Budget[]>();
  const open = status.value === "open";
  useEffect(() => {
    if (!open) return;
    let gone = false;
    const load = () =>
      void call("budget.list", session ? { session_id: session } : {})
        .then((r) => !gone && setAll(r.budgets ?? []))
        .catch(() => {});
    load();
    const id = setInterval(load, 15_000);
    return () => {
      gone = true;
      clearInterval(id);
    };
  }, [session, open, version]);
  return all;
}

export function Budgets() {
  const t = w.value;
  const all = useBudgets();
  return (
    <section class="plot w6" aria-label={t.usage_.budgets}>
      <header>
        <h2>{t.usage_.budgets}</h2>
      </header>
      {all?.length === 0 && <p class="dim">{t.usage_.noBudgets}</p>}
      {all?.map((b, i) => (
        <BudgetRow key={b.id ?? i} b={b} />
      ))}
    </section>
  );
}

export function BudgetRow({ b }: { b: Budget }) {
  const t = w.value;
  const scope = t.usage_.scopes[b.scope] ?? plain(b.scope);
  const who = b.target ? `${scope} ${plain(b.target)}` : b.scope === "server" ? scope : t.usage_.forEach(scope);
  const shares: number[] = [];
  const parts: string[] = [];
  if (b.limit_usd !== undefined) {
    shares.push(b.limit_usd > 0 ? (b.spent_usd ?? 0) / b.limit_usd : 1);
    parts.push(t.usage_.of(b.spent_usd === undefined ? "–" : money(b.spent_usd), money(b.limit_usd)));
  }
  if (b.limit_tokens !== undefined) {
    shares.push(b.limit_tokens > 0 ? (b.spent_tokens ?? 0) / b.limit_tokens : 1);
    parts.push(t.tokens(t.usage_.of(tokens(b.spent_tokens ?? 0), tokens(b.limit_tokens))));
  }
  const share = Math.min(1, Math.max(0, ...shares));
  const level = b.level ?? "ok";
  return (
    <div class="budget">
      <div class="l">
        <span>
          {who} {b.period ? <span class="dim">{t.usage_.periods[b.period] ?? plain(b.period)}</span> : null}
        </span>
        <span class="num">{parts.join(" · ")}</span>
      </div>
      <span class={`share wide ${level}`} aria-hidden="true">
        <i style={{ width: `${100 * share}%` }} />
      </span>
      <div class="n">
        {level !== "ok" && <Icon name="alert" />} {t.usage_.levels[level] ?? plain(level)}
        {" · "}
        {t.usage_.actions[b.action || "interrupt"] ?? plain(b.action ?? "")}
        {b.resets_at && ` · ${t.usage_.resets(dateTime(b.resets_at, lang.value))}`}
      </div>
    </div>
  );
}

/** Returns the time of a reset and the time left until then. */
function until(at: number): [string, string] {
  return [dateTime(new Date(at).toISOString(), lang.value), duration(Math.max(0, at - now.value), w.value)];
}

export function Limits() {
  const t = w.value;
  const limited = live.value.filter((s) => Date.parse(s.limited_until ?? "") > now.value);
  return (
    <section class="plot w6" aria-label={t.usage_.limits}>
      <header>
        <h2>{t.usage_.limits}</h2>
      </header>
      {limited.length === 0 && <p class="dim">{t.usage_.noLimits}</p>}
      {limited.map((s) => (
        <div class="budget" key={s.session_id}>
          <div class="l">
            <a href={formatRoute({ page: "session", ids: [s.session_id] })} class="cut">
              {plain(s.title || t.untitled)}
            </a>
          </div>
          <div class="n">
            <Icon name="clock" /> {t.usage_.limited(...until(Date.parse(s.limited_until ?? "")))}
          </div>
        </div>
      ))}
    </section>
  );
}

/** The agent's rate limit: its window, how full it is, and when it resets. */
export function SessionLimit({ c, limitedUntil }: { c: FoldedConversation; limitedUntil: string | undefined }) {
  const t = w.value;
  const said = c.rateLimit?.rate_limit_info;
  const info = isObj(said) ? said : undefined;
  const resets = Date.parse(limitedUntil ?? "") || num(get(info, "resetsAt")) * 1000;
  if (info === undefined && !limitedUntil) return null;
  const window = t.usage_.window[str(get(info, "rateLimitType"))] ?? t.usage_.limits;
  const state = limitedUntil ? "rejected" : str(get(info, "status"));
  const used = num(get(info, "utilization"));
  return (
    <div class="budget">
      <div class="l">
        <span>{window}</span>
        <span class="num">{used > 0 ? `${Math.round(used <= 1 ? used * 100 : used)}%` : ""}</span>
      </div>
      <div class="n">
        {state !== "allowed" && state !== "" && <Icon name="clock" />} {t.usage_.limitStates[state] ?? plain(state)}
        {resets > now.value &&
          ` · ${t.usage_.resetsAt(clockTime(resets, lang.value), duration(resets - now.value, t))}`}
      </div>
    </div>
  );
}
