// Usage by day, model, project and block of five hours, in the form of the plots and tables.

import type { UsageRow } from "../rpc/service";
import { CallError } from "../rpc/connection";
import { call, sayError } from "./app";

export type Period = "7" | "30" | "all";
export type By = "day" | "model" | "project" | "block";

/** A row of one group. An unknown cost is absent; unpriced means that a part of it is unknown. */
export interface Used {
  group: string;
  cost: number;
  unpriced: boolean;
  in: number;
  out: number;
  write: number;
  read: number;
}

export const blockLength = 5 * 3600_000;

const nothing = (group: string): Used => ({ group, cost: 0, unpriced: false, in: 0, out: 0, write: 0, read: 0 });

/** Adds up rows of the same group: each agent has its own. */
export function merge(rows: readonly UsageRow[]): Used[] {
  const groups = new Map<string, Used>();
  for (const r of rows) {
    const u = groups.get(r.group) ?? nothing(r.group);
    u.cost += r.cost_usd ?? 0;
    u.unpriced ||= r.cost_usd === undefined;
    u.in += r.input_tokens;
    u.out += r.output_tokens;
    u.write += r.cache_creation_input_tokens;
    u.read += r.cache_read_input_tokens;
    groups.set(r.group, u);
  }
  return [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
}

export function totalTokens(u: Used): number {
  return u.in + u.out + u.write + u.read;
}

export function sumOf(rows: readonly Used[]): Used {
  const all = nothing("");
  for (const r of rows) {
    all.cost += r.cost;
    all.unpriced ||= r.unpriced;
    all.in += r.in;
    all.out += r.out;
    all.write += r.write;
    all.read += r.read;
  }
  return all;
}

/** A day as the groups name it, in the time of this machine. */
export function dayName(t: number): string {
  const d = new Date(t);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/** The beginning of the day some days ago. Days are not always 24 hours long. */
export function dayStart(now: number, back: number): number {
  const d = new Date(now);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() - back).getTime();
}

/** Returns a row for every day of a period, also days without usage; at most a year. */
export function everyDay(rows: readonly Used[], now: number, period: Period): Used[] {
  const known = new Map(rows.map((r) => [r.group, r]));
  const first = rows[0]?.group ?? dayName(now);
  const most = period === "all" ? 366 : Number(period);
  const out: Used[] = [];
  for (let back = 0; back < most; back++) {
    const group = dayName(dayStart(now, back));
    if (period === "all" && group < first) break;
    out.unshift(known.get(group) ?? nothing(group));
  }
  return out;
}

/** The current block, and the highest of all. */
export function blocksNow(
  blocks: readonly Used[],
  now: number,
): { current: Used | undefined; highest: Used | undefined } {
  const current = blocks.find((b) => {
    const start = Date.parse(b.group);
    return start <= now && now < start + blockLength;
  });
  const highest = blocks.reduce<Used | undefined>(
    (top, b) => (top === undefined || b.cost > top.cost ? b : top),
    undefined,
  );
  return { current, highest };
}

/** Returns the growth in per cent; undefined if before is 0. */
export function growth(now: number, before: number): number | undefined {
  return before > 0 ? Math.round((100 * (now - before)) / before) : undefined;
}

/** A round number at or above the maximum of a plot. */
export function ceiling(n: number): number {
  if (!(n > 0)) return 1;
  const p = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 2.5, 5, 10].find((k) => k * p >= n) ?? 10) * p;
}

export interface Usage {
  days: Used[];
  before: Used;
  models: Used[];
  projects: Used[];
  blocks: Used[];
}

async function ask(by: By, since?: number, until?: number): Promise<Used[]> {
  const r = await call("usage.summary", {
    group_by: by,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
  });
  return merge(r.rows ?? []);
}

/** Loads the usage of a period. It returns a text with the reason if that fails. */
export async function loadUsage(period: Period, now: number): Promise<Usage | string | undefined> {
  const length = period === "all" ? 0 : Number(period);
  const since = period === "all" ? undefined : dayStart(now, length - 1);
  const earlier = period === "all" ? undefined : dayStart(now, 2 * length - 1);
  try {
    // Sequentially, because each call reads the accounts of all agents.
    const days = await ask("day", since);
    const blocks = await ask("block", dayStart(now, 2));
    const models = await ask("model", since);
    const projects = await ask("project", since);
    const before = earlier === undefined ? [] : await ask("day", earlier, since);
    return { days, models: byCost(models), projects: byCost(projects), blocks, before: sumOf(before) };
  } catch (err) {
    if (err instanceof CallError && err.reason === "unsupported") return undefined;
    return sayError(err);
  }
}

function byCost(rows: Used[]): Used[] {
  return rows.sort((a, b) => b.cost - a.cost || totalTokens(b) - totalTokens(a));
}

/** The days as a file for a spreadsheet. */
export function csvOf(rows: readonly Used[]): string {
  const head = "day,cost_usd,input_tokens,output_tokens,cache_creation_input_tokens,cache_read_input_tokens";
  const lines = rows.map((r) => [r.group, r.unpriced ? "" : r.cost.toFixed(6), r.in, r.out, r.write, r.read].join(","));
  return `${[head, ...lines].join("\n")}\n`;
}
