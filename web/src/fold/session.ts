import type {
  CompactBoundary,
  PermissionRequest,
  QuestionRequest,
  StatusSystem,
  SystemInit,
  TaskNotification,
  TaskProgress,
  TaskStarted,
  TaskUpdated,
} from "../rpc/messages";
import type { Choice, Compaction, Decision, Init, MCPServer, Prompt, Question, QueueItem, Suggestion } from "./conversation";
import { get, isObj, list, num, setNumber, setText, setValue, str, strings } from "./json";
import type { Lookup, State } from "./lookup";

type TextKey = "state" | "status" | "cwd" | "model" | "permissionMode" | "sandbox" | "title" | "goal";

/** Sets a text of the state; an empty one is none. */
export function replace(state: State, key: TextKey, text: unknown): void {
  delete state[key];
  setText(state, key, text);
}

export function systemInit(x: Lookup, msg: SystemInit): void {
  replace(x.state, "cwd", msg.cwd);
  replace(x.state, "model", msg.model);
  replace(x.state, "permissionMode", msg.permissionMode);
  replace(x.state, "sandbox", msg.sandbox);
  const init: Init = {};
  setText(init, "apiKeySource", msg.apiKeySource);
  names(init, "tools", msg.tools);
  if (Array.isArray(msg.mcp_servers)) init.mcpServers = servers(msg.mcp_servers);
  names(init, "slashCommands", msg.slash_commands);
  names(init, "agents", msg.agents);
  names(init, "skills", msg.skills);
  setText(init, "outputStyle", msg.output_style);
  setText(init, "cliVersion", msg.claude_code_version);
  x.state.init = init;
}

function names(init: Init, key: "tools" | "slashCommands" | "agents" | "skills", value: unknown): void {
  if (Array.isArray(value)) init[key] = strings(value);
}

/** MCP servers and how they are. */
export function servers(value: unknown): MCPServer[] {
  return list(value).map((s) => {
    const server: MCPServer = { name: str(get(s, "name")), status: str(get(s, "status")) };
    setText(server, "error", get(s, "error"));
    return server;
  });
}

export function status(x: Lookup, msg: StatusSystem): void {
  replace(x.state, "status", msg.status);
  setText(x.state, "permissionMode", msg.permissionMode);
}

export function compactBoundary(x: Lookup, msg: CompactBoundary): void {
  const c: Compaction = {};
  const preTokens = get(msg.compact_metadata, "pre_tokens");
  if (preTokens !== undefined) setNumber(c, "preTokens", num(preTokens));
  setText(c, "uuid", msg.uuid);
  setText(c, "trigger", get(msg.compact_metadata, "trigger"));
  setValue(c, "metadata", msg.compact_metadata);
  x.add("", { kind: "compaction", compaction: c });
}

export function queueChanged(x: Lookup, items: unknown): void {
  x.state.queue = list(items)
    .filter(isObj)
    .map((i) => {
      const item: QueueItem = { id: str(i["id"]) };
      setValue(item, "content", i["content"]);
      setText(item, "priority", i["priority"]);
      setText(item, "status", i["status"]);
      return item;
    });
}

export function permissionRequest(x: Lookup, msg: PermissionRequest): void {
  const p: Prompt = { type: "permission", kind: str(msg.kind), requestId: str(msg.request_id) };
  setText(p, "parentToolUseId", msg.parent_tool_use_id);
  setText(p, "toolUseId", msg.tool_use_id);
  setText(p, "toolName", msg.tool_name);
  setText(p, "displayName", msg.display_name);
  setText(p, "description", msg.description);
  setValue(p, "input", msg.input);
  objects(msg.permission_suggestions, (all) => (p.suggestions = all as unknown as Suggestion[]));
  objects(msg.choices, (all) => (p.choices = all as unknown as Choice[]));
  setValue(p, "profile", msg.profile);
  setText(p, "blockedPath", msg.blocked_path);
  setText(p, "agentId", msg.agent_id);
  if (msg.default_to_no === true) p.defaultToNo = true;
  x.ask(p);
}

export function questionRequest(x: Lookup, msg: QuestionRequest): void {
  const p: Prompt = { type: "question", kind: str(msg.kind), requestId: str(msg.request_id) };
  setText(p, "parentToolUseId", msg.parent_tool_use_id);
  setText(p, "toolUseId", msg.tool_use_id);
  objects(msg.questions, (all) => (p.questions = all as unknown as Question[]));
  if (typeof msg.blocking === "boolean") p.blocking = msg.blocking;
  setText(p, "mcpServerName", msg.mcp_server_name);
  setText(p, "message", msg.message);
  setText(p, "mode", msg.mode);
  setValue(p, "schema", msg.requested_schema);
  setText(p, "url", msg.url);
  x.ask(p);
}

/** Calls set with the objects of a list that has some. */
function objects(value: unknown, set: (all: object[]) => void): void {
  const all = list(value).filter(isObj);
  if (all.length > 0) set(all);
}

/** Takes a prompt away and notes the answer at its tool. */
export function answered(
  x: Lookup,
  type: string,
  msg: { request_id: string; tool_use_id?: string; scope?: string; message?: string; by?: string },
  behavior: unknown,
): void {
  const prompt = x.answered(type, str(msg.request_id));
  const tool = x.tools.get(str(msg.tool_use_id) || (prompt?.toolUseId ?? ""));
  if (tool === undefined) return;
  const d: Decision = { behavior: str(behavior) };
  setText(d, "scope", msg.scope);
  setText(d, "message", msg.message);
  setText(d, "by", msg.by);
  tool.decision = d;
}

export function taskStarted(x: Lookup, msg: TaskStarted): void {
  const t = x.task(str(msg.task_id));
  setText(t, "type", msg.task_type);
  setText(t, "description", msg.description);
  setText(t, "toolUseId", msg.tool_use_id);
  setText(t, "parentTaskId", msg.parent_task_id);
  setText(t, "subagentType", msg.subagent_type);
  t.isBackgrounded = msg.is_backgrounded === true;
}

export function taskProgress(x: Lookup, msg: TaskProgress): void {
  const t = x.task(str(msg.task_id));
  setText(t, "description", msg.description);
  setText(t, "lastToolName", msg.last_tool_name);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}

export function taskUpdated(x: Lookup, msg: TaskUpdated): void {
  const t = x.task(str(msg.task_id));
  setText(t, "status", msg.status);
  setText(t, "description", msg.description);
  setText(t, "error", msg.error);
  if (typeof msg.is_backgrounded === "boolean") t.isBackgrounded = msg.is_backgrounded;
}

export function taskNotification(x: Lookup, msg: TaskNotification): void {
  const t = x.task(str(msg.task_id));
  setText(t, "status", msg.status);
  setText(t, "summary", msg.summary);
  setText(t, "outputFile", msg.output_file);
  setValue(t, "usage", msg.usage);
}
