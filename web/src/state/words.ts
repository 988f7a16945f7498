// The words of the page in its two languages. Those of Chinese are fetched when they are needed.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { en } from "./words.en";

/** The words of a language. Both have the same ones: the compiler sees to it. */
export type Words = typeof en;

const chinese = signal<Words>(en);

/** Fetches the texts of a language. English is shown until they have arrived. */
export async function fetchWords(lang: "en" | "zh"): Promise<void> {
  if (lang === "en" || chinese.peek() !== en) return;
  chinese.value = (await import("./words.zh")).zh;
}

/** The words of the language that is chosen. */
export function wordsOf(lang: ReadonlySignal<"en" | "zh">): ReadonlySignal<Words> {
  return computed(() => (lang.value === "zh" ? chinese.value : en));
}
