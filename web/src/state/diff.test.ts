import { expect, test } from "vitest";
import { type FileDiff, fromPatch, fromTexts, hunksOf, merge, ofCall, ofContent, ofTool, pairs } from "./diff";

/** A diff as lines: number on both sides, sign, text, marks. */
function shown(d: FileDiff | undefined): string[] {
  return (d?.hunks ?? []).flatMap((h) =>
    h.lines.map((l) => `${l.old ?? ""}|${l.new ?? ""}|${l.sign}${l.text}${l.marks ? JSON.stringify(l.marks) : ""}`),
  );
}

test("lines have the numbers of both sides, and a line that replaces one has marks", () => {
  const d = fromTexts("p", "a\nold word\nc\n", "a\nnew word\nc\nd\n");
  expect(shown(d)).toEqual(["1|1| a", "2||-old word[[0,3]]", "|2|+new word[[0,3]]", "3|3| c", "|4|+d"]);
  expect(d).toMatchObject({ path: "p", added: 2, removed: 1, isNew: false, cut: false });
});

test("marks are made where as many lines replace as many, at most 8, and something stays", () => {
  const marked = (minus: string[], plus: string[]) =>
    shown(
      fromPatch("p", [
        { oldStart: 1, newStart: 1, lines: [...minus.map((l) => `-${l}`), ...plus.map((l) => `+${l}`)] },
      ]),
    ).filter((l) => l.includes("[")).length;
  const lines = (word: string, n: number) => Array.from({ length: n }, (_, i) => `${word} same${i}`);
  expect(marked(["x same"], ["y same"])).toBe(2);
  expect(marked(["x same"], ["y same", "more"])).toBe(0);
  expect(marked(["x same", "more"], ["y same"])).toBe(0);
  expect(marked(lines("x", 8), lines("y", 8))).toBe(16);
  expect(marked(lines("x", 9), lines("y", 9))).toBe(0);
  expect(marked(["one"], ["two"])).toBe(0);
  expect(marked([`x ${"s".repeat(298)}`], [`y ${"s".repeat(298)}`])).toBe(2);
  expect(marked([`x ${"s".repeat(299)}`], [`y ${"s".repeat(298)}`])).toBe(0);
});

test("every group of lines that replace each other has its marks", () => {
  const d = fromPatch("p", [
    { oldStart: 1, newStart: 1, lines: ["-x one", "+y one", " mid", "-x two", "+y two", "\\ No newline"] },
  ]);
  expect(shown(d)).toEqual([
    "1||-x one[[0,1]]",
    "|1|+y one[[0,1]]",
    "2|2| mid",
    "3||-x two[[0,1]]",
    "|3|+y two[[0,1]]",
  ]);
});

test("a new file has all its lines, an empty one none, and too many edits are shown whole", () => {
  expect(shown(fromTexts("p", "", "a\nb\n"))).toEqual(["|1|+a", "|2|+b"]);
  expect(fromTexts("p", "", "a")).toMatchObject({ isNew: true, added: 1, removed: 0 });
  expect(fromTexts("p", "", "")).toMatchObject({ isNew: true, hunks: [], added: 0 });
  const many = (word: string) => Array.from({ length: 300 }, (_, i) => word + i).join("\n");
  expect(fromTexts("p", many("a"), many("b"))).toMatchObject({ cut: true, isNew: false, added: 300, removed: 300 });
});

test("a tool's change comes from its result, else from its input, by its type", () => {
  const patch = [{ oldStart: 4, newStart: 4, lines: ["-a", "+b"] }];
  expect(
    shown(ofTool("CLAUDE_EDIT", { file_path: "p", old_string: "x", new_string: "y" }, { structuredPatch: patch })),
  ).toEqual(["4||-a", "|4|+b"]);
  expect(
    shown(ofTool("CLAUDE_EDIT", { file_path: "p", old_string: "x", new_string: "y" }, { structuredPatch: [] })),
  ).toEqual(["1||-x", "|1|+y"]);
  expect(ofTool("CLAUDE_WRITE", { file_path: "p", content: "new" }, { originalFile: "old" })).toMatchObject({
    path: "p",
    isNew: false,
    added: 1,
    removed: 1,
  });
  expect(ofTool("CLAUDE_WRITE", { file_path: "p", content: "new" }, undefined)).toMatchObject({
    isNew: true,
    added: 1,
    removed: 0,
  });
  expect(ofTool("CLAUDE_NOTEBOOK_EDIT", { notebook_path: "n", new_source: "s" }, undefined)).toMatchObject({
    path: "n",
    isNew: true,
    added: 1,
    removed: 0,
  });
  const multi = {
    file_path: "p",
    edits: [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "" },
    ],
  };
  expect(ofTool("CLAUDE_MULTI_EDIT", multi, undefined)).toMatchObject({ path: "p", added: 1, removed: 2 });
  expect(ofTool("CLAUDE_READ", { file_path: "p" }, undefined)).toBeUndefined();
  expect(ofTool("CLAUDE_EDIT", "no object", undefined)).toBeUndefined();
});

