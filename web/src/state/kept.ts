// Text and choices outside of the input, such as the reason of an answer. They are kept while their component is not
// drawn.

import { type Signal, signal } from "@preact/signals";
import type { PendingPrompt } from "../rpc/service";
import { promptKey } from "./inbox";

/** How many values are kept: the most recently drawn ones. */
const most = 500;
/** The length of the part of a request that distinguishes it from another one with the same id. */
const mostOfRequest = 4000;

const all = new Map<string, Signal<unknown>>();

/** The value of a name, and a function that sets it. */
export function useKept<T>(name: string, initial: T): [T, (v: T) => void] {
  const s = (all.get(name) ?? signal<unknown>(initial)) as Signal<T>;
  all.delete(name);
  all.set(name, s);
  const oldest = all.keys().next().value;
  if (all.size > most && oldest !== undefined) all.delete(oldest);
  return [
    s.value,
    (v) => {
      s.value = v;
    },
  ];
}

/** Removes all values with this prefix. */
export function forget(prefix: string): void {
  for (const name of [...all.keys()]) if (name.startsWith(prefix)) all.delete(name);
}

/** Returns the prefix of the keys of all values of a request. */
export const requestPrefix = (p: PendingPrompt) => `${promptKey(p)}\n`;

/** Returns the prefix of the keys of this request's values. A restarted agent may use its id for another request. */
export function requestName(p: PendingPrompt): string {
  const { prompt } = p;
  const asked = prompt.type === "permission_request" ? prompt.input : (prompt.questions ?? prompt.message);
  const text = JSON.stringify([prompt.kind, prompt.tool_use_id, asked]);
  return `${requestPrefix(p)}${text.slice(0, mostOfRequest)}\n`;
}
