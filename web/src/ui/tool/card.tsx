// A tool call: a row, or a card where there is something to look at.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Decision, ToolCall } from "../../fold/conversation";
import { get, isObj, num } from "../../fold/json";
import { now, w } from "../../state/app";
import { chosenAnswers } from "../../state/decided";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { isRefusal } from "../../state/tidy";
import { duration } from "../../state/time";
import { inputOf, metaOf, ownType, resultImages, resultText, type Title, titleOf } from "../../state/tools";
import { Icon } from "../icon";
import { Bash } from "./bash";
import { Change } from "./change";
import { Output, Pictures, Raw } from "./output";
import { Subagent } from "./task";

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

/** A tool by its type. Every shape keeps its parts in the same place. */
export function Tool(p: ToolProps) {
  const input = inputOf(p.tool);
  const own = p.store.conversation.provider?.startsWith("acp:") === true;
  const type = own ? ownType(p.tool.toolType, p.tool.kind ?? "", input, p.tool.content) : p.tool.toolType;
  const title = titleOf((own && p.tool.title) || p.tool.name, type, input, w.value, p.store.conversation.cwd);
  const state = stateOf(p.tool, p.store, p.streaming);
  if (state === "waits") return <Waiting {...p} title={title} input={input} state={state} />;
  if (p.tool.toolType === "CLAUDE_ASK_USER_QUESTION" && p.tool.result !== undefined)
    return <Answered {...p} title={title} input={input} state={state} />;
  if (title.shape === "bash") return <Bash {...p} title={title} input={input} state={state} />;
  if (title.shape === "task") return <Subagent {...p} title={title} input={input} state={state} />;
  if (title.shape === "diff") return <Change {...p} title={title} input={input} state={state} />;
  return <Row {...p} title={title} input={input} state={state} />;
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

/** A call that waits for a person: the request has all of it. */
function Waiting({ tool, store, title, state }: ShapeProps) {
  return (
    <div class="card-h plain-h">
      <Head title={title} />
      <ToolMeta tool={tool} store={store} state={state} />
    </div>
  );
}

/** A question after its answer: what was asked, and what was chosen. */
function Answered({ tool, store, title, state }: ShapeProps) {
  const t = w.value;
  const chosen = chosenAnswers(tool);
  return (
    <div class="answered">
      <div class="card-h plain-h">
        <Head title={chosen && chosen.length > 1 ? { ...title, object: "" } : title} />
        <ToolMeta tool={tool} store={store} state={state === "failed" || state === "denied" ? "done" : state} />
      </div>
      {chosen ? (
        chosen.map(([question, answer]) => (
          <p key={question} dir="auto">
            {chosen.length > 1 && <span class="dim">{plain(question)}</span>}
            <span class="chose">
              <Icon name="check" /> {plain(answer)}
            </span>
          </p>
        ))
      ) : (
        <p class="dim">{t.ask.skipped}</p>
      )}
    </div>
  );
}

function Row({ tool, store, title, state, input }: ShapeProps) {
  void store.version.value;
  const images = resultImages(tool.result);
  const [open, setOpen] = useState(false);
  return (
    <details class="fold" open={open || images.length > 0} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Head title={title} />
        <ToolMeta tool={tool} store={store} state={state}>
          <span class="no-p">{metaOf(tool, w.value)}</span>
        </ToolMeta>
        <Icon name="chevron" class="chev" />
      </summary>
      <Denied decision={tool.decision} />
      {images.length > 0 && <Pictures images={images} />}
      {open && <RowBody tool={tool} store={store} input={input} />}
    </details>
  );
}

function RowBody({ tool, store, input }: { tool: ToolCall; store: SessionStore; input: unknown }) {
  void store.version.value;
  const text = resultText(tool.result);
  const unknown = tool.toolType === "MCP" || !/^CLAUDE_(READ|GLOB|GREP|WEB_|TODO)/.test(tool.toolType);
  return (
    <div class="card under">
      {unknown && (
        <Raw label={w.value.input} value={tool.inputText && tool.input === undefined ? tool.inputText : input} />
      )}
      {text !== "" ? (
        <Output text={text} bad={tool.status === "failed"} />
      ) : (
        tool.result !== undefined && <Raw label={w.value.result} value={tool.result} />
      )}
    </div>
  );
}

/** Who answered, and why a person said no. */
export function Denied({ decision: d }: { decision: Decision | undefined }) {
  if (!d || (!d.message && !d.by)) return null;
  const who = d.by
    ? d.behavior === "allow" || d.behavior === "accept"
      ? w.value.allowedBy(plain(d.by))
      : w.value.deniedBy(plain(d.by))
    : "";
  return (
    <p class="reason">
      {who} {plain(d.message ?? "")}
    </p>
  );
}

/** The usage that a result of a subagent carries. */
export function usageOf(result: unknown): { tools: number; ms: number; tokens: number } | undefined {
  if (!isObj(result)) return undefined;
  const tools = num(get(result, "totalToolUseCount"));
  const ms = num(get(result, "totalDurationMs"));
  const tokens = num(get(result, "totalTokens"));
  return tools + ms + tokens > 0 ? { tools, ms, tokens } : undefined;
}
