import { expect, test } from "vitest";
import { check, content, fields, type Value } from "./form";
import { answers, isAnswered, pick, questions } from "./question";
import { choices, coverage, updates } from "./rules";

const one = (schema: object, required = false) => {
  const [f] = fields({ properties: { x: schema }, required: required ? ["x"] : [] });
  if (f === undefined) throw new Error("no field");
  return f;
};

test("the kind of a field comes from its type, its choices and its format", () => {
  for (const [schema, kind] of [
    [{ type: "boolean" }, "flag"],
    [{ type: "number" }, "number"],
    [{ type: "integer" }, "integer"],
    [{ type: "array" }, "choices"],
    [{ type: "string", enum: ["a"] }, "choice"],
    [{ oneOf: [] }, "choice"],
    [{ anyOf: [] }, "choice"],
    [{ type: "string", format: "email" }, "email"],
    [{ type: "string", format: "date" }, "date"],
    [{ type: "string", format: "uri" }, "url"],
    [{ type: "string", format: "date-time" }, "datetime"],
    [{ type: "string", format: "newer" }, "text"],
    [{}, "text"],
  ] as const)
    expect(one(schema).kind, JSON.stringify(schema)).toBe(kind);
});

test("a field has its names, bounds, choices and what it begins with", () => {
  expect(one({ type: "string", title: "T", description: "D", minimum: 1, maximum: 2, minLength: 3, maxLength: 4, default: "d" }, true)).toEqual({
    name: "x", title: "T", description: "D", kind: "text", required: true, options: [], min: 1, max: 2, minLength: 3, maxLength: 4, initial: "d",
  });
  expect(one({ minimum: "1" })).toEqual({ name: "x", title: "x", description: "", kind: "text", required: false, options: [], initial: "" });
  expect(one({ type: "array", minItems: 1, maxItems: 2, items: { enum: ["a", "b"] }, default: ["a"] })).toMatchObject({
    min: 1, max: 2, options: [{ value: "a", label: "a" }, { value: "b", label: "b" }], initial: ["a"],
  });
  const open = one({ type: "array", minItems: "1", items: {} });
  expect([open.min, open.max, open.initial]).toEqual([undefined, undefined, []]);
  expect(one({ type: "string", minItems: 1, maxItems: 2 })).not.toHaveProperty("min");
  expect(one({ oneOf: [{ const: "a", title: "A" }], anyOf: [{ const: "b" }], enum: ["c"] }).options).toEqual([{ value: "a", label: "A" }, { value: "b", label: "b" }]);
  expect(one({ enum: ["a", "b"], enumNames: ["A"] }).options).toEqual([{ value: "a", label: "A" }, { value: "b", label: "b" }]);
  const initial = (type: string, v: unknown) => one({ type, default: v }).initial;
  expect([initial("boolean", true), initial("boolean", "true"), initial("number", 3), initial("string", true), initial("array", "a")]).toEqual([true, false, "3", "", []]);
});

test("a value is wrong outside of each bound, and right at it", () => {
  const cases: [object, [Value, string | undefined, number?][]][] = [
    [{ type: "boolean" }, [[false, undefined], [true, undefined]]],
    [{ type: "array", minItems: 2, maxItems: 3 }, [[["a"], "min", 2], [["a", "b"], undefined], [["a", "b", "c"], undefined], [["a", "b", "c", "d"], "max", 3]]],
    [{ type: "number", minimum: 1, maximum: 2 }, [["0.9", "min", 1], ["1", undefined], ["2", undefined], ["2.1", "max", 2], ["x", "number"], [" ", "number"], ["Infinity", "number"], ["1.5", undefined]]],
    [{ type: "integer", minimum: 1 }, [["1.5", "integer"], ["1", undefined], ["0", "min", 1]]],
    [{ type: "string", minLength: 2, maxLength: 3 }, [["a", "minLength", 2], ["ab", undefined], ["😀😀😀", undefined], ["abcd", "maxLength", 3]]],
    [{ format: "email" }, [["a b@c", "email"], ["a@b", undefined]]],
    [{ format: "uri" }, [["x", "url"], ["https://x", undefined]]],
    [{ format: "date" }, [["x", "date"], ["2026-01-02", undefined]]],
    [{ format: "date-time" }, [["x", "date"], ["2026-01-02T03:04:05Z", undefined]]],
    [{ type: "string" }, [["not a date", undefined]]],
  ];
  for (const [schema, values] of cases)
    for (const [v, key, n] of values) expect(check(one(schema), v), `${JSON.stringify(schema)} ${String(v)}`).toEqual(key && { key, ...(n === undefined ? {} : { n }) });
  for (const schema of [{ type: "string" }, { type: "number" }]) {
    expect(check(one(schema, true), "")).toEqual({ key: "required" });
    expect(check(one(schema), "")).toBeUndefined();
  }
  expect(check(one({ type: "array" }, true), [])).toEqual({ key: "required" });
  expect(check(one({ type: "array" }), [])).toBeUndefined();
});

