import { expect, test, vi } from "vitest";
import { CallError } from "../rpc/connection";
import type { WorkspaceFile, WorkspaceHunk } from "../rpc/service";

vi.mock("./app", async () => ({
  refreshers: [], afterOpen: [],
  call: vi.fn(),
  toast: vi.fn(),
  sayError: (err: Error) => `said ${err.message}`,
  w: (await import("@preact/signals")).signal((await import("./words.en")).en),
}));

const ws = await import("./workspace");

const file = (path: string, ...hunks: string[]) =>
  ({ path, hunks: hunks.map((id) => ({ id })) }) as unknown as WorkspaceFile;

test("a commit has what was chosen: files, or hunks of them", () => {
  const f = file("f", "a", "b");
  const state = () =>
    `${ws.chosenOf(f, ws.leftOut("s").value)} ${ws
      .chosenHunks(f, ws.leftOut("s").value)
      .map((h) => h.id)
      .join("")}`;
  expect(state()).toBe("all ab");
  ws.choose("s", f, f.hunks[0], false);
  expect(state()).toBe("part b");
  ws.choose("s", f, f.hunks[1], false);
  expect(state()).toBe("none ");
  ws.choose("s", f, f.hunks[0], true);
  expect(state()).toBe("part a");
  ws.choose("s", f, undefined, true);
  expect(state()).toBe("all ab");
  ws.choose("s", f, undefined, false);
  expect(state()).toBe("none ");
  expect(ws.chosenOf(f, ws.leftOut("other").value)).toBe("all");
});

test("a file without hunks is chosen as a whole", () => {
  const f = file("binary");
  const other = file("other", "a");
  const state = () => `${ws.chosenOf(f, ws.leftOut("t").value)} ${ws.chosenOf(other, ws.leftOut("t").value)}`;
  expect(state()).toBe("all all");
  ws.choose("t", f, undefined, false);
  expect(state()).toBe("none all");
  ws.choose("t", f, undefined, true);
  expect(state()).toBe("all all");
  expect(ws.hunkKey("f", "a")).toBe("f\na");
});

test("the lines of a hunk are those of its new side, else of its old one", () => {
  const hunk = (h: Partial<WorkspaceHunk>) =>
    ws.linesOf({ oldStart: 1, oldLines: 2, newStart: 5, newLines: 3, ...h } as WorkspaceHunk);
  expect(hunk({})).toEqual({ side: "new", from: 5, to: 7 });
  expect(hunk({ newLines: 0 })).toEqual({ side: "old", from: 1, to: 2 });
  expect(hunk({ newLines: 0, oldLines: 0 })).toEqual({ side: "old", from: 1, to: 1 });
});

test("hunks are those of a commit where the diff begins at the last one", () => {
  const diff = (more: object) => ({ files: [], ...more }) as unknown as Parameters<typeof ws.hasCommitHunks>[0];
  expect(ws.hasCommitHunks(diff({}), { against: "head" })).toBe(true);
  expect(ws.hasCommitHunks(diff({ head: "h", workspace: { base: "h" } }), {} as never)).toBe(true);
  expect(ws.hasCommitHunks(diff({ head: "h", workspace: { base: "b" } }), {} as never)).toBe(false);
  expect(ws.hasCommitHunks(diff({}), {} as never)).toBe(false);
  expect(ws.hasCommitHunks(diff({ head: "h", workspace: { base: "h" } }), { turn: "t" } as never)).toBe(false);
  expect(ws.sameScope({ turn: "t" } as never, { turn: "t" } as never)).toBe(true);
  expect(ws.sameScope({ turn: "t" } as never, { turn: "u" } as never)).toBe(false);
  expect(ws.sameScope({ turn: "t", against: "head" } as never, { turn: "t" } as never)).toBe(false);
});

