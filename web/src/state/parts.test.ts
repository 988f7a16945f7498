import { expect, test } from "vitest";
import { parts } from "./command";
import { byMention, parseContexts, stillMeant, types } from "./contexts";
import { fitting, trigger } from "./drafts";
import { partialObject } from "./partial";
import { parseRoute, formatRoute, takeToken } from "./route";

test("a compound command in its parts, each with its directory", () => {
  const show = (c: string) => parts(c, "/w/p").map((p) => `${p.join}|${p.text}|${p.dir}`);
  expect(show("cd docs && rm -rf a; echo 'x && y' | wc")).toEqual([
    "|cd docs|/w/p",
    "&&|rm -rf a|/w/p/docs",
    ";|echo 'x && y'|/w/p/docs",
    "||wc|/w/p/docs",
  ]);
  expect(show("cd .. && ls")).toEqual(["|cd ..|/w/p", "&&|ls|/w"]);
  expect(show("cd /x && (a; b) 2>&1")).toEqual(["|cd /x|/w/p", "&&|(a; b) 2>&1|/x"]);
  expect(show("cd $HOME && ls")).toEqual(["|cd $HOME|/w/p", "&&|ls|/w/p"]);
  expect(show("cd a | ls")).toEqual(["|cd a|/w/p", "||ls|/w/p"]);
  expect(show('echo "unclosed && x')).toEqual(['|echo "unclosed && x|/w/p']);
  expect(show("a\nb")).toEqual(["|a|/w/p", ";|b|/w/p"]);
});

test("contexts are read back from a text, and text stays text", () => {
  const all =
    "> **上下文资料**\n> \n> - 📄 `a b.txt`\n> - 🌐 https://example.com (示例)\n> - 📁 `src` (15个文件)\n> - 🔗 `M.f()` (FUNCTION) - Main.kt:45\n> - 💻 终端输出 (50行) ⚠️\n> - ⚠️ 问题报告 (3个) [ERROR]\n> - 🔀 Git DIFF\n> - ✏️ 当前选择内容\n> - 🏠 当前工作区\n> - 🖼 `x.png` (12KB)\n\nhello";
  const r = parseContexts(all);
  expect(r.text).toBe("hello");
  expect(r.tags.map((t) => t.kind)).toEqual([
    "file",
    "web",
    "folder",
    "symbol",
    "terminal",
    "problems",
    "git",
    "selection",
    "workspace",
    "image",
  ]);
  expect(r.tags[0]?.label).toBe("a b.txt");
  expect(r.tags[2]?.note).toBe("15个文件");
  expect(parseContexts("> **Context**\r\n>\r\n> - 📄 `a`\r\n\r\nhi").text).toBe("hi");
  for (const text of [
    "hello",
    "> **Context**\n> \n> - my point\n\nhi",
    "x\n> **Context**\n> \n> - 📄 `a`\n\nhi",
    "> **Context**\n> \n\nhi",
  ]) {
    expect(parseContexts(text)).toMatchObject({ text, tags: [], parts: [] });
  }
});

test("an input that streams is read as far as it goes", () => {
  expect(partialObject('{"command":"go te')).toEqual({ command: "go te" });
  expect(partialObject('{"a":1,"b":[1,2],"c":"x\\n')).toEqual({ a: 1, b: [1, 2], c: "x\n" });
  expect(partialObject('{"a":"x","b')).toEqual({ a: "x" });
  expect(partialObject('{"a":"x\\u00')).toEqual({ a: "x" });
  expect(partialObject('{"a":{"b":1')).toEqual({});
  expect(partialObject("")).toEqual({});
  const whole = '{"command":"echo \\"hi\\"","n":[{"x":null}],"s":"é\\u00e9"}';
  for (let i = 0; i <= whole.length; i++) expect(() => partialObject(whole.slice(0, i))).not.toThrow();
  expect(partialObject(whole)).toEqual(JSON.parse(whole));
});

test("menus open where they are asked for", () => {
  expect(trigger("/re", 3)).toEqual({ kind: "/", query: "re", from: 0 });
  expect(trigger("a /re", 5)).toBeUndefined();
  expect(trigger("look @src/m", 11)).toEqual({ kind: "@", query: "src/m", from: 5 });
  expect(trigger("mail a@b", 8)).toBeUndefined();
  expect(fitting(["release", "review", "compact"], (x) => x, "rev", 5)).toEqual(["review"]);
});

test("places and tokens in the address", () => {
  for (const hash of ["#/home", "#/sessions", "#/s/a", "#/s/a/b", "#/h/x%2Fy", "#/new", "#/home/r1"])
    expect(formatRoute(parseRoute(hash))).toBe(hash);
  expect(parseRoute("#/nonsense")).toEqual({ page: "new" });
  expect(parseRoute("#/s/%E0%A4%A")).toEqual({ page: "session", ids: ["%E0%A4%A"] });
  expect(takeToken("#token=pt_a_b")).toBe("pt_a_b");
  expect(takeToken("#/s/token=x")).toBeUndefined();
});

test("a mention is a part of the sentence, and its file goes with it", () => {
  const file = { type: types.file, path: "a/b.go", displayType: "TAG" };
  const other = { type: types.file, path: "c.txt", displayType: "TAG" };
  expect(byMention("see @a/b.go now", ["a/b.go"])).toEqual(["see ", "@a/b.go", " now"]);
  expect(byMention("see @a/b.go now", [])).toEqual(["see @a/b.go now"]);
  expect(stillMeant([file, other], "see @a/b.go", "see @a/b.g")).toEqual([other]);
  expect(stillMeant([file, other], "see @a/b.go", "look at @a/b.go")).toEqual([file, other]);
  expect(stillMeant([file, other], "see", "saw")).toEqual([file, other]);
});
