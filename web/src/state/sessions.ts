// The sessions of the server and those on disk.

import { computed, signal } from "@preact/signals";
import type { HistoryInfo, SessionSummary } from "../rpc/service";
import { call, refreshers } from "./app";
import { seen } from "./prefs";
import { formatRoute } from "./route";

/**
 * The first messages of sessions that were started on this page, shown until the server gives them
 * a title.
 */
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
  /** Undefined if the agent does not report it. */
  cost?: number;
  /** The session that it continues. */
  parent?: string;
  agent: string;
  model: string;
  /** The machine that it runs on; empty is that of the server. */
  machine: string;
  /** It is open in a terminal now. */
  terminal: boolean;
}

export const live = signal<readonly SessionSummary[]>([]);
export const past = signal<readonly HistoryInfo[]>([]);
/** The tags of sessions on disk. */
const tags = computed(() => new Map(past.value.map((h) => [h.session_id, h.tag ?? ""])));
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
    tag: tags.value.get(s.agent_session_id ?? "") ?? "",
    archived: s.archived === true,
    unread: at !== undefined && s.seq > at,
    turns: s.turns ?? 0,
    ...(s.cost_usd === undefined ? {} : { cost: s.cost_usd }),
    ...(parentOf(s) === undefined ? {} : { parent: parentOf(s) as string }),
    agent: s.provider ?? "",
    model: s.model ?? "",
    machine: s.machine ?? "",
    terminal: s.live === "terminal",
  };
}

/** The session that another one continues: as a fork, or with another version of a prompt. */
function parentOf(s: SessionSummary): string | undefined {
  return s.metadata?.["fork_of"] || s.metadata?.["version_of"] || undefined;
}

/** The id of a session on disk. */
export function diskId(id: string): string {
  return live.peek().find((s) => s.session_id === id)?.agent_session_id || id;
}

/** Returns the directory of a session, even if its conversation is not loaded. */
export function directoryOf(id: string): string {
  return live.value.find((s) => s.session_id === id)?.cwd ?? "";
}

/** The worktrees of the server by their directory. They have the name of their branch, and belong to the project of their repository. */
export const trees = signal<ReadonlyMap<string, { repo: string; branch: string }>>(new Map());

export async function refreshTrees(): Promise<void> {
  const r = await call("workspace.list", {});
  trees.value = new Map((r.workspaces ?? []).map((t) => [t.path, { repo: t.repo ?? "", branch: t.branch ?? "" }]));
}

export function entryOfPast(h: HistoryInfo): Entry {
  const tree = trees.value.get(h.cwd ?? "");
  return {
    id: h.session_id,
    live: false,
    title: h.custom_title || h.summary || h.first_prompt || "",
    dot: "end",
    state: "ended",
    project: baseName(tree?.repo || (h.cwd ?? "")),
    cwd: tree?.repo || (h.cwd ?? ""),
    branch: tree?.branch || (h.git_branch ?? ""),
    updated: h.last_modified ?? "",
    prompts: 0,
    queued: 0,
    viewers: 0,
    tag: h.tag ?? "",
    archived: h.archived === true,
    unread: false,
    turns: 0,
    agent: h.provider ?? "",
    model: "",
    machine: "",
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

/**
 * Entries with their continuations right below them, and their depth. An entry without its parent is at the top level.
 */
export function asTree(all: readonly Entry[]): { e: Entry; depth: number }[] {
  const ids = new Set(all.map((e) => e.id));
  const below = new Map<string, Entry[]>();
  for (const e of all)
    if (e.parent !== undefined && e.parent !== e.id && ids.has(e.parent))
      below.set(e.parent, [...(below.get(e.parent) ?? []), e]);
  const children = new Set([...below.values()].flat().map((e) => e.id));
  const out: { e: Entry; depth: number }[] = [];
  const done = new Set<string>();
  const add = (e: Entry, depth: number) => {
    if (done.has(e.id)) return;
    done.add(e.id);
    out.push({ e, depth });
    for (const c of below.get(e.id) ?? []) add(c, depth + 1);
  };
  for (const e of all) if (!children.has(e.id)) add(e, 0);
  for (const e of all) add(e, 0); // a cycle, which no server creates
  return out;
}

/** The archived sessions of the server. */
const archived = signal<readonly SessionSummary[]>([]);
export const archivedEntries = computed<Entry[]>(() =>
  archived.value
    .filter((s) => !live.value.some((x) => x.session_id === s.session_id))
    .map((s) => entryOfLive(s, seen.value)),
);
export async function refreshArchived(): Promise<void> {
  archived.value = (await call("session.list", { archived: true })).sessions ?? [];
}

/** How many pages are loaded in advance, so that the count is correct. */
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

/** The address of a session. */
export function entryHref(e: Entry): string {
  return formatRoute(e.live ? { page: "session", ids: [e.id] } : { page: "history", id: e.id });
}

refreshers.push(refreshSessions);
