import { describe, expect, it } from "vitest";
import { cuts, languageOf, partsByLine } from "./colour";

describe("the colours of lines", () => {
  it("are cut at the ends of lines", () => {
    const lines = partsByLine(["a ", { class: "s", children: ["x\ny", { class: "k", children: ["z"] }] }, "\n", { class: "c", children: ["#"] }]);
    expect(lines).toEqual([
      [{ from: 2, to: 3, class: "s" }],
      [
        { from: 0, to: 1, class: "s" },
        { from: 1, to: 2, class: "k" },
      ],
      [{ from: 0, to: 1, class: "c" }],
    ]);
  });

  it("give way to marks, and no character is lost", () => {
    const all = cuts(10, [[3, 6]], [{ from: 0, to: 4, class: "k" }, { from: 8, to: 10, class: "s" }]);
    expect(all.map((c) => [c.from, c.to, c.class, c.marked])).toEqual([
      [0, 3, "k", false],
      [3, 4, "", true],
      [4, 6, "", true],
      [6, 8, "", false],
      [8, 10, "s", false],
    ]);
    expect(cuts(0, [], [])).toEqual([]);
  });

  it("come from the name of the file", () => {
    expect(["a/b.go", "x.TSX", "Dockerfile", "Makefile", "LICENSE", ".gitignore"].map(languageOf)).toEqual([
      "go",
      "typescript",
      "dockerfile",
      "makefile",
      "",
      "",
    ]);
  });
});
