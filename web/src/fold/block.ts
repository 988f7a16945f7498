import type { Block } from "./conversation";
import { get, isObj, list, setText, setValue, str } from "./json";
import type { Lookup } from "./lookup";
import { isTool, toolOf } from "./tool";

/** The type and the content of a block; for a block of an unknown type, those of the block that it wraps. */
export function typeOf(content: unknown): [string, unknown] {
  const type = str(get(content, "type"));
  if (type === "unknown" && isObj(content) && "originalType" in content) {
    return [str(content["originalType"]), get(content, "data")];
  }
  return [type, content];
}

/** Sets the type of a block and clears its content. */
export function fillOther(b: Block, type: string): void {
  b.type = type;
  delete b.whole;
  delete b.uuid;
  delete b.text;
  delete b.signature;
  delete b.summary;
  delete b.citations;
  delete b.tool;
  delete b.data;
  delete b.deltas;
}

/** Fills a block from the complete block, and drops the state of its deltas. */
export function fill(x: Lookup, b: Block, content: unknown): void {
  const [type, data] = typeOf(content);
  const tool = b.tool;
  fillOther(b, type);
  if (type === "text") {
    setText(b, "text", get(data, "text"));
    const citations = list(get(data, "citations"));
    if (citations.length > 0) b.citations = citations;
  } else if (type === "thinking") {
    setText(b, "text", get(data, "thinking"));
    setText(b, "signature", get(data, "signature"));
    if (get(data, "summary") === true) b.summary = true;
  } else if (isTool(type)) {
    if (tool !== undefined) b.tool = tool;
    const t = toolOf(x, b, str(get(data, "id")), str(get(data, "toolName") ?? get(data, "name")));
    delete t.input;
    delete t.inputText;
    setValue(t, "input", get(data, "input"));
    setText(t, "title", get(data, "title"));
    setText(t, "kind", get(data, "kind"));
    setValue(t, "content", get(data, "content"));
    setValue(t, "locations", get(data, "locations"));
  } else {
    setValue(b, "data", data);
    if (type.endsWith("_tool_result")) serverResult(x, data);
  }
  b.state = "complete";
  b.whole = true;
}

/**
 * Completes a call of a server-side tool from its result, which is another block of the same
 * message.
 */
function serverResult(x: Lookup, data: unknown): void {
  const tool = x.tools.get(str(get(data, "tool_use_id")));
  if (tool === undefined) return;
  const result = get(data, "content");
  delete tool.result;
  setValue(tool, "result", result);
  const failed = isObj(result) && "error_code" in result;
  tool.status = failed || get(data, "is_error") === true ? "failed" : "success";
}
