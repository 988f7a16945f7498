import { expect, test } from "vitest";
import {
  byMention, contents, goodPath, makeContext, mentionedIn, parseContexts, type Tag, tagOf, types, withoutContents,
} from "./contexts";

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

test("a context is made of its fields, with what is empty left out, and none where one is missing", () => {
  const base = (kind: keyof typeof types) => ({ type: types[kind], displayType: "TAG" });
  const cases: [Parameters<typeof makeContext>[0], Parameters<typeof makeContext>[1], object | undefined][] = [
    ["file", { path: "a" }, { ...base("file"), path: "a" }],
    ["file", { path: "a`b" }, undefined],
    ["file", {}, undefined],
    ["folder", { path: "a" }, { ...base("folder"), path: "a" }],
    ["folder", { path: "a\nb" }, undefined],
    ["symbol", { name: "f", symbolType: "FUNCTION", file: "x.go", line: "3.7" }, { ...base("symbol"), name: "f", symbolType: "FUNCTION", file: "x.go", line: 3 }],
    ["symbol", { name: "f", symbolType: "", file: "", line: "0" }, { ...base("symbol"), name: "f" }],
    ["symbol", { file: "x.go" }, undefined],
    ["web", { url: "https://x/y", title: "t" }, { ...base("web"), url: "https://x/y", title: "t" }],
    ["web", { url: "http://x", title: "" }, { ...base("web"), url: "http://x" }],
    ["web", { url: "javascript:x" }, undefined],
    ["web", { url: "https://x y" }, undefined],
    ["terminal", { content: "a\n\n b" }, { ...base("terminal"), lines: 2, content: "a\n\n b" }],
    ["terminal", { content: "it FAILED" }, { ...base("terminal"), lines: 1, content: "it FAILED", isError: true }],
    ["terminal", { content: " \n" }, undefined],
    ["problems", { content: "a\n\nb" }, { ...base("problems"), count: 2, severity: "ERROR", problems: ["a", "b"] }],
    ["problems", { content: "a", severity: "HINT" }, { ...base("problems"), count: 1, severity: "HINT", problems: ["a"] }],
    ["problems", {}, undefined],
    ["git", { content: "d", gitType: "LOG" }, { ...base("git"), gitType: "LOG", content: "d" }],
    ["git", {}, { ...base("git"), gitType: "DIFF" }],
    ["selection", { content: "s" }, { ...base("selection"), content: "s" }],
    ["selection", { content: " " }, undefined],
    ["workspace", {}, base("workspace")],
    ["image", {}, undefined],
  ];
  for (const [kind, f, want] of cases) expect(makeContext(kind, f), `${kind} ${JSON.stringify(f)}`).toEqual(want);
  for (const bad of ["", "a\u0000", "a\u007f", "a\u2028", "a`"]) expect(goodPath(bad), JSON.stringify(bad)).toBe(false);
  expect(goodPath("a b/ä.go")).toBe(true);
});

test("contents come after a text and are read back from it, whatever is in them", () => {
  const contexts = [
    { type: types.file, path: "a.go", content: "x := 1\n" },
    { type: types.terminal, name: "t", content: "```\ncode\n````" },
    { type: types.problems, title: "p", problems: ["one", "two"] },
    { type: types.selection, name: "s", content: "" },
    { type: "other", name: "o", content: "unknown" },
    "odd",
  ];
  const text = contents(contexts);
  expect(text).toBe(
    "\n\n📄 `a.go`:\n```\nx := 1\n```\n\n💻 `t`:\n`````\n```\ncode\n````\n`````\n\n⚠ `p`:\n```\none\ntwo\n```\n\n📄 `o`:\n```\nunknown\n```",
  );
  const r = parseContexts(`hello${text}`);
  expect([r.text, r.before, r.after]).toEqual(["hello", "", text]);
  expect(r.parts).toEqual([
    { kind: "file", label: "a.go", content: "x := 1" },
    { kind: "terminal", label: "t", content: "```\ncode\n````" },
    { kind: "problems", label: "p", content: "one\ntwo" },
    { kind: "file", label: "o", content: "unknown" },
  ]);
  expect(withoutContents(contexts)).toEqual([
    { type: types.file, path: "a.go" }, { type: types.terminal, name: "t" }, { type: types.problems, title: "p" }, { type: types.selection, name: "s" }, { type: "other", name: "o" },
  ]);
});

test("what only looks like contents stays text", () => {
  const part = "\n\n📄 `a`:\n```\nx\n```";
  for (const text of [`hi${part} more`, `hi${part}\n`, "hi\n\n📄 `a`:\n```\nx", "hi\n\n🏠 `a`:\n```\nx\n```"])
    expect(parseContexts(text)).toMatchObject({ text, parts: [], after: "" });
  // The first block does not extend to the end, so it is text; the next one may.
  expect(parseContexts(`hi${part} more${part}`)).toMatchObject({ text: `hi${part} more`, parts: [{ label: "a", content: "x" }] });
  expect(parseContexts("📄 `a`:\n```\n```")).toMatchObject({ text: "", parts: [{ label: "a", content: "" }] });
});

test("a context whose content follows has no tag, and the block is what stands before the text", () => {
  const block = "> **Context**\n> \n> - 📄 `a`\n> - 📁 `a`\n\n";
  const r = parseContexts(`${block}hi\n\n📄 \`a\`:\n\`\`\`\nx\n\`\`\``);
  expect([r.before, r.text, r.tags, r.parts.map((p) => p.label)]).toEqual([block, "hi", [{ kind: "folder", label: "a", note: "" }], ["a"]]);
});

test("the lines of the block have a name and a note", () => {
  const tag = (line: string) => parseContexts(`> **Context**\n> - ${line}\n\nhi`).tags[0];
  for (const [line, kind, label, note] of [
    ["🔗 `f` (FUNCTION)", "symbol", "f", "FUNCTION"],
    ["🖼 `x.png` (12KB)", "image", "x.png", "12KB"],
    ["🖼\uFE0F `x.png`", "image", "x.png", ""],
    ["🌐 https://x (title)", "web", "https://x", "title"],
    ["⚠️ problems [ERROR]", "problems", "problems", "ERROR"],
    ["💻 output (50 lines) more", "terminal", "output", "50 lines more"],
    ["🔀 Git", "git", "Git", ""],
  ] as const)
    expect(tag(line), line).toEqual({ kind, label, note });
  for (const line of ["🔗 f", "📁 a", "📄 a", "🖼 a", "🙂 x"]) expect(tag(line), line).toBeUndefined();
});

test("a mention is of the longest name, of files and folders alone", () => {
  const tags = [{ kind: "file", label: "a.b" }, { kind: "folder", label: "src" }, { kind: "symbol", label: "f" }].map((t) => ({ ...t, note: "" }) as Tag);
  expect(mentionedIn("see @a.b @src @f", tags)).toEqual(["a.b", "src"]);
  expect(mentionedIn("see a.b", tags)).toEqual([]);
  expect(byMention("@a.b @axb @a.bc", ["a.b", "a.bc"])).toEqual(["", "@a.b", " @axb ", "@a.bc", ""]);
});
