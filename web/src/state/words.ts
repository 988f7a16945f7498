// The words of the page in its two languages.

import { en } from "./words.en";
import { zh } from "./words.zh";

/** The words of a language. Both have the same ones: the compiler sees to it. */
export type Words = typeof en;

export const words: Record<"en" | "zh", Words> = { en, zh };
