import type { Block, ToolCall, ToolResult } from "./conversation";
import { setValue, str } from "./json";
import type { Lookup } from "./lookup";
import { toolType } from "./tooltype";

const toolBlocks: ReadonlySet<string> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

/** Whether a block of this type calls a tool. */
export function isTool(type: string): boolean {
  return toolBlocks.has(type);
}

/** Returns the tool call of a block, with all members known so far. */
export function toolOf(x: Lookup, b: Block, id: string, name: string): ToolCall {
  if (b.tool === undefined) {
    b.tool = { id: "", name: "", toolType: toolType(x.state.provider ?? "", ""), status: "in_progress" };
    x.calls.push(b.tool);
  }
  const t = b.tool;
  if (name !== "" && t.name !== name) {
    t.name = name;
    t.toolType = toolType(x.state.provider ?? "", name);
  }
  if (id !== "" && t.id !== id) {
    t.id = id;
    x.tools.set(id, t);
    adopt(x, t);
  }
  return t;
}

/** Assigns to a tool the last result that arrived before its call. */
function adopt(x: Lookup, tool: ToolCall): void {
  const refs = x.orphans.get(tool.id) ?? [];
  for (let ref = refs.pop(); ref !== undefined; ref = refs.pop()) {
    const r = ref.item.toolResult;
    if (r === undefined || !x.leave(ref)) continue;
    finish(tool, r);
    return;
  }
}

function finish(tool: ToolCall, r: ToolResult): void {
  delete tool.result;
  delete tool.toolUseResult;
  delete tool.resultUuid;
  delete tool.truncated;
  setValue(tool, "result", r.content);
  setValue(tool, "toolUseResult", r.toolUseResult);
  if (r.uuid) tool.resultUuid = r.uuid;
  if (r.truncated === true) tool.truncated = true;
  tool.status = r.isError ? "failed" : "success";
}

/** Stores the result of a tool in its call, or as a separate item if the call has not been seen. */
export function toolComplete(x: Lookup, parent: string, r: ToolResult): void {
  const tool = x.tools.get(r.toolUseId);
  if (tool !== undefined) {
    finish(tool, r);
    return;
  }
  x.orphan(x.add(parent, { kind: "tool_result", toolResult: r }));
}

/** A progress report of a tool. Output is added to its progress, never to its input. */
export function toolProgress(x: Lookup, id: string, elapsed: number, taskId: unknown, output: unknown): void {
  const tool = x.tools.get(id);
  if (tool === undefined) return;
  const p = (tool.progress ??= { elapsedSeconds: 0 });
  p.elapsedSeconds = elapsed;
  if (str(taskId) !== "") p.taskId = str(taskId);
  if (str(output) !== "") p.output = (p.output ?? "") + str(output);
}
