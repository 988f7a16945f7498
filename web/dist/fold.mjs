// src/rpc/decode.ts
var known = {
  assistant: true,
  compact_boundary: true,
  error: true,
  permission_request: true,
  permission_resolved: true,
  question_request: true,
  question_resolved: true,
  queue_changed: true,
  rate_limit: true,
  result: true,
  session_state: true,
  status_system: true,
  stream_event: true,
  system_init: true,
  task_notification: true,
  task_progress: true,
  task_started: true,
  task_updated: true,
  tool_progress: true,
  unknown: true,
  user: true
};
function decode(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return { type: "unknown", originalType: "", data: text };
  }
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : void 0;
  if (typeof type === "string" && Object.hasOwn(known, type)) return data;
  return { type: "unknown", originalType: typeof type === "string" ? type : "", data };
}

// src/fold/canonical.ts
function wellFormed(s) {
  return s.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "�");
}
function canonical(v) {
  switch (typeof v) {
    case "string":
      return JSON.stringify(wellFormed(v));
    case "number":
      return Number.isFinite(v) ? JSON.stringify(v) : "null";
    case "boolean":
      return v ? "true" : "false";
    case "object":
      if (v === null) return "null";
      if (Array.isArray(v)) return "[" + v.map(canonical).join(",") + "]";
      return "{" + members(v).join(",") + "}";
    default:
      return "null";
  }
}
function members(v) {
  return Object.entries(v).filter(([, value]) => value !== void 0).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([key, value]) => JSON.stringify(wellFormed(key)) + ":" + canonical(value));
}

