import { describe, expect, it } from "vitest";
import { foldText, mentionsIn, parseReview } from "./said";

describe("what a person wrote", () => {
  it("has the remarks of a review", () => {
    const text =
      "Two things.\n\n## 1. a b.go, line 3\n\n```\nx := 1\n```\n\nWhy?\n\nReally.\n\n## 2. docs/b.md, lines 7 to 8 before the change\n\n````\n```\ncode\n````\n\nKeep it.\n";
    expect(parseReview(text)).toEqual({
      words: "Two things.",
      remarks: [
        { file: "a b.go", from: 3, to: 3, old: false, code: "x := 1", text: "Why?\n\nReally." },
        { file: "docs/b.md", from: 7, to: 8, old: true, code: "```\ncode", text: "Keep it." },
      ],
    });
    expect(parseReview("## 1. Not one\n\n```\nx\n```")).toBeUndefined();
    expect(parseReview("")).toBeUndefined();
  });

  it("is cut at a line where it is long, else at a word", () => {
    expect(foldText("short\ntext")).toEqual({ shown: "short\ntext", more: 0, rest: false });
    const many = Array.from({ length: 60 }, (_, i) => `line ${i}`);
    expect(foldText(many.join("\n"))).toEqual({ shown: many.slice(0, 12).join("\n"), more: 48, rest: true });
    const one = foldText("word ".repeat(2000));
    expect(one.shown.endsWith("word")).toBe(true);
    expect(one.rest).toBe(true);
    for (const text of [many.join("\n"), "word ".repeat(2000), "x".repeat(9000)]) {
      const { shown } = foldText(text);
      expect(text.startsWith(shown)).toBe(true);
      expect(shown.length).toBeLessThan(1600);
    }
  });

  it("keeps files that it mentions in the sentence", () => {
    expect(mentionsIn("Compare @a/b.go with @a/b.go:3.", ["a/b.go"])).toEqual([
      "Compare ",
      { path: "a/b.go" },
      " with ",
      { path: "a/b.go" },
      ":3.",
    ]);
    expect(mentionsIn("@a/bc @a/b", ["a/b", "a/bc"])).toEqual([{ path: "a/bc" }, " ", { path: "a/b" }]);
    expect(mentionsIn("me@example.com", [])).toEqual(["me@example.com"]);
  });
});
