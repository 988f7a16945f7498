import { expect, test, vi } from "vitest";
import type { HistoryInfo, SessionSummary } from "../rpc/service";
import type { Entry } from "./sessions";

const call = vi.fn();
const refreshers: unknown[] = [];
vi.mock("./app", () => ({ refreshers, call: (...args: unknown[]) => call(...args) }));

const {
  allPast, archivedEntries, asTree, diskId, dotOf, entryHref, entryOfLive, entryOfPast, firstWords, live, liveEntries, loaded, morePast, past,
  pastCursor, pastEntries, refreshArchived, refreshPast, refreshSessions, refreshTrees, trees,
} = await import("./sessions");

test("a session that is open in a terminal is marked", () => {
  const past = { session_id: "s", live: "terminal" } as Parameters<typeof entryOfPast>[0];
  expect(entryOfPast(past).terminal).toBe(true);
  expect(entryOfPast({ ...past, live: "" }).terminal).toBe(false);
  const held = { session_id: "s", state: "idle", prompts: 0, queued: 0, viewers: 0, seq: 1 } as Parameters<
    typeof entryOfLive
  >[0];
  expect(entryOfLive({ ...held, live: "terminal" }, new Map()).terminal).toBe(true);
  expect(entryOfLive(held, new Map()).terminal).toBe(false);
});

test("forks are below the session that they go on from", () => {
  const e = (id: string, parent?: string) => ({ id, ...(parent ? { parent } : {}) }) as Entry;
  const shape = (all: Entry[]) => asTree(all).map((x) => `${"-".repeat(x.depth)}${x.e.id}`);
  expect(shape([e("c", "b"), e("x"), e("a"), e("b", "a"), e("d", "a")])).toEqual(["x", "a", "-b", "--c", "-d"]);
  expect(shape([e("b", "gone"), e("a", "a")])).toEqual(["b", "a"]);
  expect(shape([e("a", "b"), e("b", "a")])).toEqual(["a", "-b"]);
});

test("a worktree has the name of its repository and branch", () => {
  const past = { session_id: "s", cwd: "/data/trees/w-1f2e3d", git_branch: "" } as Parameters<typeof entryOfPast>[0];
  expect(entryOfPast(past).project).toBe("w-1f2e3d");
  trees.value = new Map([["/data/trees/w-1f2e3d", { repo: "/src/harbour", branch: "wt/tides" }]]);
  expect([entryOfPast(past).project, entryOfPast(past).branch]).toEqual(["harbour", "wt/tides"]);
  trees.value = new Map();
});

/** A session of the server with a distinct value in every field. */
const summary = {
  session_id: "s", state: "running", seq: 9, prompts: 2, queued: 3, viewers: 4, title: "Title", repo: "/src/harbour/", cwd: "/src/tree",
  branch: "wt/x", updated_at: "2026-01-02", agent_session_id: "disk", archived: true, turns: 5, cost_usd: 0, provider: "claude", model: "opus",
  metadata: { fork_of: "parent", version_of: "other" }, live: "terminal", machine: "crane",
} as unknown as SessionSummary;

test("every field of a session is in its place", () => {
  past.value = [{ session_id: "disk", tag: "mine" }, { session_id: "z" }] as HistoryInfo[];
  expect(entryOfLive(summary, new Map([["s", 8]]))).toEqual({
    id: "s", live: true, title: "Title", dot: "ask", state: "running", project: "harbour", cwd: "/src/harbour/", branch: "wt/x", updated: "2026-01-02",
    prompts: 2, queued: 3, viewers: 4, tag: "mine", archived: true, unread: true, turns: 5, cost: 0, parent: "parent", agent: "claude", model: "opus", machine: "crane", terminal: true,
  });
  const bare = { session_id: "t", state: "idle", seq: 1, prompts: 0, queued: 0, viewers: 0 } as SessionSummary;
  const empty = { tag: "", archived: false, unread: false, turns: 0, agent: "", model: "", machine: "", terminal: false };
  expect(entryOfLive(bare, new Map())).toEqual({
    id: "t", live: true, title: "", dot: "idle", state: "idle", project: "", cwd: "", branch: "", updated: "", prompts: 0, queued: 0, viewers: 0, ...empty,
  });
  firstWords.value = new Map([["t", "Fix it"]]);
  expect(entryOfLive(bare, new Map()).title).toBe("Fix it");
  expect(entryOfLive({ ...bare, cwd: "/a/b" }, new Map())).toMatchObject({ project: "b", cwd: "/a/b" });
  expect(entryOfLive({ ...bare, metadata: { version_of: "v" } }, new Map()).parent).toBe("v");
  expect([8, 9, 10].map((at) => entryOfLive(summary, new Map([["s", at]])).unread)).toEqual([true, false, false]);
  trees.value = new Map([["/tree", { repo: "", branch: "" }]]);
  const onDisk = {
    session_id: "d", custom_title: "C", summary: "S", first_prompt: "P", cwd: "/tree", git_branch: "main", last_modified: "2026-03-04", tag: "T", archived: true, provider: "codex",
  } as HistoryInfo;
  expect(entryOfPast(onDisk)).toEqual({
    id: "d", live: false, title: "C", dot: "end", state: "ended", project: "tree", cwd: "/tree", branch: "main", updated: "2026-03-04",
    prompts: 0, queued: 0, viewers: 0, tag: "T", archived: true, unread: false, turns: 0, agent: "codex", model: "", machine: "", terminal: false,
  });
  expect(entryOfPast({ ...onDisk, custom_title: "" }).title).toBe("S");
  expect(entryOfPast({ ...onDisk, custom_title: "", summary: "" }).title).toBe("P");
  expect(entryOfPast({ session_id: "d" } as HistoryInfo)).toEqual({
    id: "d", live: false, title: "", dot: "end", state: "ended", project: "", cwd: "", branch: "", updated: "", prompts: 0, queued: 0, viewers: 0, ...empty,
  });
  trees.value = new Map();
});

