import type { Delta, Event, StreamEvent } from "../rpc/messages";
import type { Block } from "./conversation";
import { fillOther, typeOf } from "./block";
import { get, isObj, num, setText, setValue, str } from "./json";
import type { Lookup } from "./lookup";
import type { MessageIndex } from "./message";
import { isTool, toolOf } from "./tool";

/** Folds one event of the API's stream. */
export function streamEvent(x: Lookup, msg: StreamEvent): void {
  const parent = str(msg.parent_tool_use_id);
  const event: Event = msg.event;
  if (!isObj(event)) return;
  const id = str(msg.api_message_id) || (x.current.get(parent) ?? "");
  switch (event.type) {
    case "message_start":
      messageStart(x, parent, str(get(event.message, "id")) || id, get(event.message, "model"));
      return;
    case "content_block_start":
      if (isObj(event.content_block)) blockStart(x, parent, id, num(event.index), event.content_block);
      return;
    case "content_block_delta":
      delta(x, parent, id, num(event.index), event.delta);
      return;
    case "content_block_stop": {
      const m = x.message(parent, id);
      const b = m?.find(num(event.index));
      if (m !== undefined && b !== undefined) stop(m, b, event.incomplete === true);
      return;
    }
    case "message_delta":
      messageDelta(x.message(parent, id), event.delta, event.usage);
      return;
    case "message_stop":
      messageStop(x, parent, id, get(msg.abandoned_blocks, "from_block_index"));
      return;
    case "unknown":
      unknownEvent(x, parent, str(event.originalType), event.data);
      return;
    default:
      // An event of a newer server: kept, not understood.
      unknownEvent(x, parent, str(get(event, "type")), event);
  }
}

function unknownEvent(x: Lookup, parent: string, originalType: string, data: unknown): void {
  x.add(parent, { kind: "unknown", stream: true, unknown: { type: "unknown", originalType, data: data ?? null } });
}

function messageStart(x: Lookup, parent: string, id: string, model: unknown): void {
  delete x.state.retry;
  const m = x.answer(parent, id, "streaming");
  // The message exists already: its incomplete blocks are streamed again.
  x.dropPartial(m, -Infinity);
  m.message.state = "streaming";
  setText(m.message, "model", model);
  x.current.set(parent, id);
}

function blockStart(x: Lookup, parent: string, id: string, index: number, content: object): void {
  const [type, data] = typeOf(content);
  const m = x.answer(parent, id, "streaming");
  const b = x.block(m, index, type);
  if (b.whole === true) return;
  x.dropTool(b);
  m.count(b, -1);
  fillOther(b, type);
  b.state = "streaming";
  m.count(b, 1);
  m.open.push(b);
  if (type === "text") setText(b, "text", get(data, "text"));
  else if (type === "thinking") {
    setText(b, "text", get(data, "thinking"));
    if (get(data, "summary") === true) b.summary = true;
  } else if (isTool(type)) {
    const t = toolOf(x, b, str(get(data, "id")), str(get(data, "toolName") ?? get(data, "name")));
    setText(t, "title", get(data, "title"));
    setText(t, "kind", get(data, "kind"));
  } else setValue(b, "data", data);
  x.forgetBlock();
}

function delta(x: Lookup, parent: string, id: string, index: number, d: Delta): void {
  if (!isObj(d)) return;
  switch (d.type) {
    case "text_delta":
      append(x.delta(parent, id, index, "text"), d.text);
      return;
    case "thinking_delta":
      append(x.delta(parent, id, index, "thinking"), d.thinking);
      return;
    case "input_json_delta":
      inputDelta(x, x.delta(parent, id, index, "tool_use"), d.partial_json);
      return;
    case "signature_delta": {
      const b = x.delta(parent, id, index, "");
      if (b !== undefined) setText(b, "signature", (b.signature ?? "") + str(d.signature));
      return;
    }
    case "citations_delta": {
      const b = x.delta(parent, id, index, "");
      if (b !== undefined && isObj(d.citation)) (b.citations ??= []).push(d.citation);
      return;
    }
    case "unknown": {
      const b = x.delta(parent, id, index, "");
      // These come as unknown if they add no content.
      if (d.originalType !== "signature_delta" && d.originalType !== "citations_delta") unknownDelta(b, d.data);
      return;
    }
    default:
      unknownDelta(x.delta(parent, id, index, ""), d);
  }
}

function append(b: Block | undefined, text: unknown): void {
  if (b !== undefined && typeof text === "string" && text !== "") b.text = b.text === undefined ? text : b.text + text;
}

function inputDelta(x: Lookup, b: Block | undefined, partial: unknown): void {
  if (b === undefined) return;
  const tool = toolOf(x, b, "", "");
  if (str(partial) !== "") tool.inputText = (tool.inputText ?? "") + str(partial);
}

function unknownDelta(b: Block | undefined, data: unknown): void {
  if (b !== undefined) (b.deltas ??= []).push(data);
}

/** Ends a block. The text of a tool's input that is JSON now becomes its input. */
function stop(m: MessageIndex, b: Block, incomplete: boolean): void {
  if (b.whole === true || b.state !== "streaming") return;
  m.count(b, -1);
  b.state = incomplete ? "incomplete" : "complete";
  m.count(b, 1);
  const text = b.tool?.inputText;
  if (incomplete || b.tool === undefined || text === undefined) return;
  try {
    b.tool.input = JSON.parse(text) as unknown;
    delete b.tool.inputText;
  } catch {
    // It is not JSON: the text stays.
  }
}

function messageDelta(m: MessageIndex | undefined, d: unknown, usage: unknown): void {
  if (m === undefined) return;
  setText(m.message, "stopReason", get(d, "stop_reason"));
  setValue(m.message, "usage", usage);
}

function messageStop(x: Lookup, parent: string, id: string, abandonedFrom: unknown): void {
  if (x.current.get(parent) === id) x.current.delete(parent);
  const m = x.message(parent, id);
  if (m === undefined) return;
  if (typeof abandonedFrom === "number") x.dropPartial(m, abandonedFrom);
  for (const b of m.open) {
    if (m.has(b)) stop(m, b, true); // only if the block's stop is missing
  }
  m.open = [];
  m.message.state = m.broken > 0 ? "incomplete" : "complete";
  if (m.n === 0) x.remove(m);
}
