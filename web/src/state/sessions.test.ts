import { expect, test } from "vitest";
import { asTree, type Entry, entryOfLive, entryOfPast, trees } from "./sessions";

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
