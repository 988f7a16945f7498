// The plan of a session as a checklist.

import type { FoldedConversation } from "../fold/conversation";
import type { Step } from "./tools";

/** The steps of the main thread's plan. */
export function planSteps(c: FoldedConversation): Step[] {
  const entries = c.threads[0]?.plan?.entries ?? [];
  return entries.map((e) => ({
    text: e.status === "in_progress" ? e.activeForm || e.content : e.content,
    state: e.status === "completed" ? "done" : e.status === "in_progress" ? "now" : "open",
  }));
}

export function planDone(steps: readonly Step[]): number {
  return steps.filter((s) => s.state === "done").length;
}

/** The current step, or else the first open one. */
export function planNow(steps: readonly Step[]): string {
  return (steps.find((s) => s.state === "now") ?? steps.find((s) => s.state === "open"))?.text ?? "";
}

/** Returns the cost of a session. A restarted agent counts its usage from 0 again; the totals continue. */
export function costOf(c: FoldedConversation): number | undefined {
  return c.totals.costUsd ?? c.usage?.cost_usd;
}

/** How full the context window is: a share from 0 to 1; undefined if unknown. */
export function contextShare(c: FoldedConversation): number | undefined {
  const u = c.usage;
  if (u?.context_tokens === undefined || !u.context_window) return undefined;
  return Math.min(1, u.context_tokens / u.context_window);
}
