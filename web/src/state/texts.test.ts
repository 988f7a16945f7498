// Edge cases of texts: streams, links, lines, tags, lists and figures.
import { expect, test } from "vitest";
import type { PermissionRequest } from "../rpc/messages";
import { textOf } from "./find";
import { type Part, partsOf } from "./callparts";
import { inline, longest } from "./markdown";
import { pairsOf } from "./mcpform";
import { partialObject, previewLimit } from "./partial";
import { hiddenHost, oneLine, plain, safeLink, turnsText } from "./safe";
import { foldText, mentionsIn, parseReview } from "./said";
import { isRefusal, tidy, toolName, untag } from "./tidy";
import { clockTime } from "./time";
import { blocksNow, ceiling, csvOf, everyDay, merge, sumOf, totalTokens } from "./usage";
import { Heights, rangeFor } from "./virtual";
import type { Row } from "./rows";

test("an input that streams has at each length what is whole, and what only began of a text", () => {
  const whole = '{"a": "x\\"y\\\\", "b": [1, {"c": "]}"}], "d": true, "e": {"f": {}}, "g" : "\\u00e9\\n", "h": -1.5e3, "i": null}';
  const value = JSON.parse(whole) as Record<string, unknown>;
  let before = 0;
  for (let i = 0; i <= whole.length; i++) {
    const got = partialObject(whole.slice(0, i));
    const names = Object.keys(got);
    expect(names, `after ${i}`).toEqual(Object.keys(value).slice(0, names.length));
    expect(names.length).toBeGreaterThanOrEqual(before);
    before = names.length;
    names.forEach((name, at) => {
      const want = value[name];
      if (at === names.length - 1 && typeof want === "string") expect(want.startsWith(got[name] as string), `${i} ${String(got[name])}`).toBe(true);
      else expect(got[name], `after ${i}`).toEqual(want);
    });
  }
  expect(partialObject(whole)).toEqual(value);
  for (const [json, want] of [
    ["[1]", {}], ['  {"a":1}', { a: 1 }], ['{"a"', {}], ['{"a"x1}', {}], ['{"a":', {}], ['{"a":1', {}], ['{"a":1,', { a: 1 }], ['{"a":x}', { a: undefined }], ['{,"a":1}', { a: 1 }], ['{1:2}', {}],
    ['{"a":"x\\', { a: "x" }], ['{"a":"x\\u0', { a: "x" }], ['{"a":"\\u00e9', { a: "é" }], ['{"a":"x\\\\', { a: "x\\" }], ['{"a":["x', {}], ['{"a":"\\ud83d\\u', { a: "\ud83d" }],
  ] as const)
    expect(partialObject(json), json).toEqual(want);
  const long = partialObject(`{"a":"${"x".repeat(2 * previewLimit)}`)["a"] as string;
  expect(long.length).toBe(previewLimit - 6);
});

test("a link is the one that is shown, and characters that turn text are seen", () => {
  expect([safeLink("http://a.example:80/x"), safeLink("mailto:a@b"), safeLink("https://user@a.example"), safeLink("https://:p@a.example"), safeLink(" https://a.example/ ")]).toEqual([
    "http://a.example/x", "mailto:a@b", undefined, undefined, "https://a.example/",
  ]);
  for (const c of ["\u0020x", "\u007f", "\u00a0x", "\u2028x", "\\"]) expect(safeLink(`https://a.example/${c}`), JSON.stringify(c)).toBeUndefined();
  expect([hiddenHost("https://a.example:8443/", "a.example:8443"), hiddenHost("nonsense", "a.example"), hiddenHost("mailto:a@b", "a.example"), hiddenHost("https://A.example/", "http://a.EXAMPLE?x"), hiddenHost("https://a.example", "b.example is here")]).toEqual([
    "a.example:8443", undefined, undefined, undefined, undefined,
  ]);
  expect(plain("\u200e\u061c")).toBe("U+200eU+61c");
  expect(["\u202a", "\u2069", "\u200e"].map(turnsText)).toEqual([true, true, false]);
  expect([oneLine("x".repeat(10), 10), oneLine("x".repeat(11), 10), oneLine("a b", 2)]).toEqual(["x".repeat(10), `${"x".repeat(9)}…`, "a…"]);
});

