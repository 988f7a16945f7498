import { expect, test } from "vitest";
import type { FoldedConversation } from "../fold/conversation";
import { carry, carryLimit } from "./carry";
import { branchName } from "./choices";
import { beginning, ending, oneLine } from "./safe";
import { foldText } from "./said";

const half = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const conversation = (text: string, input: unknown = {}) =>
  ({
    threads: [
      {
        items: [
          {
            message: {
              role: "assistant",
              blocks: [
                { type: "text", text },
                { type: "tool_use", tool: { name: "Bash", input } },
              ],
            },
          },
        ],
      },
    ],
  }) as unknown as FoldedConversation;

// Each function that shortens a text, with its limit.
const cuts: Record<string, { cut: (text: string) => string; limit: number }> = {
  beginning: { cut: (text) => beginning(text, 7), limit: 7 },
  ending: { cut: (text) => ending(text, 7), limit: 7 },
  oneLine: { cut: (text) => oneLine(text, 7), limit: 7 },
  foldText: { cut: (text) => foldText(text).shown, limit: 1500 },
  branchName: { cut: branchName, limit: 43 },
  carry: { cut: (text) => carry(conversation(text), "x").text, limit: carryLimit + 400 },
  "carry of an argument": { cut: (text) => carry(conversation("", { command: text }), "x").text, limit: 600 },
};

test.each(Object.keys(cuts))("%s cuts between two characters", (name) => {
  const { cut, limit } = cuts[name] ?? { cut: String, limit: 0 };
  for (const letter of ["a", "é", "界", "𝒳", "\u{20000}"]) {
    for (const before of ["", "b", "bb"]) {
      for (const after of ["", "c"]) {
        const got = cut(before + letter.repeat(carryLimit) + after);
        expect(half.exec(got)?.index, `${name} of ${before}${letter}…${after}`).toBeUndefined();
        expect(got.length, `${name} of ${before}${letter}…${after}`).toBeLessThanOrEqual(limit);
      }
    }
  }
});

test("a text within the limit is not changed, and a cut one loses no more than a character", () => {
  for (const text of ["", "a", "1234567", "12345𝒳", "𝒳23456"])
    expect([beginning(text, 7), ending(text, 7)]).toEqual([text, text]);
  expect([beginning("12345678", 7), beginning("123456𝒳", 7), beginning("12345𝒳8", 7)]).toEqual([
    "1234567",
    "123456",
    "12345𝒳",
  ]);
  expect([ending("12345678", 7), ending("𝒳345678", 7), ending("1𝒳45678", 7)]).toEqual(["2345678", "345678", "𝒳45678"]);
});

test("one line begins with the first word, however far that is", () => {
  expect(oneLine(`${" \n".repeat(500)}first words`, 10)).toBe("first wor…");
});
