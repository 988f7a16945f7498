import { expect, test } from "vitest";
import { contents, parseContexts, withoutContents } from "../../state/contexts";
import { largestText, mostFiles, pasted, readFiles, walk } from "./files";

const given = (name: string, body: BlobPart, type = "") => ({ file: new File([body], name, { type }), path: name });

test("texts are taken by their content, the rest says why not", async () => {
  const r = await readFiles([
    given("notes.txt", "one\ntwo\n", "text/plain"),
    given("a.ts", "let x = 1;", "video/mp2t"),
    given("a.bin", new Uint8Array([0, 1, 2, 255])),
    given("long.log", "x".repeat(largestText + 1)),
    given("dot.png", new Uint8Array([1]), "image/png"),
  ]);
  expect(r.contexts.map((c) => [c["path"], c["content"]])).toEqual([
    ["notes.txt", "one\ntwo\n"],
    ["a.ts", "let x = 1;"],
  ]);
  expect(r.images.map((i) => i.name)).toEqual(["dot.png"]);
  expect(r.refused.map((f) => [f.name, f.why])).toEqual([
    ["a.bin", "binary"],
    ["long.log", "large"],
  ]);
});

test("a folder is its files, unless they are many", async () => {
  const file = (path: string, body = "x") =>
    ({
      isFile: true,
      isDirectory: false,
      name: path,
      fullPath: path,
      file: (ok: (f: File) => void) => ok(new File([body], path)),
    }) as unknown as FileSystemEntry;
  const folder = (name: string, children: FileSystemEntry[]) =>
    ({
      isFile: false,
      isDirectory: true,
      name,
      fullPath: `/${name}`,
      createReader: () => {
        const parts = [children, []];
        return { readEntries: (ok: (e: FileSystemEntry[]) => void) => ok(parts.shift() ?? []) };
      },
    }) as unknown as FileSystemEntry;
  const r = await walk([
    folder("src", [file("/src/a.go"), folder("in", [file("/src/in/b.go")])]),
    folder(
      "many",
      Array.from({ length: mostFiles + 1 }, (_, i) => file(`/many/${i}`)),
    ),
    folder("big", [file("/big/a", "x".repeat(largestText)), file("/big/b")]),
    file("/c.txt"),
  ]);
  expect(r.files.map((f) => f.path)).toEqual(["src/a.go", "src/in/b.go", "c.txt"]);
  expect(r.refused.map((f) => [f.name, f.why])).toEqual([
    ["many", "many"],
    ["big", "large"],
  ]);
});

test("contents stand after the text and are read back", () => {
  const contexts = [
    { type: "FileReference", path: "a.md", content: "# x\n```go\ny\n```\n" },
    { type: "FileReference", path: "src/b.go" },
    { type: "TerminalReference", lines: 2, content: "one\n\ntwo" },
    { type: "FileReference", path: "empty.txt", content: "" },
  ];
  const sent = `> **Context**\n> \n> - 📄 \`a.md\`\n> - 📄 \`src/b.go\`\n\nlook\n\nhere${contents(contexts)}`;
  const r = parseContexts(sent);
  expect(r.text).toBe("look\n\nhere");
  expect(r.before + r.text + r.after).toBe(sent);
  expect(r.tags.map((t) => t.label)).toEqual(["src/b.go"]);
  expect(r.parts).toEqual([
    { kind: "file", label: "a.md", content: "# x\n```go\ny\n```" },
    { kind: "terminal", label: "", content: "one\n\ntwo" },
  ]);
  expect(withoutContents(contexts).every((c) => !("content" in c))).toBe(true);
  expect(parseContexts("see\n\n📄 `x`:\n```\nnot closed").parts).toEqual([]);
  expect(parseContexts(sent).parts, "once more").toHaveLength(2);
  expect(parseContexts("see\n\n📄 `x`:\n```\na\n```\n\nand more").text).toBe("see\n\n📄 `x`:\n```\na\n```\n\nand more");
});

test("a long paste is a part of the message", () => {
  expect(pasted("short", 1)).toBeUndefined();
  expect(pasted("line\n".repeat(41), 2)?.["path"]).toBe("pasted-2.txt");
  expect(pasted("x".repeat(5000), 3)?.["content"]).toHaveLength(5000);
});
