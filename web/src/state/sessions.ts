// The sessions of the server and those on disk.

import { computed, signal } from "@preact/signals";
import type { HistoryInfo, SessionSummary } from "../rpc/service";
import { call } from "./app";
import { seen } from "./prefs";

/** What a person wrote first in sessions of this page, until the server gives them a title. */
export const firstWords = signal<ReadonlyMap<string, string>>(new Map());

export type Dot = "run" | "ask" | "idle" | "bad" | "end";

/** A session of either kind, as lists show it. */
export interface Entry {
  id: string;
  live: boolean;
  title: string;
  dot: Dot;
  state: string;
  project: string;
  cwd: string;
  branch: string;
  updated: string;
  prompts: number;
  queued: number;
  viewers: number;
  tag: string;
  archived: boolean;
  unread: boolean;
  turns: number;
  /** Undefined where the agent does not report it. */
  cost?: number;
  /** It is open in a terminal now. */
  terminal: boolean;
}

export const live = signal<readonly SessionSummary[]>([]);
export const past = signal<readonly HistoryInfo[]>([]);
export const pastCursor = signal<string | undefined>(undefined);
export const loaded = signal(false);

export function dotOf(state: string, prompts: number): Dot {
  if (prompts > 0 || state === "requires_action") return "ask";
  switch (state) {
    case "starting":
    case "running":
    case "draining":
      return "run";
    case "failed":
    case "lost_host":
      return "bad";
    case "idle":
    case "interrupted":
      return "idle";
    default:
      return "end";
  }
}

function baseName(path: string): string {
  return path.replace(/\/+$/, "").split("/").pop() ?? "";
}

export function entryOfLive(s: SessionSummary, read: ReadonlyMap<string, number>): Entry {
  const at = read.get(s.session_id);
  return {
    id: s.session_id,
    live: true,
    title: s.title || (firstWords.value.get(s.session_id) ?? ""),
    dot: dotOf(s.state, s.prompts),
    state: s.state,
    project: baseName(s.repo || (s.cwd ?? "")),
    cwd: s.repo || (s.cwd ?? ""),
    branch: s.branch ?? "",
    updated: s.updated_at ?? "",
    prompts: s.prompts,
    queued: s.queued,
    viewers: s.viewers,
    tag: "",
    archived: s.archived === true,
    unread: at !== undefined && s.seq > at,
    turns: s.turns ?? 0,
    ...(s.cost_usd === undefined ? {} : { cost: s.cost_usd }),
    terminal: s.live === "terminal",
  };
}

export function entryOfPast(h: HistoryInfo): Entry {
  return {
    id: h.session_id,
    live: false,
    title: h.custom_title || h.summary || h.first_prompt || "",
    dot: "end",
    state: "ended",
    project: baseName(h.cwd ?? ""),
    cwd: h.cwd ?? "",
    branch: h.git_branch ?? "",
    updated: h.last_modified ?? "",
    prompts: 0,
    queued: 0,
    viewers: 0,
    tag: h.tag ?? "",
    archived: h.archived === true,
    unread: false,
    turns: 0,
    terminal: h.live === "terminal",
  };
}

function order(a: Entry, b: Entry): number {
  const rank = (e: Entry) => (e.dot === "ask" ? 0 : 1);
  return rank(a) - rank(b) || (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0);
}

/** The sessions of the server, those that wait for a person first. */
export const liveEntries = computed<Entry[]>(() => live.value.map((s) => entryOfLive(s, seen.value)).sort(order));
/** The sessions on disk that the server does not run, newest first. */
export const pastEntries = computed<Entry[]>(() => {
  const held = new Set(live.value.map((s) => s.agent_session_id));
  return past.value
    .filter((h) => !held.has(h.session_id))
    .map(entryOfPast)
    .sort(order);
});

export async function refreshSessions(): Promise<void> {
  const r = await call("session.list", {});
  live.value = r.sessions ?? [];
  loaded.value = true;
}

/** The first page of the sessions on disk. */
export async function refreshPast(): Promise<void> {
  const r = await call("history.list", { limit: 60 });
  past.value = r.sessions ?? [];
  pastCursor.value = r.cursor || undefined;
}

/** The sessions of the server that were put away. */
const archived = signal<readonly SessionSummary[]>([]);
export const archivedEntries = computed<Entry[]>(() =>
  archived.value
    .filter((s) => !live.value.some((x) => x.session_id === s.session_id))
    .map((s) => entryOfLive(s, seen.value)),
);
export async function refreshArchived(): Promise<void> {
  archived.value = (await call("session.list", { archived: true })).sessions ?? [];
}

/** How many pages are read without being asked for, so that the count is true. */
const mostPages = 40;

/** All sessions on disk, page after page. */
export async function allPast(): Promise<void> {
  await refreshPast();
  for (let i = 0; i < mostPages && pastCursor.peek() !== undefined; i++) await morePast();
}

/** The next page of the sessions on disk. */
export async function morePast(): Promise<void> {
  const cursor = pastCursor.peek();
  if (cursor === undefined) return;
  const r = await call("history.list", { limit: 60, cursor });
  const known = new Set(past.peek().map((h) => h.session_id));
  past.value = [...past.peek(), ...(r.sessions ?? []).filter((h) => !known.has(h.session_id))];
  pastCursor.value = r.cursor || undefined;
}