test("a change is made once for an input and its result", () => {
  const input = { file_path: "p", old_string: "x", new_string: "y" };
  const first = ofTool("CLAUDE_EDIT", input, undefined);
  expect(ofTool("CLAUDE_EDIT", input, undefined)).toBe(first);
  expect(ofTool("CLAUDE_EDIT", input, { structuredPatch: [{ oldStart: 1, newStart: 1, lines: ["+z"] }] })).not.toBe(
    first,
  );
});

test("the changes of Codex are unified diffs, or whole texts by their kind", () => {
  const of = (...changes: unknown[]) => ofTool("CODEX_FILE_CHANGE", { changes }, undefined);
  expect(of()).toBeUndefined();
  expect(shown(of({ path: "p", diff: "@@ -3 +3 @@\n-a\n+b\n" }))).toEqual(["3||-a", "|3|+b"]);
  expect(of({ path: "p", diff: "a\nb", kind: "delete" })).toMatchObject({ added: 0, removed: 2, isNew: false });
  expect(of({ path: "p", diff: "a\nb", kind: { type: "delete" } })).toMatchObject({ added: 0, removed: 2 });
  expect(of({ path: "p", diff: "a\nb", kind: "add" })).toMatchObject({ added: 2, removed: 0, isNew: true });
  expect(of({ path: "p", diff: "a", kind: "add" }, { path: "q", diff: "@@ -1 +1 @@\n-a\n+b\n" })).toMatchObject({
    path: "p, q",
    isNew: false,
    added: 2,
  });
  expect(
    ofTool(
      "CLAUDE_EDIT",
      { file_path: "p", changes: [{ path: "q", diff: "a" }], old_string: "x", new_string: "y" },
      undefined,
    )?.path,
  ).toBe("p");
});

test("an agent's own diffs count before a unified diff among its arguments", () => {
  const diff = { type: "diff", path: "p", oldText: "a", newText: "b" };
  const args = { diff: "@@ -1 +1 @@\n-x\n+y\n", path: "q" };
  expect(ofContent([{ type: "text" }, diff], args).map((d) => d.path)).toEqual(["p"]);
  expect(ofContent([], args).map((d) => d.path)).toEqual(["q"]);
  expect(ofContent([], { diff: args.diff, filepath: "r" })[0]?.path).toBe("r");
  expect(ofContent([], { diff: args.diff, fileName: "s" })[0]?.path).toBe("s");
  expect(ofContent([], {})).toEqual([]);
  expect(ofCall([], {})).toBeUndefined();
  expect(ofCall([diff, { ...diff, path: "z" }], {})).toMatchObject({ path: "p, z", added: 2, removed: 2 });
});

test("hunks of a unified diff begin at their header, and other lines are left out", () => {
  expect(hunksOf("--- a\n+++ b\n@@ -1,2 +3,4 @@ f\n a\n-b\n+c\nindex\n@@ -9 +8 @@\n+d")).toEqual([
    { oldStart: 1, newStart: 3, lines: [" a", "-b", "+c"] },
    { oldStart: 9, newStart: 8, lines: ["+d"] },
  ]);
});

test("several changes are one with the sum of the lines", () => {
  const cut = { ...fromTexts("a", "x", "y"), cut: true };
  expect(merge("all", [fromTexts("a", "", "x"), cut])).toMatchObject({
    path: "all",
    added: 2,
    removed: 1,
    cut: true,
    isNew: false,
  });
  expect(merge("all", [fromTexts("a", "", "x")])).toMatchObject({ cut: false });
});

test("lines that replace each other stand side by side", () => {
  const rows = (...lines: string[]) =>
    pairs(fromPatch("p", [{ oldStart: 1, newStart: 1, lines }]).hunks[0]?.lines ?? []).map(
      ([a, b]) => `${a?.text ?? ""}/${b?.text ?? ""}`,
    );
  expect(rows(" a", "-b", "-c", "+d", " e", "+f", "-g")).toEqual(["a/a", "b/d", "c/", "e/e", "/f", "g/"]);
  expect(rows("-a", "+b", "+c")).toEqual(["a/b", "/c"]);
});
