import { expect, test } from "vitest";
import { check, content, fields } from "./form";
import { answers, isAnswered, pick, questions } from "./question";
import { choices, coverage, updates } from "./rules";
import { fromTexts, ofTool } from "./diff";

const suggestion = {
  kind: "rules",
  label: "",
  update: {
    type: "addRules",
    behavior: "allow",
    destination: "localSettings",
    rules: [
      { toolName: "Bash", ruleContent: "npm run build:*" },
      { toolName: "Bash", ruleContent: "rm x" },
    ],
  },
};

test("each rule of a suggestion is a choice, and only what was chosen is sent", () => {
  const all = choices([
    suggestion,
    { update: { type: "setMode", mode: "acceptEdits", destination: "session" } },
    { update: { type: "addDirectories", directories: ["/a", "/b"], destination: "session" } },
    { update: { type: "somethingNew" } },
  ]);
  expect(all.map((c) => c.text)).toEqual([
    "Bash(npm run build:*)",
    "Bash(rm x)",
    "acceptEdits",
    "/a",
    "/b",
    "somethingNew",
  ]);
  expect(updates(all, new Map())).toEqual([]);
  expect(updates(all, new Map([[all[1]?.id ?? "", "session"]]))).toEqual([
    { type: "addRules", behavior: "allow", destination: "session", rules: [{ toolName: "Bash", ruleContent: "rm x" }] },
  ]);
  expect(choices("nonsense")).toEqual([]);
});

test("what a rule covers", () => {
  expect(coverage("Bash(npm run build:*)")).toEqual({ kind: "prefix", what: "npm run build" });
  expect(coverage("Bash(rm x)")).toEqual({ kind: "exact", what: "rm x" });
  expect(coverage("WebSearch")).toEqual({ kind: "all", what: "WebSearch" });
});

test("answers of several kinds", () => {
  const qs = questions([
    { question: "A?", multiSelect: true, options: [{ label: "x" }, { label: "y" }, { label: "z" }] },
    { question: "B?", options: [{ label: "p" }] },
    { question: "C?", options: [] },
  ]);
  const [a, b] = qs;
  if (!a || !b) throw new Error("no questions");
  const chosen = pick(a, pick(a, { labels: [] }, "z"), "x");
  expect(chosen.labels).toEqual(["x", "z"]);
  expect(pick(a, chosen, "x").labels).toEqual(["z"]);
  expect(pick(b, { labels: ["q"] }, "p").labels).toEqual(["p"]);
  expect(isAnswered({ labels: [], other: "  " })).toBe(false);
  expect(answers(qs, [{ ...chosen, other: "own" }, undefined, { labels: [] }])).toEqual({ "A?": "x, z, own" });
});

test("a form from a schema", () => {
  const f = fields({
    type: "object",
    required: ["t", "n"],
    properties: {
      t: { type: "string", minLength: 2 },
      n: { type: "integer", maximum: 90 },
      e: { type: "string", format: "email" },
      c: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
      m: { type: "array", items: { anyOf: [{ const: "x", title: "X" }] }, minItems: 1 },
      b: { type: "boolean", default: true },
    },
  });
  const by = new Map(f.map((x) => [x.name, x]));
  const fault = (name: string, v: string | boolean | string[]) => check(by.get(name) as never, v)?.key;
  expect([fault("t", ""), fault("t", "a"), fault("t", "ab")]).toEqual(["required", "minLength", undefined]);
  expect([fault("n", "x"), fault("n", "1.5"), fault("n", "91"), fault("n", "90")]).toEqual([
    "number",
    "integer",
    "max",
    undefined,
  ]);
  expect([fault("e", "x"), fault("e", ""), fault("e", "a@b")]).toEqual(["email", undefined, undefined]);
  expect([fault("m", []), fault("m", ["x"])]).toEqual(["min", undefined]);
  expect(by.get("c")?.options).toEqual([
    { value: "a", label: "A" },
    { value: "b", label: "B" },
  ]);
  expect(
    content(
      f,
      new Map<string, string | boolean | string[]>([
        ["t", "ab"],
        ["n", "12"],
      ]),
    ),
  ).toEqual({ t: "ab", n: 12, b: true });
  expect(fields("nonsense")).toEqual([]);
});

test("changes of files as lines", () => {
  const d = fromTexts("f", "a\nb\nc\n", "a\nB\nc\nd\n");
  expect([d.added, d.removed]).toEqual([2, 1]);
  expect(d.hunks[0]?.lines.map((l) => l.sign + l.text)).toEqual([" a", "-b", "+B", " c", "+d"]);
  expect(ofTool("CLAUDE_WRITE", { file_path: "f", content: "x\n" }, undefined)?.isNew).toBe(true);
  expect(ofTool("CLAUDE_READ", { file_path: "f" }, undefined)).toBeUndefined();
  const large = Array.from({ length: 6000 }, (_, i) => `${i}`).join("\n");
  const other = Array.from({ length: 6000 }, (_, i) => `x${i}`).join("\n");
  const began = performance.now();
  expect(fromTexts("f", large, other).cut).toBe(true);
  expect(performance.now() - began).toBeLessThan(2000);
});
