// Usage: cost and tokens by day, model and project.

import { useEffect, useState } from "preact/hooks";
import { saveText } from "../../state/actions";
import { now, status, w } from "../../state/app";
import { lang } from "../../state/prefs";
import { plain } from "../../state/safe";
import { clockTime, duration, money, shortDate, tokens } from "../../state/time";
import { basename } from "../../state/tools";
import {
  blockLength,
  blocksNow,
  csvOf,
  dayName,
  dayStart,
  everyDay,
  growth,
  loadUsage,
  type Period,
  sumOf,
  totalTokens,
  type Usage,
  type Used,
} from "../../state/usage";
import { Button } from "../button";
import { MenuButton } from "../frame";
import { Seg } from "../segmented";
import { Skeleton } from "../small";
import { narrow, wide } from "../viewport";
import { Budgets, Limits } from "./limits";
import { Bars, Plot, sparse } from "./plot";

const periods = ["7", "30", "all"] as const;
/** Scales in dollars have lines that are a cent apart at least. */
const cents = 0.05;

export function UsagePage() {
  const t = w.value;
  const [period, setPeriod] = useState<Period>("30");
  const [usage, setUsage] = useState<{ of: Period; got: Usage | string | undefined }>();
  const open = status.value === "open";
  useEffect(() => {
    if (!open) return;
    let gone = false;
    const load = () =>
      void loadUsage(period, Date.now()).then((got) => {
        if (!gone) setUsage({ of: period, got });
      });
    load();
    const id = setInterval(() => document.hidden || load(), 60_000);
    return () => {
      gone = true;
      clearInterval(id);
    };
  }, [period, open]);
  const got = usage?.of === period ? usage.got : undefined;
  const loaded = usage?.of === period;
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{t.usage_.title}</h1>
        <span class="sp" />
        <Seg
          label={t.usage_.period}
          value={period}
          options={periods.map((p) => [p, t.usage_.days[p]] as const)}
          set={setPeriod}
        />
        {typeof got === "object" && (
          <Button
            small
            kind="ghost"
            icon="download"
            onClick={() => saveText("usage.csv", "text/csv", csvOf(everyDay(got.days, Date.now(), period)))}
          >
            {t.usage_.csv}
          </Button>
        )}
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.usage_.title}>
        {!loaded ? (
          <Skeleton />
        ) : (
          <div class="usage">
            {typeof got === "object" ? (
              <Figures usage={got} period={period} />
            ) : (
              <p class="notice info">{got === undefined ? t.usage_.noAccounts : plain(got)}</p>
            )}
            {typeof got === "object" && <Plots usage={got} period={period} />}
            <Budgets />
            <Limits />
            <p class="dim">{t.usage_.note}</p>
          </div>
        )}
      </div>
    </main>
  );
}

function cost(u: Used | undefined): string {
  return u === undefined || (u.unpriced && u.cost === 0 && totalTokens(u) > 0) ? "–" : money(u.cost);
}

function Figures({ usage, period }: { usage: Usage; period: Period }) {
  const t = w.value;
  const all = sumOf(usage.days);
  const change = period === "all" ? undefined : growth(all.cost, usage.before.cost);
  const on = (back: number) => usage.days.find((d) => d.group === dayName(dayStart(now.value, back)));
  const { current } = blocksNow(usage.blocks, now.value);
  const end = current ? Date.parse(current.group) + blockLength : 0;
  const read = all.read + all.in + all.write;
  const figures: [string, string, string][] = [
    [
      t.usage_.costOf(t.usage_.days[period]),
      cost(all),
      change === undefined
        ? ""
        : change === 0
          ? t.usage_.likeBefore
          : change > 0
            ? t.usage_.more(change)
            : t.usage_.less(-change),
    ],
    [t.usage_.today, cost(on(0) ?? sumOf([])), dayTokens(on(0))],
    [t.usage_.yesterday, cost(on(1) ?? sumOf([])), dayTokens(on(1))],
    [
      t.usage_.thisBlock,
      current ? cost(current) : "–",
      current ? t.usage_.endsAt(clockTime(end, lang.value), duration(end - now.value, t)) : t.usage_.noBlock,
    ],
    [t.usage_.cache, read > 0 ? `${Math.round((100 * all.read) / read)}%` : "–", t.usage_.cacheNote],
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([name, figure, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="big">{figure}</dd>
            <dd>{note}</dd>
          </div>
        ))}
      </dl>
      {all.unpriced && <p class="notice info">{t.usage_.unpriced}</p>}
    </>
  );
}

function dayTokens(u: Used | undefined): string {
  return w.value.tokens(tokens(u ? totalTokens(u) : 0));
}

