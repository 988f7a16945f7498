import type { AssistantMessage, ResultMessage, UnknownMessage, UserMessage } from "../rpc/messages";
import type { Block, Message, ToolResult } from "./conversation";
import { fill, typeOf } from "./block";
import { get, isObj, list, num, over, setNumber, setText, setValue, str, strings } from "./json";
import type { Lookup } from "./lookup";
import { toolComplete } from "./tool";
import { retract } from "./turn";

export function assistant(x: Lookup, msg: AssistantMessage): void {
  const parent = str(msg.parent_tool_use_id);
  delete x.state.retry;
  retract(x, parent, strings(msg.supersedes));
  const m = x.answer(parent, str(msg.id), "complete");
  // Whole lines give the order, also where a message was streamed before.
  if (m.whole === 0) x.toEnd(m);
  const indexes = list(msg.indexes);
  list(get(msg.message, "content")).forEach((content, i) => {
    const index = indexes[i];
    const b = x.block(m, typeof index === "number" ? index : i, typeOf(content)[0]);
    m.count(b, -1);
    fill(x, b, content);
    m.count(b, 1);
    setText(b, "uuid", msg.uuid);
    x.line(m, b);
    if (parent === "" && b.type === "text") x.state.answer = { messageId: str(msg.id), index: b.index };
  });
  if (m.message.state === "incomplete" && m.live + m.broken === 0) m.message.state = "complete";
  describe(m.message, msg);
  if (m.n === 0 && m.message.state !== "streaming") x.remove(m);
}

function describe(m: Message, msg: AssistantMessage): void {
  setText(m, "model", get(msg.message, "model"));
  setText(m, "stopReason", get(msg.message, "stop_reason"));
  setValue(m, "usage", get(msg.message, "usage"));
  const { indexes, supersedes, ...line } = msg;
  line.message = { content: [] };
  if (m.line?.timestamp !== undefined) delete line.timestamp; // the first counts
  m.line = over(m.line, line);
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
    if (content["truncated"] === true) r.truncated = true;
    if (results++ === 0) setValue(r, "toolUseResult", msg.tool_use_result);
    toolComplete(x, parent, r);
  }
  if (rest.length > 0 || results === 0) userMessage(x, parent, msg, rest);
}

function userMessage(x: Lookup, parent: string, msg: UserMessage, contents: unknown[]): void {
  const uuid = str(msg.uuid);
  let m = uuid === "" ? undefined : x.users.get(uuid)?.message;
  if (m === undefined) {
    m = { role: "user", state: "complete", blocks: [] };
    const ref = x.add(parent, { kind: "message", message: m });
    if (uuid !== "") {
      m.uuid = uuid;
      x.users.set(uuid, { message: m, ref });
    }
  }
  m.blocks = contents.map((content, index) => {
    const b: Block = { index, type: "", state: "complete" };
    fill(x, b, content);
    return b;
  });
  const { tool_use_result, ...event } = msg;
  event.message = { content: [] };
  const old = m.user;
  if (old?.isPrompt === true) event.isPrompt = true;
  if (old?.isReplay === true) event.isReplay = true;
  if (str(msg.timestamp) === "") setText(event, "timestamp", old?.timestamp);
  m.user = event;
}

export function result(x: Lookup, msg: ResultMessage): void {
  const r = { ...msg };
  if (isAnswer(x, str(msg.result))) delete r.result;
  x.add("", { kind: "result", result: r });
  delete x.state.status;
  delete x.state.retry;
  if (x.turn !== undefined) x.turn.done = true;
  totals(x, msg);
}

/** Whether a text is the last one of the main thread. */
function isAnswer(x: Lookup, text: string): boolean {
  const ref = x.state.answer;
  if (ref === undefined) return false;
  const b = x.message("", ref.messageId)?.find(ref.index);
  return b !== undefined && b.type === "text" && (b.text ?? "") === text;
}

function totals(x: Lookup, msg: ResultMessage): void {
  const t = x.state.totals;
  t.turns++;
  setNumber(t, "costUsd", msg.total_cost_usd);
  t.durationMs += num(msg.duration_ms);
  t.durationApiMs = num(msg.duration_api_ms);
  t.inputTokens = num(t.inputTokens + num(get(msg.usage, "input_tokens")));
  t.outputTokens = num(t.outputTokens + num(get(msg.usage, "output_tokens")));
  t.cacheCreationInputTokens = num(t.cacheCreationInputTokens + num(get(msg.usage, "cache_creation_input_tokens")));
  t.cacheReadInputTokens = num(t.cacheReadInputTokens + num(get(msg.usage, "cache_read_input_tokens")));
  setValue(t, "modelUsage", msg.modelUsage);
}

export function unknown(x: Lookup, msg: UnknownMessage): void {
  x.add(str(msg.parent_tool_use_id), { kind: "unknown", unknown: msg });
}
