// The log of a session as the server stores it: every message unchanged, including unknown ones.

import { get, isObj, num, str } from "../fold/json";
import type { Envelope } from "../rpc/connection";
import type { SessionStore } from "./session";

/** How much of a log is read at once. */
export const mostEvents = 20_000;
/** How many of its events are drawn at once. */
export const mostShown = 200;

export interface LogPart {
  events: Envelope[];
  /** Whether there are more than were read or kept. */
  cut: boolean;
}

/**
 * Reads the log of a session from its beginning to the page's position, in pieces, and keeps the
 * messages that the caller selects.
 */
export async function readLog(
  store: SessionStore,
  want: (e: Envelope, text: string) => boolean,
  fetcher: (path: string) => Promise<unknown> = getJSON,
): Promise<LogPart> {
  const end = store.cursor;
  const out: LogPart = { events: [], cut: false };
  if (end === undefined) return out;
  let at = { epoch: end.epoch, seq: 0 };
  let read = 0;
  while (at.seq < end.seq) {
    const after = encodeURIComponent(`${at.epoch}:${at.seq}.0`);
    const r = await fetcher(`v1/sessions/${encodeURIComponent(store.id)}/events?wait=5&after=${after}`);
    const events = get(r, "events");
    const next = num(get(get(r, "cursor"), "seq"));
    if (!Array.isArray(events) || get(r, "resync") === true || next <= at.seq) break;
    for (const e of events) {
      if (!isEnvelope(e) || e.seq > end.seq) continue;
      read++;
      if (want(e, JSON.stringify(e.msg))) out.events.push(e);
    }
    if (read >= mostEvents) {
      out.cut = true;
      break;
    }
    at = { epoch: str(get(get(r, "cursor"), "epoch")), seq: next };
  }
  return out;
}

function isEnvelope(e: unknown): e is Envelope {
  return isObj(e) && typeof e["seq"] === "number" && e["msg"] !== undefined && num(e["sub"]) === 0;
}

async function getJSON(path: string): Promise<unknown> {
  const r = await fetch(new URL(path, document.baseURI), { credentials: "same-origin" });
  if (!r.ok) throw new Error(`${r.status} ${r.statusText}`);
  return r.json();
}

/** The events from the first to the last that name one of these ids: unknown ones between them too. */
export async function eventsOf(store: SessionStore, ids: readonly string[]): Promise<LogPart> {
  const quoted = ids.filter((id) => id !== "").map((id) => JSON.stringify(id));
  const all: { e: Envelope; named: boolean }[] = [];
  const part = await readLog(store, (e, text) => {
    const named = quoted.some((q) => text.includes(q));
    if (named || all.length > 0) all.push({ e, named });
    return false;
  });
  let last = all.length - 1;
  while (last >= 0 && !all[last]?.named) last--;
  const events = all.slice(0, last + 1).map((x) => x.e);
  return { events, cut: part.cut };
}

/** The events of a session. */
export function allEvents(store: SessionStore): Promise<LogPart> {
  return readLog(store, () => true);
}

/** Returns the cost of each turn: the totals in its result less those of the turn before. */
export async function turnCosts(store: SessionStore): Promise<{ costs: number[]; cut: boolean }> {
  const part = await readLog(store, (e) => get(e.msg, "type") === "result");
  return { costs: costsOf(part.events.map((e) => e.msg)), cut: part.cut };
}

export function costsOf(results: readonly unknown[]): number[] {
  let before = 0;
  return results.map((r) => {
    const total = get(r, "total_cost_usd");
    if (typeof total !== "number") return 0;
    // A restarted agent counts from zero again.
    const cost = total >= before ? total - before : total;
    before = total;
    return cost;
  });
}