test("a long text is folded above each bound, and a review needs its fences", () => {
  const lines = (n: number, text = "x") => Array.from({ length: n }, () => text).join("\n");
  expect([foldText(lines(40)).rest, foldText(lines(41)).rest, foldText("x".repeat(4000)).rest, foldText("x".repeat(4001)).rest]).toEqual([false, true, false, true]);
  expect(foldText(lines(41))).toEqual({ shown: lines(12), more: 29, rest: true });
  const wide = lines(41, "y".repeat(499));
  expect(foldText(wide)).toEqual({ shown: lines(3, "y".repeat(499)), more: 38, rest: true });
  expect(foldText(`${"y".repeat(1500)}\n${"z".repeat(3000)}`)).toEqual({ shown: "y".repeat(1500), more: 1, rest: true });
  expect(foldText(`${"y".repeat(1501)}\n${"z".repeat(3000)}`)).toEqual({ shown: "y".repeat(1500), more: 1, rest: true });
  expect(foldText(`${"y".repeat(1000)} ${"z".repeat(4000)}`).shown).toBe("y".repeat(1000));
  const head = "## 1. f, line 2";
  expect(parseReview(`${head}\n\n\`\`\`\nx`)).toBeUndefined();
  expect(parseReview(`${head}\nno blank\n\`\`\`\nx\n\`\`\``)).toBeUndefined();
  expect(parseReview(`${head}\n\n\`\`\`\nx\n\`\`\``)).toEqual({ words: "", remarks: [{ file: "f", from: 2, to: 2, old: false, code: "x", text: "" }] });
  expect([mentionsIn("", ["a"]), mentionsIn("@b @a", ["a", "b"]), mentionsIn("x@a", ["a"])]).toEqual([[], [{ path: "b" }, " ", { path: "a" }], ["x", { path: "a" }]]);
});

test("what the CLI writes for the model is not shown", () => {
  const id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
  expect([tidy(`Session ${id} is gone`), tidy("Too long · ctrl+o to see more"), tidy('Stop: Hook callback x failed: oh onFailure is "block", so this failure counts as a block.')]).toEqual([
    "Session … is gone", "Too long more", "Stop: a hook failed. That blocks the tool.",
  ]);
  expect([untag("a < b"), untag("<bash-stdout>\n\nx</bash-stdout>"), untag("\n<local-command-caveat>x</local-command-caveat>")]).toEqual(["a < b", "x", "x"]);
  expect([isRefusal(" The user doesn't want to take this action right now"), isRefusal("x The user doesn't want to take this action")]).toEqual([true, false]);
  expect(["mcp__a__b__c_d", "readFile2", "a_b", "a__b", "Ab", "_a"].map(toolName)).toEqual(["a · b c d", "Read file2", "A b", "A b", "Ab", "A"]);
  expect(pairsOf("=x\nA = b = c \nB")).toEqual({ A: "b = c", B: "" });
  expect(inline("x".repeat(longest + 1))).toHaveLength(1);
  expect(inline("*a*")[0]?.type).toBe("em");
});

test("the text of a row is what a reader sees", () => {
  const text = (row: object) => textOf({ key: "k", kind: "text", item: {}, more: false, ...row } as Row);
  expect([
    text({ block: { text: "a" }, message: { blocks: [{ text: "b" }] } }), text({ block: {} }), text({ message: { blocks: [{ text: "a" }, {}, { text: "b" }] } }), text({ item: { error: { message: "e" } } }), text({}),
    text({ block: { tool: { title: "t", input: { a: ["x", 7, { b: "y" }], c: "" }, result: "r" }, text: "no" } }),
  ]).toEqual(["a", "", "a\n\nb", "e", "", "t\nx\ny\nr"]);
  const deep = { block: { tool: { title: "", input: { a: { a: { a: { a: { a: { a: "six", b: { c: { d: "seven" } } } } } } } }, result: "" } } };
  expect([text(deep).includes("six"), text(deep).includes("seven")]).toEqual([true, false]);
});

