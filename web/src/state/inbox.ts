// Everything that waits for a person, in all sessions.

import { computed, signal } from "@preact/signals";
import type { PendingPrompt } from "../rpc/service";
import { call } from "./app";

export const inbox = signal<readonly PendingPrompt[]>([]);
/** The name of a request among those of all sessions: agents number theirs for themselves. */
export function promptKey(p: { session_id: string; prompt: { request_id: string } }): string {
  return `${p.session_id}/${p.prompt.request_id}`;
}

export const waiting = computed(() => inbox.value.length);

/** What was answered since the page was opened, newest first. */
export interface Answered {
  prompt: PendingPrompt;
  by: string;
  behavior: string;
  at: number;
}
export const answered = signal<readonly Answered[]>([]);

export function noteAnswer(a: Answered): void {
  const key = promptKey(a.prompt);
  answered.value = [a, ...answered.peek().filter((x) => promptKey(x.prompt) !== key)].slice(0, 50);
}

export async function refreshInbox(): Promise<void> {
  const r = await call("permission.list", {});
  const next = r.prompts ?? [];
  if (JSON.stringify(next) !== JSON.stringify(inbox.peek())) inbox.value = next;
}

/** The title of the window: how much waits stands first. */
export function windowTitle(waits: number, title: string): string {
  const name = title === "" ? "Parley" : `${title} · Parley`;
  return waits > 0 ? `(${waits}) ${name}` : name;
}

/** The prompts that were not there before, which are worth a notification. */
export function fresh(before: ReadonlySet<string>, now: readonly PendingPrompt[]): PendingPrompt[] {
  return now.filter((p) => !before.has(promptKey(p)));
}
