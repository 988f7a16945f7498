// The phase of a session, for the line above the input.

import type { FoldedConversation, ToolCall } from "../fold/conversation";
import { lastMessage } from "./known";
import type { SessionStore } from "./session";
import { tokens as count } from "./time";
import { titleOfCall } from "./tools";
import type { Words } from "./words";

export interface Phase {
  kind: "idle" | "waits" | "running" | "thinking" | "writing" | "api" | "silent" | "starting" | "ended" | "failed";
  text: string;
  detail: string;
  since?: number;
}

/** Silence longer than this, in ms, is shown. */
export const longSilence = 180_000;

export function isBusy(c: FoldedConversation): boolean {
  return c.state === "running" || c.state === "starting" || c.state === "requires_action" || c.state === "draining";
}

export function phaseOf(s: SessionStore, now: number, w: Words): Phase {
  const c = s.conversation;
  if (c.prompts.length > 0) return { kind: "waits", text: w.waitsForYou, detail: c.prompts.length > 1 ? w.requests(c.prompts.length) : "" };
  if (c.state === "failed" || c.state === "lost_host")
    return { kind: "failed", text: w.states[c.state] ?? c.state, detail: "" };
  if (c.state === "ended") return { kind: "ended", text: w.states["ended"] ?? "", detail: "" };
  if (c.state === "starting") return { kind: "starting", text: w.states["starting"] ?? "", detail: "" };
  if (!isBusy(c)) return { kind: "idle", text: "", detail: "" };
  const since = s.times.turn;
  const with_ = (p: Phase): Phase => (since === undefined ? p : { ...p, since });
  const silent = s.times.last > 0 ? now - s.times.last : 0;
  if (silent > longSilence) return with_({ kind: "silent", text: w.silent(Math.floor(silent / 60_000)), detail: "" });
  const tool = runningTool(c);
  if (tool) {
    const t = titleOfCall(tool, c.provider, w, c.cwd);
    const times = s.times.tool(tool.id);
    const start = times && times.start + times.waited;
    return {
      kind: "running",
      text: w.running(t.verb),
      detail: t.object,
      ...(start === undefined ? {} : { since: start }),
    };
  }
  const { message, tokens } = lastMessage(c);
  const block = message?.role === "assistant" ? message.blocks[message.blocks.length - 1] : undefined;
  // An agent may send the number of thinking tokens before the text of the thinking, or without it.
  if (block?.state === "streaming" ? block.type === "thinking" : tokens !== undefined && message?.role !== "assistant")
    return with_({ kind: "thinking", text: w.thinking, detail: tokens === undefined ? "" : w.tokens(count(tokens)) });
  if (block?.state === "streaming") return with_({ kind: "writing", text: w.writing, detail: "" });
  return with_({ kind: "api", text: (c.status && w.statuses[c.status]) || w.waitsForApi, detail: "" });
}

/** The last tool that has its input and no result. */
function runningTool(c: FoldedConversation): ToolCall | undefined {
  const items = c.threads[0]?.items ?? [];
  for (let i = items.length - 1, left = 7; i >= 0 && left > 0; i--) {
    if (items[i]?.unknown) continue;
    left--;
    const m = items[i]?.message;
    if (items[i]?.kind === "result") return undefined;
    for (let j = (m?.blocks.length ?? 0) - 1; j >= 0; j--) {
      const b = m?.blocks[j];
      if (b?.tool && b.tool.status === "in_progress" && b.state !== "streaming") return b.tool;
    }
  }
  return undefined;
}
