// Parts of the rows and cards of all tools: the head, the state at the end, and who answered.

import { type ComponentChildren, type ComponentType, createContext } from "preact";
import type { Decision, ToolCall } from "../../fold/conversation";
import { get, isObj, num } from "../../fold/json";
import { now, w } from "../../state/app";
import { decider } from "../../state/decided";
import type { Row } from "../../state/rows";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { isRefusal } from "../../state/tidy";
import { duration } from "../../state/time";
import { resultText, type Title } from "../../state/tools";
import { Icon } from "../icon";

/** Draws a row of a subagent: the tool that shows them is a part of a row itself. */
export const NestedRow = createContext<ComponentType<{ row: Row; store: SessionStore; nested?: boolean }>>(() => null);

export interface ToolProps {
  tool: ToolCall;
  store: SessionStore;
  streaming: boolean;
}

export function stateOf(t: ToolCall, store: SessionStore, streaming: boolean): ToolState {
  if (t.decision?.behavior === "deny") return "denied";
  if (t.status === "failed" || t.status === "error") return isRefusal(resultText(t.result)) ? "denied" : "failed";
  if (t.status === "success") return "done";
  if (t.status === "interrupted" || t.status === "cancelled" || t.status === "aborted") return "stopped";
  if (store.conversation.prompts.some((p) => p.tool_use_id === t.id && t.id !== "")) return "waits";
  const s = store.conversation.state;
  if (s !== undefined && s !== "running" && s !== "starting" && s !== "requires_action") return "stopped";
  return streaming || t.input === undefined ? "input" : "running";
}

export type ToolState = "input" | "waits" | "running" | "done" | "failed" | "denied" | "stopped";

/** The state of a tool at the end of its row: a word or its time, never colour alone. */
export function ToolMeta({
  tool,
  store,
  state,
  children,
}: {
  tool: ToolCall;
  store: SessionStore;
  state: ToolState;
  children?: ComponentChildren;
}) {
  const t = w.value;
  void store.version.value;
  const live = state === "running" || state === "input";
  const ran = store.times.ran(tool.id, live ? now.value : store.times.last) ?? progressTime(tool);
  const waited = store.times.tool(tool.id)?.waited ?? 0;
  return (
    <span class="meta">
      {children}
      {waited > 2000 && state !== "waits" && (
        <span class="no-p" title={t.waitedTitle}>
          {t.waited(duration(waited, t))}
        </span>
      )}
      {tool.decision?.by && isAllowed(tool.decision) && !isChoice(tool) && (
        <span class="no-p">{t.allowed(decider(tool.decision))}</span>
      )}
      {state === "waits" && (
        <span class="chip warn">
          <Icon name="clock" />
          {t.state.waits}
        </span>
      )}
      {state === "failed" && (
        <span class="chip bad">
          <Icon name="alert" />
          {t.state.failed}
        </span>
      )}
      {state === "denied" && (
        <span class="chip">
          <Icon name="x" />
          {t.state.denied}
        </span>
      )}
      {state === "stopped" && (
        <span class="chip">
          <Icon name="square" />
          {t.state.stopped}
        </span>
      )}
      {live && <span class="spin" role="img" aria-label={t.state[state]} />}
      {ran !== undefined && (live || ran >= 1000) && <span class="num">{duration(ran, t)}</span>}
    </span>
  );
}

function progressTime(tool: ToolCall): number | undefined {
  return tool.progress ? tool.progress.elapsedSeconds * 1000 : undefined;
}

export interface ShapeProps extends ToolProps {
  title: Title;
  input: unknown;
  state: ToolState;
}

export function Head({ title }: { title: Title }) {
  return (
    <>
      <span class="name">{plain(title.verb)}</span>
      {title.object !== "" && (
        <span class={`${title.mono ? "arg" : "two"} cut`} dir="auto">
          {plain(title.object)}
        </span>
      )}
    </>
  );
}

const isAllowed = (d: Decision) => d.behavior === "allow" || d.behavior === "accept";

/** Whether the decision about a call is the answer itself, which its row shows. */
const isChoice = (t: ToolCall) => t.toolType === "CLAUDE_ASK_USER_QUESTION" || t.toolType === "CLAUDE_EXIT_PLAN_MODE";

/** Shows who refused a call, and why. The meta of the row shows who allowed one. */
export function Denied({ decision: d }: { decision: Decision | undefined }) {
  if (!d || isAllowed(d)) return null;
  const by = decider(d);
  if (!d.message && by === "") return null;
  return (
    <p class="reason" dir="auto">
      <Icon name="comment" /> {w.value.denied(by, plain(d.message ?? ""))}
    </p>
  );
}

/** Returns the output of a call; empty for a denied call, because its result repeats the reason. */
export function outputOf(tool: ToolCall): string {
  return tool.decision?.behavior === "deny" ? "" : resultText(tool.result);
}

/** The usage that a result of a subagent carries. */
export function usageOf(result: unknown): { tools: number; ms: number; tokens: number } | undefined {
  if (!isObj(result)) return undefined;
  const tools = num(get(result, "totalToolUseCount"));
  const ms = num(get(result, "totalDurationMs"));
  const tokens = num(get(result, "totalTokens"));
  return tools + ms + tokens > 0 ? { tools, ms, tokens } : undefined;
}
