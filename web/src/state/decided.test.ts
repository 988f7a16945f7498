import { expect, test } from "vitest";
import type { ToolCall } from "../fold/conversation";
import { chosenAnswers, decider, isOutside, previewText } from "./decided";

const call = (result: unknown, toolUseResult?: unknown, input?: unknown) => ({ result, toolUseResult, input }) as ToolCall;

test("the chosen answers, of whatever form the result has", () => {
  const text = 'Your questions have been answered: "Which colour?"="Blue". You can now continue.';
  expect(chosenAnswers(call(text))).toEqual([["Which colour?", "Blue"]]);
  expect(chosenAnswers(call(text, { answers: { "Which?": ["a", "b"] } }))).toEqual([["Which?", "a, b"]]);
  expect(chosenAnswers(call('{"behavior":"allow","updatedInput":{"answers":{"Q":"A"}}}'))).toEqual([["Q", "A"]]);
  expect(chosenAnswers(call("nothing"))).toBeUndefined();
});

test("answers are in the order of their questions", () => {
  const asked = { questions: [{ question: "Which store?" }, { question: "All checks?" }] };
  const given = { answers: { "All checks?": "Yes", "Which store?": "Disk" } };
  expect(chosenAnswers(call("", given, asked))?.map(([q]) => q)).toEqual(["Which store?", "All checks?"]);
});

test("the owner of the server has no name", () => {
  expect(decider({ behavior: "deny", by: "owner" })).toBe("");
  expect(decider({ behavior: "deny", by: "phone" })).toBe("phone");
  expect(decider({ behavior: "deny" })).toBe("");
});

test("outside is what is not below the directory of the session", () => {
  expect(isOutside("/w/p/a.go", "/w/p")).toBe(false);
  expect(isOutside("/w/p", "/w/p")).toBe(false);
  expect(isOutside("/w/pp/a.go", "/w/p")).toBe(true);
  expect(isOutside("src/a.go", "/w/p")).toBe(false);
  expect(isOutside("../x", "/w/p")).toBe(true);
});

test("a preview is shown as it is, without its fence", () => {
  expect(previewText("```diff\n a\n-b\n```")).toBe(" a\n-b");
  expect(previewText("+---+\n| a |\n+---+")).toBe("+---+\n| a |\n+---+");
});