function Plots({ usage, period }: { usage: Usage; period: Period }) {
  const t = w.value;
  if (usage.days.length === 0 && usage.blocks.length === 0) return <p class="dim">{t.usage_.none}</p>;
  const every = everyDay(usage.days, now.value, period);
  // A phone has room for few bars.
  const days = every.slice(wide.value ? -62 : -10);
  const names = sparse(
    days.map((d) => shortDate(d.group, lang.value)),
    wide.value ? 7 : 4,
  );
  const shown = [...every].reverse().filter((d) => totalTokens(d) > 0);
  const series = [
    ["read", "p4"],
    ["write", "p3"],
    ["in", "p2"],
    ["out", "p1"],
  ] as const;
  return (
    <>
      <Plot
        class="w7"
        title={t.usage_.costByDay}
        head={[t.usage_.day, t.cost]}
        rows={shown.map((d) => [d.group, cost(d)])}
      >
        <Bars
          name={t.usage_.costByDay}
          width={plotWidth(600)}
          format={money}
          least={cents}
          bars={days.map((d, i) => ({
            key: d.group,
            label: names[i] ?? "",
            title: `${d.group} · ${cost(d)}`,
            parts: [{ value: d.cost, class: "p2" }],
          }))}
        />
      </Plot>
      <Plot
        class="w5"
        title={t.usage_.tokensByDay}
        legend={series.map(([k, c]) => (
          <span key={k}>
            <i class={c} />
            {t.usage_.series[k]}
          </span>
        ))}
        head={[t.usage_.day, ...series.map(([k]) => t.usage_.series[k])]}
        rows={shown.map((d) => [d.group, ...series.map(([k]) => tokens(d[k]))])}
      >
        <Bars
          name={t.usage_.tokensByDay}
          width={plotWidth(420)}
          format={tokens}
          bars={days.slice(-14).map((d, i, all) => ({
            key: d.group,
            label:
              sparse(
                all.map((x) => shortDate(x.group, lang.value)),
                4,
              )[i] ?? "",
            title: `${d.group} · ${series.map(([k]) => `${t.usage_.series[k]} ${tokens(d[k])}`).join(", ")}`,
            parts: series.map(([k, c]) => ({ value: d[k], class: c })),
          }))}
        />
      </Plot>
      <Blocks blocks={usage.blocks} />
      <Shares class="w6" title={t.usage_.byModel} first={t.usage_.model} rows={usage.models} name={(g) => g} />
      <Shares class="w6" title={t.usage_.byProject} first={t.project} rows={usage.projects} name={basename} />
    </>
  );
}

/**
 * Returns the width of a plot in its own units, equal to its width on the screen, so that letters keep
 * their size.
 */
function plotWidth(beside: number): number {
  if (!narrow.value) return beside;
  return Math.max(300, Math.min(1040, document.documentElement.clientWidth - (wide.value ? 160 : 72)));
}

function Blocks({ blocks }: { blocks: readonly Used[] }) {
  const t = w.value;
  if (blocks.length === 0) return null;
  const shown = blocks.slice(wide.value ? -12 : -6);
  const { current, highest } = blocksNow(shown, now.value);
  const begins = (b: Used) => Date.parse(b.group);
  const label = (b: Used, before: Used | undefined) => {
    const at = clockTime(begins(b), lang.value);
    const same = before && dayName(begins(b)) === dayName(begins(before));
    return same ? at : `${new Date(begins(b)).toLocaleDateString(lang.value, { weekday: "short" })} ${at}`;
  };
  return (
    <Plot
      title={t.usage_.blocks}
      legend={
        <>
          {current && (
            <span>
              <i class="p1" />
              {t.usage_.nowBlock}
            </span>
          )}
          {highest && highest.cost > 0 && (
            <span class="warnc">
              {t.usage_.highest(money(highest.cost), shortDate(dayName(begins(highest)), lang.value))}
            </span>
          )}
        </>
      }
      head={[t.usage_.begins, t.cost, t.tokens("")]}
      rows={[...shown].reverse().map((b) => [label(b, undefined), cost(b), tokens(totalTokens(b))])}
    >
      <Bars
        name={t.usage_.blocks}
        width={plotWidth(1040)}
        format={money}
        least={cents}
        mark={highest?.cost}
        bars={shown.map((b, i) => ({
          key: b.group,
          label: label(b, shown[i - 1]),
          title: `${label(b, undefined)} · ${cost(b)}`,
          parts: [{ value: b.cost, class: b === current ? "p1" : "p3" }],
        }))}
      />
    </Plot>
  );
}

interface SharesProps {
  class: string;
  title: string;
  first: string;
  rows: readonly Used[];
  name: (group: string) => string;
}

/** A table with the share of each row as a bar. */
function Shares({ class: extra, title, first, rows, name }: SharesProps) {
  const t = w.value;
  const top = Math.max(...rows.map((r) => r.cost), 0);
  if (rows.length === 0) return null;
  return (
    <section class={`plot ${extra}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <div class="tablewrap" tabIndex={0} role="group" aria-label={title}>
        <table class="ut">
          <thead>
            <tr>
              <th scope="col">{first}</th>
              <th scope="col" class="r p-hide">
                {t.usage_.series.in}
              </th>
              <th scope="col" class="r p-hide">
                {t.usage_.cached}
              </th>
              <th scope="col" class="r p-hide">
                {t.usage_.series.out}
              </th>
              <th scope="col" class="r">
                {t.cost}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 50).map((r) => {
              const read = r.in + r.write + r.read;
              return (
                <tr key={r.group}>
                  <th scope="row" title={plain(r.group)}>
                    {plain(name(r.group) || r.group || t.unknown)}
                  </th>
                  <td class="r p-hide">{tokens(read)}</td>
                  <td class="r p-hide">{read > 0 ? `${Math.round((100 * r.read) / read)}%` : "–"}</td>
                  <td class="r p-hide">{tokens(r.out)}</td>
                  <td class="r">
                    {cost(r)}
                    <span class="share p-hide" aria-hidden="true">
                      <i style={{ width: `${top > 0 ? (100 * r.cost) / top : 0}%` }} />
                    </span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
