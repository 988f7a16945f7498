import { expect, test } from "vitest";
import { signal } from "@preact/signals";
import { fetchWords, wordsOf } from "./words";
import { en } from "./words.en";
import { zh } from "./words.zh";

test("both languages have the same words, and none is empty in one of them", () => {
  const keys = (at: unknown, path: string): string[] =>
    typeof at === "object" && at !== null
      ? Object.entries(at).flatMap(([k, v]) => keys(v, `${path}.${k}`))
      : [`${path} ${at === "" ? "empty" : typeof at}`];
  expect(keys(zh, "").sort()).toEqual(keys(en, "").sort());
});

/** The functions among the words. */
function functions(at: unknown, path = ""): [string, (...args: unknown[]) => unknown][] {
  if (typeof at === "function") return [[path, at as (...args: unknown[]) => unknown]];
  if (typeof at !== "object" || at === null) return [];
  return Object.entries(at).flatMap(([k, v]) => functions(v, `${path}.${k}`));
}

test("one is singular and two are plural in English", () => {
  for (const [path, f] of functions(en))
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

test("every sentence with figures or names says them, in both languages", async () => {
  const lines: string[] = [];
  for (const [language, all] of Object.entries({ en, zh }))
    for (const [path, f] of functions(all)) {
      const known = new Set<string>();
      for (const args of [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 0, 1], [0, 4, 1], ["a", "b", "c"], ["", "", ""], [["a", "b"], 1, 2]])
        try {
          const said = f(...args);
          if (typeof said !== "string" || known.has(said)) continue;
          known.add(said);
          lines.push(`${language}${path}(${JSON.stringify(args.slice(0, f.length)).slice(1, -1)}) ${said}`);
        } catch {
          // not for arguments of this kind
        }
    }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("testdata/words.txt");
});

test("the words of Chinese are shown once they are there", async () => {
  const lang = signal<"en" | "zh">("zh");
  const w = wordsOf(lang);
  expect(w.value).toBe(en);
  await fetchWords("en");
  expect(w.value).toBe(en);
  await fetchWords("zh");
  expect(w.value).toBe(zh);
  lang.value = "en";
  expect(w.value).toBe(en);
});
