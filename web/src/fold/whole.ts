import type { AssistantMessage, ResultMessage, UnknownMessage, UserMessage } from "../rpc/messages";
import type { Block, Message, ToolResult, Totals } from "./conversation";
import { fill, typeOf } from "./block";
import { get, isObj, list, num, over, setText, setValue, str, strings } from "./json";
import { began, type Lookup } from "./lookup";
import { toolComplete } from "./tool";
import { retract } from "./turn";

export function assistant(x: Lookup, msg: AssistantMessage): void {
  const parent = str(msg.parent_tool_use_id);
  delete x.state.retry;
  retract(x, parent, strings(msg.supersedes));
  const m = x.answer(parent, str(msg.id), "complete");
  // Complete lines determine the order, even if a message was streamed before.
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
  if (m === undefined || (msg.isPrompt !== true && msg.isReplay !== true && (m.restart ?? 0) !== x.restarts)) {
    m = { role: "user", state: "complete", blocks: [] };
    began(m, x.restarts);
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
  if (str(msg.by) === "") setText(event, "by", old?.by);
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
  if (typeof msg.total_cost_usd === "number") {
    if (t.costUsd && anew(t, t.costUsd, msg, x.restarts)) t.costBefore = t.costUsd;
    t.costUsd = (t.costBefore ?? 0) + msg.total_cost_usd;
  }
  if (x.restarts > 0) t.restarts = x.restarts;
  t.durationMs += num(msg.duration_ms);
  t.durationApiMs = num(msg.duration_api_ms);
  t.inputTokens = num(t.inputTokens + num(get(msg.usage, "input_tokens")));
  t.outputTokens = num(t.outputTokens + num(get(msg.usage, "output_tokens")));
  t.cacheCreationInputTokens = num(t.cacheCreationInputTokens + num(get(msg.usage, "cache_creation_input_tokens")));
  t.cacheReadInputTokens = num(t.cacheReadInputTokens + num(get(msg.usage, "cache_read_input_tokens")));
  setValue(t, "modelUsage", msg.modelUsage);
}

/**
 * Whether an agent counts from 0 again: its total decreased, or it was restarted and a turn with usage did not increase
 * the total.
 */
function anew(t: Totals, costUsd: number, msg: ResultMessage, restarts: number): boolean {
  const grown = num(msg.total_cost_usd) - (costUsd - (t.costBefore ?? 0));
  const used = num(get(msg.usage, "input_tokens")) + num(get(msg.usage, "output_tokens"));
  const small = 1e-9; // the largest difference that rounding can make
  return grown < -small || (restarts !== (t.restarts ?? 0) && used > 0 && grown <= small);
}

export function unknown(x: Lookup, msg: UnknownMessage): void {
  x.add(str(msg.parent_tool_use_id), { kind: "unknown", unknown: msg });
}