test("the answer has what was written, and what is required", () => {
  const schema = {
    required: ["list", "text"],
    properties: { text: {}, n: { type: "number" }, i: { type: "integer" }, list: { type: "array" }, more: { type: "array" }, flag: { type: "boolean" }, d: { default: "kept" } },
  };
  const of = (...values: [string, Value][]) => content(fields(schema), new Map(values));
  expect(of()).toEqual({ list: [], flag: false, d: "kept" });
  expect(of(["text", "7"], ["n", "1.5"], ["i", "2"], ["more", ["a"]], ["flag", true], ["d", ""])).toEqual({ text: "7", n: 1.5, i: 2, list: [], more: ["a"], flag: true });
});

test("a question has all that an option tells", () => {
  expect(questions([{ question: "Q", header: "H", multiSelect: true, options: ["plain", { label: "l", description: "d", preview: "p" }] }, { multiSelect: "yes" }])).toEqual([
    { question: "Q", header: "H", multi: true, options: [{ label: "plain", description: "", preview: "" }, { label: "l", description: "d", preview: "p" }] },
    { question: "", header: "", multi: false, options: [] },
  ]);
  const [q] = questions([{ multiSelect: true, options: ["a", "b"] }]);
  if (q === undefined) throw new Error("no question");
  expect(pick(q, { labels: ["b"], other: "own" }, "a")).toEqual({ labels: ["a", "b"], other: "own" });
  expect(pick({ ...q, multi: false }, { labels: ["b"], other: "own" }, "a")).toEqual({ labels: ["a"] });
  expect([isAnswered(undefined), isAnswered({ labels: [] }), isAnswered({ labels: ["a"] }), isAnswered({ labels: [], other: "x" })]).toEqual([false, false, true, true]);
  expect(answers([q], [{ labels: [], other: " x " }])).toEqual({ "": "x" });
});

test("a suggestion keeps where it goes, and each choice has its own id and update", () => {
  const rules = [{ toolName: "Bash", ruleContent: "" }, { toolName: "Read" }];
  const all = choices([
    { type: "addRules", behavior: "deny", destination: "userSettings", rules },
    { type: "replaceRules", rules: rules.slice(1) },
    { type: "removeRules", rules: rules.slice(1) },
    "odd",
    { type: "setMode", mode: "plan", destination: "projectSettings" },
    { type: "removeDirectories", directories: ["/d", 7] },
    { of: "no type" },
  ]);
  expect(all.map((c) => [c.id, c.kind, c.text, c.behavior, c.scope])).toEqual([
    ["0.0", "rule", "Bash()", "deny", "userSettings"],
    ["0.1", "rule", "Read", "deny", "userSettings"],
    ["1.2", "rule", "Read", "", "session"],
    ["2.3", "rule", "Read", "", "session"],
    ["4.4", "mode", "plan", "", "projectSettings"],
    ["5.5", "directory", "/d", "", "session"],
    ["6.6", "other", '{"of":"no type"}', "", "session"],
  ]);
  expect(updates(all, new Map([["5.5", "localSettings"], ["0.1", "session"]]))).toEqual([
    { type: "addRules", behavior: "deny", destination: "session", rules: [{ toolName: "Read" }] },
    { type: "removeDirectories", directories: ["/d"], destination: "localSettings" },
  ]);
});

test("what a rule covers is a beginning where it ends with a star", () => {
  for (const [rule, kind, what] of [
    ["Bash(a:*)", "prefix", "a"], ["Bash(a *)", "prefix", "a"], ["Read(/src/**)", "prefix", "/src/"], ["Bash(a*)", "prefix", "a"], ["Bash(*)", "prefix", ""],
    ["Bash(a\nb)", "exact", "a\nb"], ["Bash()", "exact", ""], ["Bash", "all", "Bash"], ["(a)", "all", "(a)"],
  ] as const)
    expect(coverage(rule), rule).toEqual({ kind, what });
});