// src/fold/json.ts
function isObj(v) {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
function str(v) {
  return typeof v === "string" ? v : "";
}
function num(v) {
  return typeof v === "number" && Number.isFinite(v) ? v : 0;
}
function list(v) {
  return Array.isArray(v) ? v : [];
}
function strings(v) {
  return list(v).filter((s) => typeof s === "string");
}
function get(v, key) {
  if (!isObj(v)) return void 0;
  const member = v[key];
  return member === null ? void 0 : member;
}
function setText(target, key, text) {
  if (typeof text === "string" && text !== "") target[key] = text;
}
function setValue(target, key, value) {
  if (value !== void 0 && value !== null) target[key] = value;
}

// src/fold/lookup.ts
function emptyConversation() {
  return {
    threads: [{ parentToolUseId: "", items: [] }],
    tasks: [],
    prompts: [],
    queue: [],
    totals: {
      turns: 0,
      costUsd: 0,
      durationMs: 0,
      durationApiMs: 0,
      inputTokens: 0,
      outputTokens: 0,
      cacheCreationInputTokens: 0,
      cacheReadInputTokens: 0
    }
  };
}
function messageKey(parent, id) {
  return parent + "\0" + id;
}
var Lookup = class {
  constructor(state) {
    this.state = state;
    for (const thread of state.threads) {
      this.threads.set(thread.parentToolUseId, thread);
      for (const item of thread.items) this.add(thread, item);
    }
    for (const task of state.tasks) this.tasks.set(task.id, task);
    this.thread("");
  }
  state;
  threads = /* @__PURE__ */ new Map();
  messages = /* @__PURE__ */ new Map();
  users = /* @__PURE__ */ new Map();
  tools = /* @__PURE__ */ new Map();
  orphans = /* @__PURE__ */ new Map();
  // results without their tool
  tasks = /* @__PURE__ */ new Map();
  current = /* @__PURE__ */ new Map();
  // the message that is streamed, by parent
  // The block that the last delta went to: the next one most likely does too.
  lastParent = "";
  lastMessage = "";
  lastBlock;
  add(thread, item) {
    const m = item.message;
    if (item.toolResult) {
      this.orphans.set(item.toolResult.toolUseId, thread);
    } else if (m?.role === "assistant") {
      this.messages.set(messageKey(thread.parentToolUseId, m.id ?? ""), m);
      if (m.state === "streaming") this.current.set(thread.parentToolUseId, m.id ?? "");
      for (const b of m.blocks) {
        if (b.tool && b.tool.id !== "") this.tools.set(b.tool.id, b.tool);
      }
    } else if (m?.uuid) {
      this.users.set(m.uuid, m);
    }
  }
  thread(parent) {
    let t = this.threads.get(parent);
    if (t === void 0) {
      if (parent !== "") this.thread("");
      t = { parentToolUseId: parent, items: [] };
      let at = this.state.threads.findIndex((other) => other.parentToolUseId > parent);
      if (at < 0) at = this.state.threads.length;
      this.state.threads.splice(at, 0, t);
      this.threads.set(parent, t);
    }
    return t;
  }
  message(parent, id) {
    return this.messages.get(messageKey(parent, id));
  }
  /** An assistant's message, a new one in the given state if there is none. */
  answer(parent, id, state) {
    let m = this.message(parent, id);
    if (m === void 0) {
      m = { role: "assistant", state, blocks: [] };
      if (id !== "") m.id = id;
      this.thread(parent).items.push({ kind: "message", message: m });
      this.messages.set(messageKey(parent, id), m);
    }
    return m;
  }
  /** The block that a delta adds to, undefined if it is whole already. */
  delta(parent, id, index, type) {
    let b = this.lastBlock;
    if (b === void 0 || b.index !== index || this.lastMessage !== id || this.lastParent !== parent) {
      b = this.block(this.answer(parent, id, "streaming"), index, type);
      this.lastBlock = b;
      this.lastMessage = id;
      this.lastParent = parent;
    }
    return b.whole === true ? void 0 : b;
  }
  forgetBlock() {
    this.lastBlock = void 0;
  }
  /** The block of an index, a new one that streams if there is none. */
  block(m, index, type) {
    let at = m.blocks.length;
    while (at > 0 && m.blocks[at - 1].index > index) at--;
    const found = m.blocks[at - 1];
    if (found !== void 0 && found.index === index) return found;
    const b = { index, type, state: "streaming" };
    m.blocks.splice(at, 0, b);
    return b;
  }
  /** Removes blocks. */
  drop(m, gone) {
    const kept = m.blocks.filter((b) => {
      if (!gone(b)) return true;
      this.dropTool(b);
      return false;
    });
    if (kept.length !== m.blocks.length) m.blocks = kept;
    this.forgetBlock();
  }
  dropTool(b) {
    if (b.tool && this.tools.get(b.tool.id) === b.tool) this.tools.delete(b.tool.id);
  }
  position(t, m) {
    for (let i = t.items.length - 1; i >= 0; i--) {
      if (t.items[i]?.message === m) return i;
    }
    return -1;
  }
  /** Moves a message to the end of its thread. */
  toEnd(parent, m) {
    const t = this.thread(parent);
    const i = this.position(t, m);
    if (i < 0 || i === t.items.length - 1) return;
    t.items.push(...t.items.splice(i, 1));
  }
  /** Takes a message out of the conversation. */
  remove(parent, m) {
    const t = this.thread(parent);
    const i = this.position(t, m);
    if (i >= 0) t.items.splice(i, 1);
    this.messages.delete(messageKey(parent, m.id ?? ""));
    this.forgetBlock();
    if (t.items.length === 0 && parent !== "") {
      this.state.threads.splice(this.state.threads.indexOf(t), 1);
      this.threads.delete(parent);
    }
  }
  /** The task of an id, a new one that runs if there is none. */
  task(id) {
    let t = this.tasks.get(id);
    if (t === void 0) {
      t = { id, isBackgrounded: false, status: "running" };
      this.state.tasks.push(t);
      this.tasks.set(id, t);
    }
    return t;
  }
};

// src/fold/session.ts
function replace(state, key, text) {
  delete state[key];
  setText(state, key, text);
}
function systemInit(x, msg) {
  replace(x.state, "cwd", msg.cwd);
  replace(x.state, "model", msg.model);
  replace(x.state, "permissionMode", msg.permissionMode);
  const init = {};
  setText(init, "apiKeySource", msg.apiKeySource);
  names(init, "tools", msg.tools);
  const servers = list(msg.mcp_servers).map(
    (s) => ({ name: str(get(s, "name")), status: str(get(s, "status")) })
  );
  if (servers.length > 0) init.mcpServers = servers;
  names(init, "slashCommands", msg.slash_commands);
  names(init, "agents", msg.agents);
  names(init, "skills", msg.skills);
  setText(init, "outputStyle", msg.output_style);
  setText(init, "claudeCodeVersion", msg.claude_code_version);
  x.state.init = init;
}
function names(init, key, value) {
  const all = strings(value);
  if (all.length > 0) init[key] = all;
}
function status(x, msg) {
  replace(x.state, "status", msg.status);
  setText(x.state, "permissionMode", msg.permissionMode);
}
function compactBoundary(x, msg) {
  const c = { preTokens: num(get(msg.compact_metadata, "pre_tokens")) };
  setText(c, "uuid", msg.uuid);
  setText(c, "trigger", get(msg.compact_metadata, "trigger"));
  setValue(c, "metadata", msg.compact_metadata);
  x.thread("").items.push({ kind: "compaction", compaction: c });
}
function queueChanged(x, items) {
  x.state.queue = list(items).filter(isObj).map((i) => {
    const item = { id: str(i["id"]) };
    setValue(item, "content", i["content"]);
    setText(item, "priority", i["priority"]);
    return item;
  });
}
function permissionRequest(x, msg) {
  const p = { type: "permission", kind: str(msg.kind), requestId: str(msg.request_id) };
  setText(p, "parentToolUseId", msg.parent_tool_use_id);
  setText(p, "toolUseId", msg.tool_use_id);
  setText(p, "toolName", msg.tool_name);
  setText(p, "displayName", msg.display_name);
  setText(p, "description", msg.description);
  setValue(p, "input", msg.input);
  setValue(p, "suggestions", msg.permission_suggestions);
  setText(p, "blockedPath", msg.blocked_path);
  setText(p, "agentId", msg.agent_id);
  ask(x.state, p);
}
function questionRequest(x, msg) {
  const p = { type: "question", kind: str(msg.kind), requestId: str(msg.request_id) };
  setText(p, "parentToolUseId", msg.parent_tool_use_id);
  setText(p, "toolUseId", msg.tool_use_id);
  setValue(p, "questions", msg.questions);
  setText(p, "mcpServerName", msg.mcp_server_name);
  setText(p, "message", msg.message);
  setText(p, "mode", msg.mode);
  setValue(p, "schema", msg.requested_schema);
  setText(p, "url", msg.url);
  ask(x.state, p);
}
function ask(state, p) {
  const i = state.prompts.findIndex((old) => old.type === p.type && old.requestId === p.requestId);
  if (i < 0) state.prompts.push(p);
  else state.prompts[i] = p;
}
function answered(x, type, msg, behavior) {
  let toolUseId = str(msg.tool_use_id);
  x.state.prompts = x.state.prompts.filter((p) => {
    if (p.type !== type || p.requestId !== str(msg.request_id)) return true;
    toolUseId ||= p.toolUseId ?? "";
    return false;
  });
  const tool = x.tools.get(toolUseId);
  if (tool === void 0) return;
  const d = { behavior: str(behavior) };
  setText(d, "message", msg.message);
  setText(d, "by", msg.by);
  tool.decision = d;
}
function taskStarted(x, msg) {
  const t = x.task(str(msg.task_id));
  setText(t, "type", msg.task_type);
  setText(t, "description", msg.description);
  setText(t, "toolUseId", msg.tool_use_id);
  setText(t, "parentTaskId", msg.parent_task_id);
  setText(t, "subagentType", msg.subagent_type);
  t.isBackgrounded = msg.is_backgrounded === true;
}
function taskProgress(x, msg) {
  const t = x.task(str(msg.task_id));
  setText(t, "description", msg.description);
  setText(t, "lastToolName", msg.last_tool_name);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}
function taskUpdated(x, msg) {
  const t = x.task(str(msg.task_id));
  setText(t, "status", msg.status);
  setText(t, "description", msg.description);
  setText(t, "error", msg.error);
  if (typeof msg.is_backgrounded === "boolean") t.isBackgrounded = msg.is_backgrounded;
}
function taskNotification(x, msg) {
  const t = x.task(str(msg.task_id));
  setText(t, "status", msg.status);
  setText(t, "summary", msg.summary);
  setText(t, "outputFile", msg.output_file);
  setValue(t, "usage", msg.usage);
}

// src/fold/tooltype.ts
var irregular = /* @__PURE__ */ new Map([
  ["ListMcpResourcesTool", "CLAUDE_LIST_MCP_RESOURCES"],
  ["ReadMcpResourceTool", "CLAUDE_READ_MCP_RESOURCE"]
]);
function toolType(name) {
  const known2 = irregular.get(name);
  if (known2 !== void 0) return known2;
  if (name.startsWith("mcp__")) return "MCP";
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "UNKNOWN";
  const snake = name.replace(/(?<=[^A-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_");
  return "CLAUDE_" + snake.toUpperCase();
}

// src/fold/tool.ts
var toolBlocks = /* @__PURE__ */ new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);
function isTool(type) {
  return toolBlocks.has(type);
}
function toolOf(x, b, id, name) {
  const t = b.tool ??= { id: "", name: "", toolType: toolType(""), status: "in_progress" };
  if (name !== "" && t.name !== name) {
    t.name = name;
    t.toolType = toolType(name);
  }
  if (id !== "" && t.id !== id) {
    t.id = id;
    x.tools.set(id, t);
    adopt(x, t);
  }
  return t;
}
function adopt(x, tool) {
  const t = x.orphans.get(tool.id);
  if (t === void 0) return;
  x.orphans.delete(tool.id);
  for (let i = t.items.length - 1; i >= 0; i--) {
    const r = t.items[i]?.toolResult;
    if (r !== void 0 && r.toolUseId === tool.id) {
      finish(tool, r);
      t.items.splice(i, 1);
      return;
    }
  }
}
function finish(tool, r) {
  delete tool.result;
  delete tool.toolUseResult;
  delete tool.resultUuid;
  setValue(tool, "result", r.content);
  setValue(tool, "toolUseResult", r.toolUseResult);
  if (r.uuid) tool.resultUuid = r.uuid;
  tool.status = r.isError ? "failed" : "success";
}
function toolComplete(x, parent, r) {
  const tool = x.tools.get(r.toolUseId);
  if (tool !== void 0) {
    finish(tool, r);
    return;
  }
  const t = x.thread(parent);
  t.items.push({ kind: "tool_result", toolResult: r });
  x.orphans.set(r.toolUseId, t);
}
function toolProgress(x, id, elapsed, taskId, output) {
  const tool = x.tools.get(id);
  if (tool === void 0) return;
  const p = tool.progress ??= { elapsedSeconds: 0 };
  p.elapsedSeconds = elapsed;
  if (str(taskId) !== "") p.taskId = str(taskId);
  if (str(output) !== "") p.output = (p.output ?? "") + str(output);
}

// src/fold/block.ts
function typeOf(content) {
  const type = str(get(content, "type"));
  if (type === "unknown" && isObj(content) && "originalType" in content) {
    return [str(content["originalType"]), get(content, "data")];
  }
  return [type, content];
}
function fillOther(b, type) {
  b.type = type;
  delete b.whole;
  delete b.uuid;
  delete b.text;
  delete b.signature;
  delete b.citations;
  delete b.tool;
  delete b.data;
  delete b.deltas;
}
function fill(x, b, content) {
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
  } else if (isTool(type)) {
    if (tool !== void 0) b.tool = tool;
    const t = toolOf(x, b, str(get(data, "id")), str(get(data, "toolName") ?? get(data, "name")));
    delete t.input;
    delete t.inputText;
    setValue(t, "input", get(data, "input"));
  } else {
    setValue(b, "data", data);
    if (type.endsWith("_tool_result")) serverResult(x, data);
  }
  b.state = "complete";
  b.whole = true;
}
function serverResult(x, data) {
  const tool = x.tools.get(str(get(data, "tool_use_id")));
  if (tool === void 0) return;
  const result2 = get(data, "content");
  delete tool.result;
  setValue(tool, "result", result2);
  const failed = isObj(result2) && "error_code" in result2;
  tool.status = failed || get(data, "is_error") === true ? "failed" : "success";
}

// src/fold/stream.ts
function streamEvent(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  const event = msg.event;
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
      const b = x.message(parent, id)?.blocks.find((b2) => b2.index === num(event.index));
      if (b !== void 0) stop(b, event.incomplete === true);
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
      unknownEvent(x, parent, str(get(event, "type")), event);
  }
}
function unknownEvent(x, parent, originalType, data) {
  const item = { originalType, stream: true };
  setValue(item, "data", data);
  x.thread(parent).items.push({ kind: "unknown", unknown: item });
}
function messageStart(x, parent, id, model) {
  const m = x.answer(parent, id, "streaming");
  x.drop(m, (b) => b.whole !== true);
  m.state = "streaming";
  setText(m, "model", model);
  x.current.set(parent, id);
}
function blockStart(x, parent, id, index, content) {
  const [type, data] = typeOf(content);
  const b = x.block(x.answer(parent, id, "streaming"), index, type);
  if (b.whole === true) return;
  x.dropTool(b);
  restart(b, type);
  if (type === "text") setText(b, "text", get(data, "text"));
  else if (type === "thinking") setText(b, "text", get(data, "thinking"));
  else if (isTool(type)) toolOf(x, b, str(get(data, "id")), str(get(data, "toolName") ?? get(data, "name")));
  else setValue(b, "data", data);
  x.forgetBlock();
}
function restart(b, type) {
  fillOther(b, type);
  b.state = "streaming";
}
function delta(x, parent, id, index, d) {
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
      if (b !== void 0) setText(b, "signature", (b.signature ?? "") + str(d.signature));
      return;
    }
    case "citations_delta": {
      const b = x.delta(parent, id, index, "");
      if (b !== void 0 && isObj(d.citation)) (b.citations ??= []).push(d.citation);
      return;
    }
    case "unknown": {
      const b = x.delta(parent, id, index, "");
      if (d.originalType !== "signature_delta" && d.originalType !== "citations_delta") unknownDelta(b, d.data);
      return;
    }
    default:
      unknownDelta(x.delta(parent, id, index, ""), d);
  }
}
function append(b, text) {
  if (b !== void 0 && typeof text === "string" && text !== "") b.text = b.text === void 0 ? text : b.text + text;
}
function inputDelta(x, b, partial) {
  if (b === void 0) return;
  const tool = toolOf(x, b, "", "");
  if (str(partial) !== "") tool.inputText = (tool.inputText ?? "") + str(partial);
}
function unknownDelta(b, data) {
  if (b !== void 0) (b.deltas ??= []).push(data);
}
function stop(b, incomplete) {
  if (b.whole === true || b.state !== "streaming") return;
  b.state = incomplete ? "incomplete" : "complete";
  const text = b.tool?.inputText;
  if (incomplete || b.tool === void 0 || text === void 0) return;
  try {
    b.tool.input = JSON.parse(text);
    delete b.tool.inputText;
  } catch {
  }
}
function messageDelta(m, d, usage) {
  if (m === void 0) return;
  setText(m, "stopReason", get(d, "stop_reason"));
  setValue(m, "usage", usage);
}
function messageStop(x, parent, id, abandonedFrom) {
  if (x.current.get(parent) === id) x.current.delete(parent);
  const m = x.message(parent, id);
  if (m === void 0) return;
  if (typeof abandonedFrom === "number") x.drop(m, (b) => b.index >= abandonedFrom && b.whole !== true);
  m.state = "complete";
  for (const b of m.blocks) {
    stop(b, true);
    if (b.state === "incomplete") m.state = "incomplete";
  }
  if (m.blocks.length === 0) x.remove(parent, m);
}