test("a card has the parts of a request in their order, and nothing twice", () => {
  const parts = (more: object, cwd = "/w"): Part[] => partsOf({ type: "permission_request", kind: "tool", request_id: "1", provider: "x", ...more } as PermissionRequest, cwd);
  const shown = (more: object) => parts(more).map((p) => [p.kind, p.kind === "command" ? `${p.text} @${p.cwd}` : p.kind === "text" ? p.text : p.kind === "arguments" ? p.value : p.kind === "files" ? p.paths : p.kind === "options" ? p.of : ""]);
  expect(shown({ tool_name: "Bash", input: { command: "ls", cwd: "/c" } })).toEqual([["command", "ls @/c"]]);
  expect(shown({ tool_name: "Bash", input: { command: "ls", timeout: 5, run_in_background: true, sessionId: "s", env: ["a"], empty: [], text: "", off: null } })).toEqual([
    ["command", "ls @/w"], ["options", [["stopsAfter", 5], ["inBackground", true]]], ["arguments", { env: ["a"] }],
  ]);
  expect(shown({ tool_name: "Other", input: { timeout: 5, off: false } })).toEqual([["arguments", { timeout: 5, off: false }]]);
  expect([shown({ tool_name: "Other", input: "text" }), shown({ tool_name: "Other", input: null }), shown({ tool_name: "Other" }), shown({ tool_name: "Other", input: {} })]).toEqual([[["arguments", "text"]], [], [], [["arguments", {}]]]);
  const own = { tool_kind: "execute", input: { command: "ls -l", cwd: "/w", note: "seen", sessionId: "s", other: "new" } };
  expect(shown({ ...own, content: [{ type: "text", text: "Preparing the call…" }, { type: "text", text: "has seen it" }, { type: "image" }] })).toEqual([
    ["command", "ls -l @/w"], ["text", "has seen it"], ["text", '{"type":"image"}'], ["arguments", { cwd: "/w", other: "new" }],
  ]);
  const diff = { type: "diff", path: "/w/a", oldText: "a", newText: "b" };
  expect(shown({ tool_kind: "edit", input: { replace_all: true }, content: [diff], locations: [{ path: "/w/a" }, { path: "/w/b" }, { path: "/w" }, {}] })).toEqual([
    ["diff", ""], ["options", [["everyOccurrence", true]]], ["files", ["/w/b"]],
  ]);
  expect(shown({ tool_kind: "other", input: {}, content: [{ type: "text", text: "Preparing to read…" }] })).toEqual([["text", "Preparing to read…"]]);
  expect(parts({ tool_name: "Bash", input: { command: "ls" }, display_name: "N", request: { a: 1 } }).at(-1)).toEqual({ kind: "request", says: "part", request: { a: 1 } });
});

