// The texts of the page in its two languages. Chinese is fetched when needed.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { en } from "./words.en";

/** The words of a language. The compiler checks that both have the same keys. */
export type Words = typeof en;

const chinese = signal<Words>(en);

/** Fetches the texts of a language. English is shown until they have arrived. */
export async function fetchWords(lang: "en" | "zh"): Promise<void> {
  if (lang === "en" || chinese.peek() !== en) return;
  chinese.value = (await import("./words.zh")).zh;
}

/** The texts in the chosen language. */
export function wordsOf(lang: ReadonlySignal<"en" | "zh">): ReadonlySignal<Words> {
  return computed(() => (lang.value === "zh" ? chinese.value : en));
}
