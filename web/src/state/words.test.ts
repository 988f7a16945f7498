import { expect, test } from "vitest";
import { words } from "./words";

test("both languages have the same words, and none is empty in one of them", () => {
  const keys = (at: unknown, path: string): string[] =>
    typeof at === "object" && at !== null
      ? Object.entries(at).flatMap(([k, v]) => keys(v, `${path}.${k}`))
      : [`${path} ${at === "" ? "empty" : typeof at}`];
  expect(keys(words.zh, "").sort()).toEqual(keys(words.en, "").sort());
});

/** The functions among the words. */
function functions(at: unknown, path = ""): [string, (...args: unknown[]) => unknown][] {
  if (typeof at === "function") return [[path, at as (...args: unknown[]) => unknown]];
  if (typeof at !== "object" || at === null) return [];
  return Object.entries(at).flatMap(([k, v]) => functions(v, `${path}.${k}`));
}

test("one is singular and two are plural in English", () => {
  for (const [path, f] of functions(words.en))
    for (const n of [1, 2]) {
      let text = "";
      try {
        text = String(f(n, n, n, n));
      } catch {
        continue; // it is not of numbers
      }
      const counted = /(?<![\w.-]|of |than )(1|2) (?:answer|change|comment|event|file|folder|line|match|message|prompt|remark|session|step|turn|word)(s|es)?\b/g;
      for (const [, count, plural] of text.matchAll(counted)) expect(plural !== undefined, `${path}(${n}): ${text}`).toBe(count === "2");
    }
});
