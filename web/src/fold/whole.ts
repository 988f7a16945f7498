import type { AssistantMessage, ResultMessage, UnknownMessage, UserMessage } from "../rpc/messages";
import type { Block, Message, Result, Thread, ToolResult, UnknownItem } from "./conversation";
import { fill, typeOf } from "./block";
import { get, isObj, list, num, setText, setValue, str, strings } from "./json";
import type { Lookup } from "./lookup";
import { toolComplete } from "./tool";

export function assistant(x: Lookup, msg: AssistantMessage): void {
  const parent = str(msg.parent_tool_use_id);
  retract(x, parent, strings(msg.supersedes));
  const m = x.answer(parent, str(msg.id), "complete");
  // Whole lines give the order, also where a message was streamed before.
  if (!m.blocks.some((b) => b.whole === true)) x.toEnd(parent, m);
  list(get(msg.message, "content")).forEach((content, i) => {
    const index = list(msg.indexes)[i];
    const b = x.block(m, typeof index === "number" ? index : i, typeOf(content)[0]);
    fill(x, b, content);
    setText(b, "uuid", msg.uuid);
  });
  if (m.state === "incomplete" && m.blocks.every((b) => b.state === "complete")) m.state = "complete";
  describe(m, msg);
  if (m.blocks.length === 0 && m.state !== "streaming") x.remove(parent, m);
}

function describe(m: Message, msg: AssistantMessage): void {
  setText(m, "model", get(msg.message, "model"));
  setText(m, "error", msg.error);
  setText(m, "agentId", msg.agent_id);
  setText(m, "stopReason", get(msg.message, "stop_reason"));
  setValue(m, "usage", get(msg.message, "usage"));
  if (m.timestamp === undefined) setText(m, "timestamp", msg.timestamp);
  if (msg.aborted === true) m.aborted = true;
}

/** Takes back the lines of the given uuids. */
function retract(x: Lookup, parent: string, uuids: string[]): void {
  if (uuids.length === 0) return;
  const gone = (b: Block): boolean => b.uuid !== undefined && uuids.includes(b.uuid);
  for (const item of [...x.thread(parent).items].reverse()) {
    const m = item.message;
    if (m === undefined || m.role !== "assistant") continue;
    const before = m.blocks.length;
    x.drop(m, gone);
    if (before > 0 && m.blocks.length === 0) x.remove(parent, m);
  }
}

/** A message in the user's role: results of tools go to their calls, the rest is one. */
export function user(x: Lookup, msg: UserMessage): void {
  const parent = str(msg.parent_tool_use_id);
  const rest: unknown[] = [];
  let results = 0;
  for (const content of list(get(msg.message, "content"))) {
    if (!isObj(content) || content["type"] !== "tool_result") {
      rest.push(content);
      continue;
    }
    const r: ToolResult = { toolUseId: str(content["tool_use_id"]), isError: content["is_error"] === true };
    setText(r, "uuid", msg.uuid);
    setValue(r, "content", content["content"]);
    if (results++ === 0) setValue(r, "toolUseResult", msg.tool_use_result);
    toolComplete(x, parent, r);
  }
  if (rest.length > 0 || results === 0) userMessage(x, parent, msg, rest);
}

function userMessage(x: Lookup, parent: string, msg: UserMessage, contents: unknown[]): void {
  const uuid = str(msg.uuid);
  let m = uuid === "" ? undefined : x.users.get(uuid);
  if (m === undefined) {
    m = { role: "user", state: "complete", blocks: [] };
    x.thread(parent).items.push({ kind: "message", message: m });
    if (uuid !== "") {
      m.uuid = uuid;
      x.users.set(uuid, m);
    }
  }
  m.blocks = contents.map((content, index) => {
    const b: Block = { index, type: "", state: "complete" };
    fill(x, b, content);
    return b;
  });
  if (msg.isPrompt === true) m.isPrompt = true;
  if (msg.isReplay === true) m.isReplay = true;
  flag(m, "isSynthetic", msg.isSynthetic);
  flag(m, "isMeta", msg.isMeta);
  delete m.origin;
  delete m.agentId;
  setText(m, "origin", msg.origin);
  setText(m, "agentId", msg.agent_id);
  setText(m, "timestamp", msg.timestamp);
}

function flag(m: Message, key: "isSynthetic" | "isMeta", on: unknown): void {
  if (on === true) m[key] = true;
  else delete m[key];
}

export function result(x: Lookup, msg: ResultMessage): void {
  const r: Result = {
    subtype: str(msg.subtype),
    isError: msg.is_error === true,
    numTurns: num(msg.num_turns),
    durationMs: num(msg.duration_ms),
  };
  setText(r, "uuid", msg.uuid);
  const main = x.thread("");
  if (!endsWith(main, str(msg.result))) setText(r, "text", msg.result);
  const errors = strings(msg.errors);
  if (errors.length > 0) r.errors = errors;
  setValue(r, "structuredOutput", msg.structured_output);
  setText(r, "stopReason", msg.stop_reason);
  setText(r, "terminalReason", msg.terminal_reason);
  if (list(msg.permission_denials).length > 0) r.permissionDenials = msg.permission_denials;
  main.items.push({ kind: "result", result: r });
  delete x.state.status;
  totals(x, msg);
}

/** Whether the last answer ends with a block of this text. */
function endsWith(t: Thread, text: string): boolean {
  for (let i = t.items.length - 1; i >= 0; i--) {
    const m = t.items[i]?.message;
    if (m === undefined || m.role !== "assistant") continue;
    for (let j = m.blocks.length - 1; j >= 0; j--) {
      const b = m.blocks[j];
      if (b?.type === "text") return (b.text ?? "") === text;
    }
    return false;
  }
  return false;
}

function totals(x: Lookup, msg: ResultMessage): void {
  const t = x.state.totals;
  t.turns++;
  t.costUsd = num(msg.total_cost_usd);
  t.durationMs += num(msg.duration_ms);
  t.durationApiMs = num(msg.duration_api_ms);
  t.inputTokens = num(t.inputTokens + num(get(msg.usage, "input_tokens")));
  t.outputTokens = num(t.outputTokens + num(get(msg.usage, "output_tokens")));
  t.cacheCreationInputTokens = num(t.cacheCreationInputTokens + num(get(msg.usage, "cache_creation_input_tokens")));
  t.cacheReadInputTokens = num(t.cacheReadInputTokens + num(get(msg.usage, "cache_read_input_tokens")));
  setValue(t, "modelUsage", msg.modelUsage);
}

export function unknown(x: Lookup, msg: UnknownMessage): void {
  const parent = str(msg.parent_tool_use_id);
  const originalType = str(msg.originalType);
  if (originalType === "system/model_refusal_fallback") {
    retract(x, parent, strings(get(msg.data, "retracted_message_uuids")));
  }
  const item: UnknownItem = { originalType };
  setValue(item, "data", msg.data);
  x.thread(parent).items.push({ kind: "unknown", unknown: item });
}