test("a dot tells what a session does, and first that it waits", () => {
  const dots = Object.fromEntries(
    ["starting", "running", "draining", "failed", "lost_host", "idle", "interrupted", "requires_action", "ended", "newer"].map((s) => [s, dotOf(s, 0)]),
  );
  expect(dots).toEqual({
    starting: "run", running: "run", draining: "run", failed: "bad", lost_host: "bad", idle: "idle", interrupted: "idle", requires_action: "ask", ended: "end", newer: "end",
  });
  for (const state of Object.keys(dots)) expect(dotOf(state, 1)).toBe("ask");
});

test("sessions that wait come first, then the newest; what the server runs is not on disk too", () => {
  const s = (session_id: string, updated_at: string, prompts = 0) => ({ session_id, updated_at, prompts, state: "idle", agent_session_id: `disk-${session_id}` }) as unknown as SessionSummary;
  live.value = [s("old", "2026-01-01"), s("new", "2026-01-03"), s("asks", "2026-01-02", 1), s("same", "2026-01-03")];
  expect(liveEntries.value.map((e) => e.id)).toEqual(["asks", "new", "same", "old"]);
  past.value = [{ session_id: "disk-old", last_modified: "9" }, { session_id: "a", last_modified: "1" }, { session_id: "b", last_modified: "2" }] as HistoryInfo[];
  expect(pastEntries.value.map((e) => e.id)).toEqual(["b", "a"]);
  expect([diskId("old"), diskId("a")]).toEqual(["disk-old", "a"]);
  live.value = [{ ...s("x", ""), agent_session_id: "" }];
  expect(diskId("x")).toBe("x");
  expect(entryHref(liveEntries.value[0] as Entry)).toBe("#/s/x");
  expect(entryHref({ id: "a b", live: false } as Entry)).toBe("#/h/a%20b");
});

test("the lists are those of the server", async () => {
  call.mockResolvedValueOnce({ sessions: [summary] });
  expect([loaded.value, refreshers.includes(refreshSessions)]).toEqual([false, true]);
  await refreshSessions();
  expect([call.mock.calls.at(-1), live.value, loaded.value]).toEqual([["session.list", {}], [summary], true]);
  call.mockResolvedValueOnce({ sessions: [summary, { ...summary, session_id: "away" }] });
  await refreshArchived();
  expect([call.mock.calls.at(-1), archivedEntries.value.map((e) => e.id)]).toEqual([["session.list", { archived: true }], ["away"]]);
  call.mockResolvedValueOnce({ workspaces: [{ path: "/t", repo: "/r", branch: "b" }, { path: "/u" }] });
  await refreshTrees();
  expect([call.mock.calls.at(-1), [...trees.value]]).toEqual([["workspace.list", {}], [["/t", { repo: "/r", branch: "b" }], ["/u", { repo: "", branch: "" }]]]);
  for (const refresh of [refreshSessions, refreshArchived, refreshTrees]) {
    call.mockResolvedValueOnce({});
    await refresh();
  }
  expect([live.value, archivedEntries.value, trees.value.size]).toEqual([[], [], 0]);
});

test("sessions on disk come page by page, each once, and at most forty pages without being asked for", async () => {
  call.mockReset().mockResolvedValueOnce({ sessions: [{ session_id: "a" }], cursor: "c1" });
  await refreshPast();
  call.mockResolvedValueOnce({ sessions: [{ session_id: "a" }, { session_id: "b" }], cursor: "" });
  await morePast();
  await morePast();
  expect(call.mock.calls).toEqual([["history.list", { limit: 60 }], ["history.list", { limit: 60, cursor: "c1" }]]);
  expect([past.value.map((h) => h.session_id), pastCursor.value]).toEqual([["a", "b"], undefined]);
  call.mockReset().mockResolvedValue({ cursor: "more" });
  await allPast();
  expect([call.mock.calls.length, past.value, pastCursor.value]).toEqual([41, [], "more"]);
  call.mockReset().mockResolvedValueOnce({ cursor: "more" }).mockResolvedValueOnce({ sessions: [{ session_id: "z" }] });
  await allPast();
  expect([call.mock.calls.length, past.value.length, pastCursor.value]).toEqual([2, 1, undefined]);
});
