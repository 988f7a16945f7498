import { expect, test } from "vitest";
import { Document, inline, longest, entitiesRead } from "./markdown";

const source =
  "# Title\n\nA paragraph with `code`\nand a second line.\n\n- one\n- two\n  - three\n\n```go\nfunc main() {}\n\n# not a heading\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n> more\n\nSetext\n======\n\nlast";

test("a text that grows is read as the whole text is, whatever its pieces are", () => {
  const whole = new Document().update(source).map((p) => [p.token.type, p.raw.trimEnd()]);
  for (const step of [1, 2, 3, 7, 50]) {
    const doc = new Document();
    let pieces = doc.update("");
    for (let i = step; i < source.length + step; i += step) pieces = doc.update(source.slice(0, i), true);
    pieces = doc.update(source);
    expect(
      pieces.map((p) => [p.token.type, p.raw.trimEnd()]),
      `by ${step}`,
    ).toEqual(whole);
  }
});

test("a text that is replaced is read again", () => {
  const doc = new Document();
  doc.update("a\n\nb\n\nc\n\nd\n\ne");
  expect(doc.update("other").map((p) => p.raw)).toEqual(["other"]);
});

test("the work for a delta does not grow with the text", { timeout: 60_000 }, () => {
  const time = (n: number) => {
    const doc = new Document();
    let text = "word word word\n\n".repeat(n);
    doc.update(text);
    const began = performance.now();
    for (let i = 0; i < 300; i++) {
      text += i % 30 === 29 ? "word\n\n" : "word ";
      doc.update(text, true);
    }
    return performance.now() - began;
  };
  // The best of a few runs, because other programs use the machine too.
  const best = (n: number) => Math.min(...[1, 2, 3, 4, 5].map(() => time(n)));
  expect(best(5000)).toBeLessThan(best(10) * 10 + 200);
});

test("character references", () => {
  expect(entitiesRead("&lt;a&gt; &amp;amp; &#x61;&#98; &unknown; &#0; &#x110000;")).toBe(
    "<a> &amp; ab &unknown; \ufffd \ufffd",
  );
});

test("nasty texts take no time", { timeout: 60_000 }, () => {
  for (const nasty of [
    "[".repeat(20_000),
    "*a ".repeat(10_000),
    "> ".repeat(5_000),
    "`".repeat(20_000),
    "- ".repeat(3_000),
    "|".repeat(20_000),
  ]) {
    let took = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 4 && took >= 1500; i++) {
      const began = performance.now();
      const pieces = new Document().update(nasty);
      expect(pieces.map((p) => p.raw).join("")).toBe(nasty);
      inline(nasty.slice(0, longest));
      took = Math.min(took, performance.now() - began);
    }
    expect(took, nasty.slice(0, 5)).toBeLessThan(1500);
  }
});
