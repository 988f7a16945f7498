// Everything that waits for a person, in all sessions.

import { computed, signal } from "@preact/signals";
import { get, list, str } from "../fold/json";
import type { PendingPrompt, Prompt } from "../rpc/service";
import { call, refreshers } from "./app";

export const inbox = signal<readonly PendingPrompt[]>([]);
/** The name of a request among those of all sessions: the ids of agents can be equal. */
export function promptKey(p: { session_id: string; prompt: { request_id: string } }): string {
  return `${p.session_id}/${p.prompt.request_id}`;
}

export const waiting = computed(() => inbox.value.length);

/**
 * Whether a request can be answered on a card, because the card shows everything that it would allow. Plans are
 * answered in their session.
 */
export function fitsCard(p: Prompt): boolean {
  const lines = (text: string) => (text === "" ? 0 : text.split("\n").length);
  if (p.type === "question_request") {
    const questions = Array.isArray(p.questions) ? p.questions : [];
    return p.kind !== "elicitation" && questions.every((q) => list(get(q, "options")).length <= 4);
  }
  if (p.kind === "plan") return false;
  const { input } = p;
  const changed = ["old_string", "new_string", "content"].reduce((n, key) => n + lines(str(get(input, key))), 0);
  const command = get(input, "command");
  const said = typeof command === "string" ? command : "";
  return changed <= 12 && list(get(input, "edits")).length === 0 && lines(said) <= 4 && said.length <= 400;
}

export async function refreshInbox(): Promise<void> {
  const r = await call("permission.list", {});
  const next = r.prompts ?? [];
  if (JSON.stringify(next) !== JSON.stringify(inbox.peek())) inbox.value = next;
}

/** Returns the title of the window, which begins with the number of open requests. */
export function windowTitle(waits: number, title: string): string {
  const name = title === "" ? "Parley" : `${title} · Parley`;
  return waits > 0 ? `(${waits}) ${name}` : name;
}

/** The new prompts, which cause a notification. */
export function fresh(before: ReadonlySet<string>, now: readonly PendingPrompt[]): PendingPrompt[] {
  return now.filter((p) => !before.has(promptKey(p)));
}

refreshers.push(refreshInbox);