// src/fold/whole.ts
function assistant(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  retract(x, parent, strings(msg.supersedes));
  const m = x.answer(parent, str(msg.id), "complete");
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
function describe(m, msg) {
  setText(m, "model", get(msg.message, "model"));
  setText(m, "error", msg.error);
  setText(m, "agentId", msg.agent_id);
  setText(m, "stopReason", get(msg.message, "stop_reason"));
  setValue(m, "usage", get(msg.message, "usage"));
  if (m.timestamp === void 0) setText(m, "timestamp", msg.timestamp);
  if (msg.aborted === true) m.aborted = true;
}
function retract(x, parent, uuids) {
  if (uuids.length === 0) return;
  const gone = (b) => b.uuid !== void 0 && uuids.includes(b.uuid);
  for (const item of [...x.thread(parent).items].reverse()) {
    const m = item.message;
    if (m === void 0 || m.role !== "assistant") continue;
    const before = m.blocks.length;
    x.drop(m, gone);
    if (before > 0 && m.blocks.length === 0) x.remove(parent, m);
  }
}
function user(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  const rest = [];
  let results = 0;
  for (const content of list(get(msg.message, "content"))) {
    if (!isObj(content) || content["type"] !== "tool_result") {
      rest.push(content);
      continue;
    }
    const r = { toolUseId: str(content["tool_use_id"]), isError: content["is_error"] === true };
    setText(r, "uuid", msg.uuid);
    setValue(r, "content", content["content"]);
    if (results++ === 0) setValue(r, "toolUseResult", msg.tool_use_result);
    toolComplete(x, parent, r);
  }
  if (rest.length > 0 || results === 0) userMessage(x, parent, msg, rest);
}
function userMessage(x, parent, msg, contents) {
  const uuid = str(msg.uuid);
  let m = uuid === "" ? void 0 : x.users.get(uuid);
  if (m === void 0) {
    m = { role: "user", state: "complete", blocks: [] };
    x.thread(parent).items.push({ kind: "message", message: m });
    if (uuid !== "") {
      m.uuid = uuid;
      x.users.set(uuid, m);
    }
  }
  m.blocks = contents.map((content, index) => {
    const b = { index, type: "", state: "complete" };
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
function flag(m, key, on) {
  if (on === true) m[key] = true;
  else delete m[key];
}
function result(x, msg) {
  const r = {
    subtype: str(msg.subtype),
    isError: msg.is_error === true,
    numTurns: num(msg.num_turns),
    durationMs: num(msg.duration_ms)
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
function endsWith(t, text) {
  for (let i = t.items.length - 1; i >= 0; i--) {
    const m = t.items[i]?.message;
    if (m === void 0 || m.role !== "assistant") continue;
    for (let j = m.blocks.length - 1; j >= 0; j--) {
      const b = m.blocks[j];
      if (b?.type === "text") return (b.text ?? "") === text;
    }
    return false;
  }
  return false;
}
function totals(x, msg) {
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
function unknown(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  const originalType = str(msg.originalType);
  if (originalType === "system/model_refusal_fallback") {
    retract(x, parent, strings(get(msg.data, "retracted_message_uuids")));
  }
  const item = { originalType };
  setValue(item, "data", msg.data);
  x.thread(parent).items.push({ kind: "unknown", unknown: item });
}

// src/fold/fold.ts
var Fold = class {
  lookup;
  /** Begins with an empty conversation, or goes on with a snapshot of one. */
  constructor(snapshot) {
    this.lookup = new Lookup(snapshot ?? emptyConversation());
  }
  /** The state. It is changed in place; whoever wants an old one copies it. */
  get conversation() {
    return this.lookup.state;
  }
  /** Folds a message in. */
  apply(msg) {
    if (!isObj(msg)) return;
    const x = this.lookup;
    const session = str(get(msg, "session_id"));
    if (session !== "") x.state.sessionId = session;
    switch (msg.type) {
      case "stream_event":
        return streamEvent(x, msg);
      case "assistant":
        return assistant(x, msg);
      case "user":
        return user(x, msg);
      case "result":
        return result(x, msg);
      case "error":
        x.thread(str(msg.parent_tool_use_id)).items.push({ kind: "error", error: { message: str(msg.message) } });
        return;
      case "tool_progress":
        return toolProgress(x, str(msg.tool_use_id), num(msg.elapsed_time_seconds), msg.task_id, msg.output_delta);
      case "unknown":
        return unknown(x, msg);
      default:
        return this.applySession(msg);
    }
  }
  applySession(msg) {
    const x = this.lookup;
    switch (msg.type) {
      case "system_init":
        return systemInit(x, msg);
      case "status_system":
        return status(x, msg);
      case "compact_boundary":
        return compactBoundary(x, msg);
      case "rate_limit":
        delete x.state.rateLimit;
        return setValue(x.state, "rateLimit", msg.rate_limit_info);
      case "session_state":
        return replace(x.state, "state", msg.state);
      case "queue_changed":
        return queueChanged(x, msg.items);
      case "permission_request":
        return permissionRequest(x, msg);
      case "question_request":
        return questionRequest(x, msg);
      case "permission_resolved":
        return answered(x, "permission", msg, msg.behavior);
      case "question_resolved":
        return answered(x, "question", msg, msg.action);
      case "task_started":
        return taskStarted(x, msg);
      case "task_progress":
        return taskProgress(x, msg);
      case "task_updated":
        return taskUpdated(x, msg);
      case "task_notification":
        return taskNotification(x, msg);
      default:
        return unknown(x, { type: "unknown", originalType: str(get(msg, "type")), data: msg });
    }
  }
};
export {
  Fold,
  canonical,
  decode,
  toolType
};
