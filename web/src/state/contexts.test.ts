import { expect, test } from "vitest";
import { tagOf, types } from "./contexts";

test("the tag of a context has its kind, its name and a note of its own", () => {
  for (const [context, want] of [
    [{ type: types.file, path: "p", content: "äb" }, ["file", "p", "3 B"]],
    [{ type: types.file, path: "p" }, ["file", "p", ""]],
    [{ type: types.terminal, name: "n", lines: 7 }, ["terminal", "n", "7"]],
    [{ type: types.problems, title: "t", count: 4 }, ["problems", "t", "4"]],
    [{ type: types.git, title: "t", gitType: "diff" }, ["git", "t", "diff"]],
    [{ type: types.image, path: "i", size: "9 kB" }, ["image", "i", "9 kB"]],
    [{ type: types.symbol, name: "f", file: "x.go" }, ["symbol", "f", "x.go"]],
    [{ type: "other", url: "u" }, ["unknown", "u", ""]],
    [{ type: types.file, path: "p", name: "n", title: "t", url: "u" }, ["file", "p", ""]],
    ["no object", ["unknown", "", ""]],
  ] as const) {
    const tag = tagOf(context);
    expect([tag.kind, tag.label, tag.note], JSON.stringify(context)).toEqual(want);
  }
});