test("why there is no diff: no repository, not allowed, or a failure in words", async () => {
  const diff = { files: [] };
  const { call } = (await import("./app")) as unknown as { call: ReturnType<typeof vi.fn> };
  call.mockReset().mockResolvedValueOnce(diff);
  expect(await ws.loadDiff("s", { turn: "t", against: "head" })).toBe(diff);
  expect(call.mock.calls).toEqual([["workspace.diff", { session_id: "s", turn: "t", against: "head" }]]);
  for (const [err, want] of [
    [new CallError("no repository", "unsupported"), { reason: "no_git", text: "no repository" }],
    [new CallError("x", "auth_failed"), { reason: "not_allowed", text: "said x" }],
    [new CallError("x", "not_owner"), { reason: "not_allowed", text: "said x" }],
    [new CallError("in its words", "invalid_params"), { reason: "failed", text: "in its words" }],
    [new CallError("x", "timeout"), { reason: "failed", text: "said x" }],
    [new Error("x"), { reason: "failed", text: "said x" }],
  ] as const) {
    call.mockRejectedValueOnce(err);
    const got = await ws.loadDiff("s", {});
    expect(got).toEqual(want);
    expect(ws.isDiff(got)).toBe(false);
  }
  expect([ws.isDiff(diff as never), ws.isDiff(undefined)]).toEqual([true, false]);
});

test("an error about files is in the server's words, which name the file", () => {
  for (const reason of ["conflict", "unsupported", "invalid_params", "limit_reached"])
    expect(ws.sayWorkspace(new CallError("raw", reason)), reason).toBe("raw");
  expect([ws.sayWorkspace(new CallError("raw", "not_owner")), ws.sayWorkspace(new Error("conflict"))]).toEqual(["said raw", "said conflict"]);
});

test("a hunk that has changed is told with those in its place", () => {
  const conflict = (data?: unknown, reason = "conflict") => ws.staleHunks(new CallError("x", reason, 0, data));
  expect([
    conflict({ hunks: [{ id: "h" }, 7] }), conflict({ hunks: [] }), conflict({}), conflict(), conflict({ hunks: [] }, "unsupported"), ws.staleHunks(new Error("x")),
  ]).toEqual([[{ id: "h" }], [], undefined, undefined, undefined, undefined]);
});

test("a file or a hunk is taken back, and put back, under a key", async () => {
  const { call } = (await import("./app")) as unknown as { call: ReturnType<typeof vi.fn> };
  const idempotency_key = expect.stringMatching(/^[0-9a-f-]{36}$/);
  call.mockReset().mockResolvedValue("diff");
  expect(await ws.revert("s", { turn: "t" }, "f", "h", true)).toBe("diff");
  await ws.revert("s", {}, "f", undefined, false);
  await ws.restore("s", { against: "head" }, "r");
  expect(call.mock.calls).toEqual([
    ["workspace.revert", { session_id: "s", idempotency_key, turn: "t", file: "f", hunk: "h", checkout: true }],
    ["workspace.revert", { session_id: "s", idempotency_key, file: "f" }],
    ["workspace.restore", { session_id: "s", idempotency_key, against: "head", id: "r" }],
  ]);
  call.mockRejectedValueOnce(new CallError("x", "conflict", 0, { hunks: [{ id: "new" }] }));
  expect(await ws.revert("s", {}, "f", "h", false)).toEqual({ file: "f", hunks: [{ id: "new" }] });
  const other = new CallError("x", "conflict");
  call.mockRejectedValueOnce(other);
  await expect(ws.revert("s", {}, "f", "h", false)).rejects.toBe(other);
  call.mockResolvedValueOnce({ name: "b" });
  expect(await ws.loadBranch("s")).toEqual({ name: "b" });
  call.mockRejectedValueOnce(other);
  expect(await ws.loadBranch("s")).toBeUndefined();
});

test("the changed lines of a hunk are those of one side, and all of it where none has changed", () => {
  const hunk = (...lines: string[]) =>
    ({ oldStart: 10, oldLines: 3, newStart: 20, newLines: 4, lines }) as unknown as WorkspaceHunk;
  expect(ws.changedLines(hunk(" a", "-b", "+c", " d", "+e", " f"))).toEqual({ side: "new", from: 21, to: 23 });
  expect(ws.changedLines(hunk(" a", "-b", " c", "-d"))).toEqual({ side: "old", from: 11, to: 13 });
  expect(ws.changedLines(hunk(" a", "\\ No newline", "+b"))).toEqual({ side: "new", from: 21, to: 21 });
  expect(ws.changedLines(hunk(" a"))).toEqual({ side: "new", from: 20, to: 23 });
});
