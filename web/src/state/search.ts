// Search in the messages of the server's sessions, also running ones, and of those that agents keep on disk.

import type { HistoryInfo } from "../rpc/service";
import { call } from "./app";
import { live, past } from "./sessions";

/** Where a text was found in a session, named as lists name it: a session of the server by its own id, another by its agent's. */
export interface Found {
  session: string;
  live: boolean;
  message: string;
  excerpt: string;
  matches: number;
}

export interface Results {
  query: string;
  found: ReadonlyMap<string, Found>;
  /** Whether more results may follow. */
  reading: boolean;
}

export const nothing: Results = { query: "", found: new Map(), reading: false };

/** How many pages of matches on disk are read, and how many of their sessions are requested. */
const mostPages = 10;
const mostAsked = 40;

/** Searches everywhere and reports the results so far, until it is done or wanted returns false. */
export async function searchAll(query: string, wanted: () => boolean, tell: (r: Results) => void): Promise<void> {
  const found = new Map<string, Found>();
  const show = (reading: boolean) => wanted() && tell({ query, found: new Map(found), reading });
  await Promise.all([ofServer(query, wanted, found, show), onDisk(query, wanted, found, show)]);
  await know(found, wanted);
  show(false);
}

async function ofServer(query: string, wanted: () => boolean, found: Map<string, Found>, show: (b: boolean) => void) {
  let cursor = "";
  do {
    const r = await call("session.search", { query, ...(cursor ? { cursor } : {}) }).catch(() => undefined);
    for (const h of r?.hits ?? [])
      found.set(h.session_id, {
        session: h.session_id,
        live: true,
        message: h.message ?? "",
        excerpt: h.excerpt,
        matches: h.matches,
      });
    cursor = r?.cursor ?? "";
    show(true);
  } while (cursor !== "" && wanted());
}

async function onDisk(query: string, wanted: () => boolean, found: Map<string, Found>, show: (b: boolean) => void) {
  let cursor = "";
  for (let i = 0; i < mostPages && wanted(); i++) {
    const r = await call("history.search", { query, limit: 200, ...(cursor ? { cursor } : {}) }).catch(() => undefined);
    for (const h of r?.hits ?? []) {
      // Sessions of the server are found in its log.
      if (live.peek().some((s) => s.agent_session_id === h.session)) continue;
      const was = found.get(h.session);
      found.set(h.session, {
        session: h.session,
        live: false,
        message: was?.message ?? h.uuid,
        excerpt: was?.excerpt ?? h.excerpt,
        matches: (was?.matches ?? 0) + 1,
      });
    }
    cursor = r?.cursor ?? "";
    show(true);
    if (cursor === "") return;
  }
}

/** Requests the names of sessions on disk that are not in a list. */
async function know(found: ReadonlyMap<string, Found>, wanted: () => boolean): Promise<void> {
  const known = new Set(past.peek().map((h) => h.session_id));
  const missing = [...found.values()].filter((f) => !f.live && !known.has(f.session)).slice(0, mostAsked);
  const got: HistoryInfo[] = [];
  for (const f of missing) {
    if (!wanted()) return;
    const r = await call("history.metadata", { session: f.session }).catch(() => undefined);
    if (r) got.push(r.info);
  }
  const now = new Set(past.peek().map((h) => h.session_id));
  if (got.length > 0) past.value = [...past.peek(), ...got.filter((h) => !now.has(h.session_id))];
}

/** How many messages have the text, in how many sessions. */
export function countOf(r: Results): { matches: number; sessions: number } {
  let matches = 0;
  for (const f of r.found.values()) matches += f.matches;
  return { matches, sessions: r.found.size };
}
