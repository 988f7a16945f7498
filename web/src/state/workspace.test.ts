import { expect, test, vi } from "vitest";
import type { WorkspaceFile, WorkspaceHunk } from "../rpc/service";

vi.mock("./app", async () => ({
  refreshers: [], afterOpen: [],
  call: vi.fn(),
  toast: vi.fn(),
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