test("usage is added up field by field, and a table has each in its column", () => {
  const row = (group: string, n: number, cost_usd?: number) => ({
    group, input_tokens: n, output_tokens: 10 * n, cache_creation_input_tokens: 100 * n, cache_read_input_tokens: 1000 * n, ...(cost_usd === undefined ? {} : { cost_usd }),
  });
  const all = merge([row("b", 1, 0.5), row("a", 2, 0.25), row("b", 3)]);
  expect(all).toEqual([
    { group: "a", cost: 0.25, unpriced: false, in: 2, out: 20, write: 200, read: 2000 },
    { group: "b", cost: 0.5, unpriced: true, in: 4, out: 40, write: 400, read: 4000 },
  ]);
  expect(sumOf(all)).toEqual({ group: "", cost: 0.75, unpriced: true, in: 6, out: 60, write: 600, read: 6000 });
  expect([sumOf(all.slice(0, 1)).unpriced, totalTokens(all[0] as never)]).toEqual([false, 2222]);
  expect(csvOf(all)).toBe("day,cost_usd,input_tokens,output_tokens,cache_creation_input_tokens,cache_read_input_tokens\na,0.250000,2,20,200,2000\nb,,4,40,400,4000\n");
  expect([ceiling(1), ceiling(1.01), ceiling(2.5), ceiling(5), ceiling(10), ceiling(-1), ceiling(Number.NaN)]).toEqual([1, 2, 2.5, 5, 10, 1, 1]);
  const start = Date.parse("2026-01-01T00:00:00Z");
  const block = merge([row("2026-01-01T00:00:00Z", 1, 2), row("2026-01-01T05:00:00Z", 1, 2)]);
  expect([start - 1, start, start + 5 * 3600_000 - 1, start + 5 * 3600_000].map((now) => blocksNow(block, now).current?.group.slice(11, 13))).toEqual([undefined, "00", "00", "05"]);
  expect([blocksNow(block, 0).highest, blocksNow([], 0).highest]).toEqual([block[0], undefined]);
  const now = new Date(2026, 5, 30, 12).getTime();
  expect([everyDay([], now, "7").length, everyDay([], now, "30").length, everyDay(merge([row("2020-01-01", 1)]), now, "all").length, everyDay(merge([row("2026-06-28", 1)]), now, "all").map((d) => d.in)]).toEqual([7, 30, 366, [1, 0, 0]]);
  expect(clockTime(new Date(2026, 0, 1, 0, 5).getTime(), "de")).toBe("00:05");
});

test("heights agree with a plain list whatever is done with them", () => {
  let seed = 3;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const guess = (key: string) => 5 + (Number(key.slice(1)) % 7);
  const h = new Heights(guess);
  let keys: string[] = [];
  let known = new Map<string, number>();
  for (let i = 0; i < 400; i++) {
    const act = random(8);
    if (act < 3) {
      const same = random(keys.length + 1);
      const next = [...keys.slice(0, same), ...Array.from({ length: random(20) }, () => `k${random(40)}`)];
      h.setRows(next.map((key) => ({ key })), random(2) === 0 ? same : 0);
      keys = next;
    } else if (act < 7 && keys.length > 0) {
      const at = random(keys.length);
      const was = h.height(at);
      const to = 1 + random(30);
      expect(h.measure(at, to)).toBe(to - was);
      known.set(keys[at] ?? "", to);
      // A key that occurs twice would keep its old height if it was not measured.
      if (keys.filter((k) => k === keys[at]).length > 1) {
        h.forget();
        known = new Map();
      }
    } else {
      h.forget();
      known = new Map();
    }
    const heights = keys.map((k) => known.get(k) ?? guess(k));
    expect([h.length, h.total, keys.map((_, k) => h.height(k))], `step ${i}`).toEqual([keys.length, heights.reduce((a, b) => a + b, 0), heights]);
    let top = 0;
    heights.forEach((height, k) => {
      expect([h.top(k), h.at(top), h.at(top + height - 1)]).toEqual([top, k, k]);
      top += height;
    });
    expect([h.top(keys.length + 5), h.at(top), h.at(-1)]).toEqual([top, Math.max(0, keys.length - 1), 0]);
  }
  expect([h.measure(keys.length, 9), h.height(-1), h.keyAt(-1)]).toEqual([0, 0, ""]);
  const r = new Heights(() => 10);
  r.setRows(Array.from({ length: 10 }, (_, i) => ({ key: `${i}` })));
  expect([rangeFor(r, 0, 20, 5), rangeFor(r, 50, 20, 10), rangeFor(r, 95, 20, 10)]).toEqual([{ from: 0, to: 3 }, { from: 4, to: 9 }, { from: 8, to: 10 }]);
});
