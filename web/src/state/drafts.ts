// Unsent text of each session.

import { type Signal, signal } from "@preact/signals";
import type { Obj } from "../fold/json";
import type { Picture } from "./session";

export interface DraftState {
  text: Signal<string>;
  contexts: Signal<readonly Obj[]>;
  images: Signal<readonly Picture[]>;
}

const drafts = new Map<string, DraftState>();

export function draft(id: string): DraftState {
  let d = drafts.get(id);
  if (d === undefined) {
    d = { text: signal(""), contexts: signal<readonly Obj[]>([]), images: signal<readonly Picture[]>([]) };
    drafts.set(id, d);
  }
  return d;
}

export function clear(d: DraftState): void {
  d.text.value = "";
  d.contexts.value = [];
  d.images.value = [];
}

/** Restores text that could not be sent, unless the person has written another one meanwhile. */
export function restore(
  d: DraftState,
  was: { text: string; contexts: readonly Obj[]; images: readonly Picture[] },
): void {
  if (d.text.peek() !== "" || d.contexts.peek().length > 0 || d.images.peek().length > 0) return;
  d.text.value = was.text;
  d.contexts.value = was.contexts;
  d.images.value = was.images;
}

/** A menu that the text before the caret opens. */
export interface Trigger {
  kind: "/" | "@";
  query: string;
  from: number;
}

/** A slash at the beginning opens commands; an @ at the beginning of a word opens files. */
export function trigger(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret);
  const slash = /^\/([\w:.-]*)$/.exec(before);
  if (slash) return { kind: "/", query: slash[1] ?? "", from: 0 };
  const at = /(?:^|[\s(])@([^\s@`]*)$/.exec(before.slice(-300));
  if (at) return { kind: "@", query: at[1] ?? "", from: caret - (at[1] ?? "").length - 1 };
  return undefined;
}

/** Ranks how well a name matches a query: smaller is better; undefined if it does not match. */
export function rank(name: string, query: string): number | undefined {
  const n = name.toLowerCase();
  const q = query.toLowerCase();
  const i = n.indexOf(q);
  if (i >= 0) return i;
  let at = -1;
  for (const c of q) {
    at = n.indexOf(c, at + 1);
    if (at < 0) return undefined;
  }
  return 100 + at;
}

/** The names that fit, best first, at most n. */
export function fitting<T>(all: readonly T[], name: (t: T) => string, query: string, n: number): T[] {
  return all
    .map((t, i) => ({ t, i, f: rank(name(t), query) }))
    .filter((x): x is { t: T; i: number; f: number } => x.f !== undefined)
    .sort((a, b) => a.f - b.f || a.i - b.i)
    .slice(0, n)
    .map((x) => x.t);
}
