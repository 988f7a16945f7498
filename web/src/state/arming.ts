// Which request, if any, is answered by letters, and when a key may answer it. A person arms one
// request with a deliberate step; a sentence that is typed by mistake must never be an answer.

import { signal } from "@preact/signals";

/** How long the armed state must have been visible. */
export const visibleFor = 600;
/** How long no other character may have been typed. */
export const quietFor = 1000;

/** The promptKey of the armed request; empty if no request is armed. */
export const armed = signal("");

/** When characters were typed anywhere on the page. */
let before = Number.NEGATIVE_INFINITY;
let last = Number.NEGATIVE_INFINITY;
let lastOther = Number.NEGATIVE_INFINITY;
/** Since when the armed state has been visible. */
let shown: number | undefined;
/** The text typed since the request was armed. */
let typed = "";

/** Records that a character is typed now, in any element. */
export function noteCharacter(now: number, isDigit = false): void {
  before = last;
  last = now;
  if (!isDigit) lastOther = now;
}

/** The pause before the last recorded character. */
export function gap(): number {
  return last - before;
}

export function arm(key: string): void {
  if (armed.peek() === key) return; // it has been visible since
  armed.value = key;
  shown = undefined;
  typed = "";
}

/** Records whether the armed request is in view. */
export function setShown(inView: boolean, now: number): void {
  if (!inView) shown = undefined;
  else shown ??= now;
}

/** Disarms the request and returns the text typed since it was armed. */
export function disarm(): string {
  const text = typed;
  armed.value = "";
  shown = undefined;
  typed = "";
  return text;
}

/** Stores a character that does not answer yet, because it may begin a sentence. */
export function hold(character: string): void {
  typed += character;
}

/**
 * Whether a key may answer now. The character itself has been noted if it is one; Enter and the keys that
 * press a button are not characters.
 */
export function mayAnswer(isCharacter: boolean, now: number): boolean {
  return ready(shown, isCharacter, now);
}

/** Whether a digit may choose an option now. This does not answer the request, so several can follow each other. */
export function mayChoose(now: number): boolean {
  return shown !== undefined && now - shown >= visibleFor && now - lastOther >= quietFor;
}

/** Whether a key may press a control that has had the focus since a time. */
export function ready(since: number | undefined, isCharacter: boolean, now: number): boolean {
  return since !== undefined && now - since >= visibleFor && now - (isCharacter ? before : last) >= quietFor;
}
