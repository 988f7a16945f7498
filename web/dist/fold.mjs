// src/rpc/decode.ts
var known = {
  assistant: true,
  compact_boundary: true,
  error: true,
  hook: true,
  notice: true,
  permission_request: true,
  permission_resolved: true,
  plan: true,
  question_request: true,
  question_resolved: true,
  queue_changed: true,
  queue_updated: true,
  rate_limit: true,
  result: true,
  retry: true,
  session_info: true,
  session_state: true,
  status_system: true,
  stream_event: true,
  system_init: true,
  task_notification: true,
  task_progress: true,
  task_started: true,
  task_updated: true,
  tool_progress: true,
  truncate: true,
  turn_diff: true,
  turn_start: true,
  unknown: true,
  usage: true,
  user: true
};
var maxDepth = 2e3;
function deeper(text, levels) {
  if (text.length <= 2 * levels) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 91 || c === 123) {
      if (++depth > levels) return true;
    } else if (c === 93 || c === 125) {
      depth--;
    } else if (c === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34; i++) if (text.charCodeAt(i) === 92) i++;
    }
  }
  return false;
}
function decode(text) {
  if (deeper(text, maxDepth)) return { type: "unknown", originalType: "", data: text };
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return { type: "unknown", originalType: "", data: text };
  }
  return decodeValue(data);
}
function decodeValue(data) {
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
  return Object.entries(v).filter(([, value]) => value !== void 0).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([key2, value]) => JSON.stringify(wellFormed(key2)) + ":" + canonical(value));
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
function get(v, key2) {
  if (!isObj(v)) return void 0;
  const member = v[key2];
  return member === null ? void 0 : member;
}
function setText(target, key2, text) {
  if (typeof text === "string" && text !== "") target[key2] = text;
}
function over(old, event) {
  if (old === void 0) return { ...event };
  const said = Object.entries(event).filter(([, value]) => value !== null && value !== "");
  const added = said.filter(([key2]) => !Object.hasOwn(old, key2)).length;
  const full = Object.keys(old).length + added > maxMembers;
  for (const [key2, value] of said) {
    if (full && !Object.hasOwn(old, key2)) continue;
    Object.defineProperty(old, key2, { value, writable: true, enumerable: true, configurable: true });
  }
  return old;
}
var maxMembers = 256;
function setValue(target, key2, value) {
  if (value !== void 0 && value !== null) target[key2] = value;
}

// src/fold/heap.ts
var BlockHeap = class {
  list = [];
  /** The block with the highest index. */
  get top() {
    return this.list[0];
  }
  push(b) {
    const list2 = this.list;
    let i = list2.length;
    list2.push(b);
    while (i > 0) {
      const up = i - 1 >> 1;
      if (list2[up].index >= b.index) break;
      list2[i] = list2[up];
      i = up;
    }
    list2[i] = b;
  }
  pop() {
    const list2 = this.list;
    const top = list2[0];
    const b = list2.pop();
    if (b === void 0 || list2.length === 0) return top;
    let i = 0;
    for (; ; ) {
      let child = 2 * i + 1;
      if (child >= list2.length) break;
      if (child + 1 < list2.length && list2[child + 1].index > list2[child].index) child++;
      if (list2[child].index <= b.index) break;
      list2[i] = list2[child];
      i = child;
    }
    list2[i] = b;
    return top;
  }
};

// src/fold/message.ts
var MessageIndex = class {
  // how many are incomplete
  constructor(message, thread, item) {
    this.message = message;
    this.thread = thread;
    this.item = item;
  }
  message;
  thread;
  item;
  gone = false;
  // it was removed
  blocks;
  // while the list is not sorted
  open = [];
  // that have begun, until the message is complete
  partial = new BlockHeap();
  // incomplete blocks; those completed since are skipped
  n = 0;
  // how many blocks there are
  whole = 0;
  // how many are complete
  live = 0;
  // how many stream
  broken = 0;
  /** Adds a block to the counts, or with -1 subtracts it. */
  count(b, n) {
    this.n += n;
    if (b.whole === true) this.whole += n;
    if (b.state === "streaming") this.live += n;
    else if (b.state === "incomplete") this.broken += n;
  }
  /** Records a block that is incomplete or has not stopped. */
  pending(b) {
    if (b.state === "streaming") this.open.push(b);
    if (b.whole !== true) this.partial.push(b);
  }
  /** The position of the block with an index in the sorted list, or where it would be inserted. */
  place(index) {
    const list2 = this.message.blocks;
    let low = 0;
    let high = list2.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (list2[middle].index < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  find(index) {
    if (this.blocks !== void 0) return this.blocks.get(index);
    const b = this.message.blocks[this.place(index)];
    return b?.index === index ? b : void 0;
  }
  /** Whether a block still exists. */
  has(b) {
    return !this.gone && this.find(b.index) === b;
  }
  /** Adds a block. It returns false if the list is now unsorted. */
  insert(b, small2) {
    const list2 = this.message.blocks;
    const last = list2[list2.length - 1];
    let ordered = true;
    if (this.blocks === void 0 && (last === void 0 || last.index < b.index)) list2.push(b);
    else if (this.blocks === void 0 && list2.length <= small2) list2.splice(this.place(b.index), 0, b);
    else {
      this.unsettle();
      this.blocks?.set(b.index, b);
      list2.push(b);
      ordered = false;
    }
    this.count(b, 1);
    this.pending(b);
    return ordered;
  }
  /** Allows adding and removing blocks without moving others. */
  unsettle() {
    if (this.blocks !== void 0) return;
    this.blocks = /* @__PURE__ */ new Map();
    for (const b of this.message.blocks) this.blocks.set(b.index, b);
  }
  /** Sorts the blocks. */
  settle() {
    const blocks = this.blocks;
    if (blocks === void 0) return;
    this.message.blocks = this.message.blocks.filter((b) => blocks.get(b.index) === b).sort((a, b) => a.index - b.index);
    this.blocks = void 0;
  }
};

// src/fold/thread.ts
var ThreadIndex = class {
  constructor(thread) {
    this.thread = thread;
  }
  thread;
  at;
  // the position of an item; created on first use
  from = 0;
  // the first position that is not sorted
  dirty = false;
  /** Whether the positions of items are known. */
  get indexed() {
    return this.at !== void 0;
  }
  push(item) {
    this.at?.set(item, this.thread.items.length);
    this.thread.items.push(item);
  }
  /** The positions of items, by item. */
  places() {
    if (this.at === void 0) {
      const at = /* @__PURE__ */ new Map();
      this.thread.items.forEach((item, i) => at.set(item, i));
      this.at = at;
    }
    return this.at;
  }
  /** The position of an item; undefined if it was removed. */
  position(item) {
    return this.places().get(item);
  }
  /** Marks an item as removed; settle removes it. */
  leave(item) {
    const i = this.position(item);
    if (i === void 0) return false;
    this.places().delete(item);
    this.from = this.dirty ? Math.min(this.from, i) : i;
    this.dirty = true;
    return true;
  }
  /** Whether all items have left. */
  get empty() {
    return this.places().size === 0;
  }
  /** Sorts the items. */
  settle() {
    if (!this.dirty) return;
    const items = this.thread.items;
    const at = this.places();
    let n = this.from;
    for (let i = this.from; i < items.length; i++) {
      const item = items[i];
      if (at.get(item) !== i) continue;
      items[n] = item;
      at.set(item, n);
      n++;
    }
    items.length = n;
    this.dirty = false;
  }
};

// src/fold/lookup.ts
var conversationVersion = 2;
function emptyConversation() {
  return {
    version: conversationVersion,
    threads: [{ parentToolUseId: "", items: [] }],
    turns: [],
    tasks: [],
    prompts: [],
    queue: [],
    totals: {
      turns: 0,
      durationMs: 0,
      durationApiMs: 0,
      inputTokens: 0,
      outputTokens: 0,
      cacheCreationInputTokens: 0,
      cacheReadInputTokens: 0
    },
    hooks: [],
    notices: []
  };
}
var small = 512;
function key(...parts) {
  return parts.join("\0");
}
function messageKey(parent, m) {
  return key(parent, m.id ?? "", `${m.restart ?? 0}`);
}
function began(x, restarts) {
  if (restarts > 0) x.restart = restarts;
}
var Lookup = class {
  constructor(state) {
    this.state = state;
    state.turns ??= [];
    state.hooks ??= [];
    state.notices ??= [];
    for (const thread of state.threads) {
      const t = new ThreadIndex(thread);
      this.threads.set(thread.parentToolUseId, t);
      for (const item of thread.items) this.index(t, item);
    }
    for (const task of state.tasks) this.tasks.set(task.id, task);
    for (const p of state.prompts) this.prompts.set(key(p.type, p.request_id), p);
    for (const h of state.hooks) this.hooks.set(h.hook.hook_id, h);
    for (const t of state.turns) this.turns.set(t.id, t);
    this.thread("");
  }
  state;
  threads = /* @__PURE__ */ new Map();
  messages = /* @__PURE__ */ new Map();
  users = /* @__PURE__ */ new Map();
  tools = /* @__PURE__ */ new Map();
  orphans = /* @__PURE__ */ new Map();
  // results without their tool
  lines = /* @__PURE__ */ new Map();
  current = /* @__PURE__ */ new Map();
  // the message that is streamed, by parent
  turns = /* @__PURE__ */ new Map();
  tasks = /* @__PURE__ */ new Map();
  hooks = /* @__PURE__ */ new Map();
  prompts = /* @__PURE__ */ new Map();
  byTurn;
  // created on first use
  calls = [];
  // that may run: those since the agent began
  restartOf = /* @__PURE__ */ new Map();
  // of tools, while the lookup is built
  // Lists that are not sorted, and those that the current message has changed.
  dirtyThreads = /* @__PURE__ */ new Set();
  dirtyMessages = /* @__PURE__ */ new Set();
  threadsDirty = false;
  promptsDirty = false;
  touchedThreads = [];
  touchedMessages = [];
  steps = 0;
  // counts steps whose number grows with the conversation, for tests
  // The block of the last delta, which the next one most likely adds to as well.
  lastParent = "";
  lastMessage = "";
  lastBlock;
  index(t, item) {
    this.steps += 1 + (item.message?.blocks.length ?? 0);
    const m = item.message;
    if (item.toolResult) {
      this.orphan({ thread: t, item });
    } else if (m?.role === "assistant") {
      const parent = t.thread.parentToolUseId;
      const mi = new MessageIndex(m, t, item);
      this.messages.set(messageKey(parent, m), mi);
      if (m.state === "streaming") this.current.set(parent, m.id ?? "");
      for (const b of m.blocks) {
        mi.count(b, 1);
        mi.pending(b);
        this.line(mi, b);
        if (b.tool) this.foundTool(b.tool, m.restart ?? 0);
      }
    } else if (m?.uuid) {
      this.users.set(m.uuid, { message: m, ref: { thread: t, item } });
    }
  }
  /** Records a call of a snapshot. If several calls have one id, the last one counts. */
  foundTool(tool, restart) {
    if (tool.status === "in_progress") this.calls.push(tool);
    if (tool.id === "" || restart < (this.restartOf.get(tool.id) ?? 0)) return;
    this.tools.set(tool.id, tool);
    if (restart > 0) this.restartOf.set(tool.id, restart);
  }
  /** The number of restarts of the agent. */
  get restarts() {
    return this.state.restarts ?? 0;
  }
  /** The turn to which an agent's id refers. */
  findTurn(id) {
    return this.turns.get(this.again(id)) ?? this.turns.get(id);
  }
  /** The id of a turn that a restarted agent has reused. */
  again(id) {
    return this.restarts === 0 ? id : `${id}#${this.restarts}`;
  }
  /** Records which line has confirmed a block. */
  line(message, block) {
    if (block.uuid === void 0 || block.uuid === "") return;
    const k = key(message.thread.thread.parentToolUseId, block.uuid);
    const refs = this.lines.get(k);
    if (refs === void 0) this.lines.set(k, [{ message, block }]);
    else refs.push({ message, block });
  }
  /** The blocks that a line has confirmed. */
  confirmed(parent, uuid) {
    return (this.lines.get(key(parent, uuid)) ?? []).filter((r) => r.block.uuid === uuid && r.message.has(r.block));
  }
  forgetLine(parent, uuid) {
    this.lines.delete(key(parent, uuid));
  }
  /** Records a result without its tool. */
  orphan(ref) {
    const id = ref.item.toolResult?.toolUseId ?? "";
    const refs = this.orphans.get(id);
    if (refs === void 0) this.orphans.set(id, [ref]);
    else refs.push(ref);
  }
  threadIndex(parent) {
    let t = this.threads.get(parent);
    if (t !== void 0) return t;
    if (parent !== "") this.threadIndex("");
    t = new ThreadIndex({ parentToolUseId: parent, items: [] });
    this.threads.set(parent, t);
    const list2 = this.state.threads;
    const last = list2[list2.length - 1];
    if (last !== void 0 && last.parentToolUseId >= parent) this.threadsDirty = true;
    list2.push(t.thread);
    return t;
  }
  thread(parent) {
    return this.threadIndex(parent).thread;
  }
  /** The turn that runs or ran last. */
  get turn() {
    return this.state.turns[this.state.turns.length - 1];
  }
  beginTurn(t) {
    this.state.turns.push(t);
    this.turns.set(t.id, t);
    return t;
  }
  /** Adds an item to the end of a thread, in the turn that runs. */
  add(parent, item) {
    const thread = this.threadIndex(parent);
    const ref = { thread, item };
    thread.push(item);
    this.inTurn(ref, this.turn);
    return ref;
  }
  /** Records that an item belongs to a turn. */
  inTurn(ref, turn) {
    if (turn === void 0 || (ref.item.turnId ?? "") === turn.id) return;
    if (turn.id === "") delete ref.item.turnId;
    else ref.item.turnId = turn.id;
    this.noteTurn(ref);
  }
  noteTurn(ref) {
    const id = ref.item.turnId;
    if (this.byTurn === void 0 || id === void 0) return;
    const refs = this.byTurn.get(id);
    if (refs === void 0) this.byTurn.set(id, [ref]);
    else refs.push(ref);
  }
  message(parent, id) {
    return this.messages.get(key(parent, id, `${this.restarts}`));
  }
  /** Returns an assistant's message, and creates it in the given state if it is missing. */
  answer(parent, id, state) {
    let m = this.message(parent, id);
    if (m === void 0) {
      const message = { role: "assistant", state, blocks: [] };
      if (id !== "") message.id = id;
      began(message, this.restarts);
      const ref = this.add(parent, { kind: "message", message });
      m = new MessageIndex(message, ref.thread, ref.item);
      this.messages.set(key(parent, id, `${this.restarts}`), m);
    }
    return m;
  }
  /** The block that a delta adds to; undefined if the block is complete. */
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
  /** Returns the block with an index, and creates a streaming one if it is missing. */
  block(m, index, type) {
    const found = m.find(index);
    if (found !== void 0) return found;
    const b = { index, type, state: "streaming" };
    const ordered = m.blocks === void 0;
    const at = m.message.blocks.length;
    if (m.insert(b, small)) this.steps += m.message.blocks[at] === b ? 1 : Math.min(at, small);
    else {
      this.dirtyMessages.add(m);
      if (ordered) this.steps += at;
    }
    return b;
  }
  /** Removes a block. */
  drop(m, b) {
    if (!m.has(b)) return;
    m.count(b, -1);
    this.dropTool(b);
    if (m.blocks === void 0) this.steps += m.message.blocks.length;
    m.unsettle();
    m.blocks?.delete(b.index);
    this.dirtyMessages.add(m);
    this.touchedMessages.push(m);
    this.forgetBlock();
  }
  /** Removes the incomplete blocks from an index on. */
  dropPartial(m, from) {
    for (let b = m.partial.top; b !== void 0 && b.index >= from; b = m.partial.top) {
      m.partial.pop();
      this.steps++;
      if (b.whole !== true) this.drop(m, b);
    }
  }
  dropTool(b) {
    if (b.tool && this.tools.get(b.tool.id) === b.tool) this.tools.delete(b.tool.id);
  }
  /** Removes an item from its thread. */
  leave(ref) {
    if (!ref.thread.indexed) this.steps += ref.thread.thread.items.length;
    if (!ref.thread.leave(ref.item)) return false;
    this.dirtyThreads.add(ref.thread);
    this.touchedThreads.push(ref.thread);
    return true;
  }
  /** Moves a message to the end of its thread, into the turn that runs. */
  toEnd(m) {
    this.inTurn(m, this.turn);
    const items = m.thread.thread.items;
    if (items[items.length - 1] === m.item) return;
    this.leave(m);
    m.thread.push(m.item);
  }
  /** Removes a message from the conversation. */
  remove(m) {
    this.leave(m);
    m.gone = true;
    this.messages.delete(messageKey(m.thread.thread.parentToolUseId, m.message));
    this.forgetBlock();
    this.emptied(m.thread);
  }
  /** Removes a subagent's thread without items from the conversation. */
  emptied(t) {
    const parent = t.thread.parentToolUseId;
    if (parent === "" || !t.empty || this.threads.get(parent) !== t) return;
    this.dropThread(t);
  }
  dropThread(t) {
    this.threads.delete(t.thread.parentToolUseId);
    this.dirtyThreads.delete(t);
    this.threadsDirty = true;
  }
  /** Removes an item, with the threads of the subagents that it called. */
  forget(ref) {
    const parent = ref.thread.thread.parentToolUseId;
    if (ref.thread.position(ref.item) === void 0 || this.threads.get(parent) !== ref.thread) return;
    const m = ref.item.message;
    this.steps++;
    if (m?.role === "assistant") {
      for (const b of m.blocks) {
        this.steps++;
        if (b.tool && this.tools.get(b.tool.id) === b.tool) {
          this.tools.delete(b.tool.id);
          this.forgetThread(b.tool.id);
        }
      }
      const mi = this.messages.get(messageKey(parent, m));
      if (mi?.message === m) return this.remove(mi);
    } else if (m?.uuid !== void 0 && this.users.get(m.uuid)?.message === m) {
      this.users.delete(m.uuid);
    }
    this.leave(ref);
    this.emptied(ref.thread);
  }
  forgetThread(parent) {
    const thread = this.threads.get(parent);
    if (thread === void 0 || parent === "") return;
    for (const item of [...thread.thread.items]) this.forget({ thread, item });
    if (this.threads.get(parent) === thread) this.dropThread(thread);
  }
  /** Forgets all threads and turns. */
  clear() {
    this.state.threads = [];
    this.state.turns = [];
    this.threads = /* @__PURE__ */ new Map();
    this.messages = /* @__PURE__ */ new Map();
    this.users = /* @__PURE__ */ new Map();
    this.tools = /* @__PURE__ */ new Map();
    this.orphans = /* @__PURE__ */ new Map();
    this.lines = /* @__PURE__ */ new Map();
    this.current = /* @__PURE__ */ new Map();
    this.turns = /* @__PURE__ */ new Map();
    this.byTurn = void 0;
    this.dirtyThreads.clear();
    this.dirtyMessages.clear();
    this.touchedThreads = [];
    this.touchedMessages = [];
    this.threadsDirty = false;
    this.forgetBlock();
    this.thread("");
  }
  /** The items of a turn. */
  itemsOf(turnId) {
    if (this.byTurn === void 0) {
      this.byTurn = /* @__PURE__ */ new Map();
      for (const thread of this.threads.values()) {
        for (const item of thread.thread.items) this.noteTurn({ thread, item });
      }
    }
    return this.byTurn.get(turnId) ?? [];
  }
  forgetTurn(id) {
    this.byTurn?.delete(id);
    this.turns.delete(id);
  }
  /** Returns the task with an id, and creates a running one if it is missing. */
  task(id) {
    let t = this.tasks.get(id);
    if (t === void 0) {
      t = { id, isBackgrounded: false, status: "running" };
      began(t, this.restarts);
      this.state.tasks.push(t);
      this.tasks.set(id, t);
    }
    return t;
  }
  /** Adds a prompt that waits, in place of one with the same id. */
  ask(p) {
    const k = key(p.type, str(p.request_id));
    const old = this.prompts.get(k);
    if (old === void 0) {
      const added = { ...p };
      this.prompts.set(k, added);
      this.state.prompts.push(added);
      return;
    }
    for (const name of Object.keys(old)) delete old[name];
    Object.assign(old, p);
  }
  /** Removes a prompt. */
  answered(type, requestId) {
    const k = key(type, requestId);
    const p = this.prompts.get(k);
    if (p !== void 0) {
      this.prompts.delete(k);
      this.promptsDirty = true;
    }
    return p;
  }
  /** Sorts the lists that a message has changed, unless they are long. */
  settleSmall() {
    for (const t of this.touchedThreads) {
      if (t.dirty && t.thread.items.length - t.from <= small) this.settleThread(t);
    }
    for (const m of this.touchedMessages) {
      if (m.message.blocks.length <= small) this.settleMessage(m);
    }
    this.touchedThreads = [];
    this.touchedMessages = [];
    if (this.threadsDirty && this.state.threads.length <= small) this.settleThreads();
    if (this.promptsDirty && this.state.prompts.length <= small) this.settlePrompts();
  }
  /** Sorts all lists. */
  settle() {
    for (const t of this.dirtyThreads) this.settleThread(t);
    for (const m of this.dirtyMessages) this.settleMessage(m);
    if (this.threadsDirty) this.settleThreads();
    if (this.promptsDirty) this.settlePrompts();
  }
  settleThread(t) {
    this.steps += t.thread.items.length - t.from;
    t.settle();
    this.dirtyThreads.delete(t);
  }
  settleMessage(m) {
    this.steps += m.message.blocks.length;
    m.settle();
    this.dirtyMessages.delete(m);
  }
  settleThreads() {
    this.steps += this.state.threads.length;
    this.state.threads = this.state.threads.filter((t) => this.threads.get(t.parentToolUseId)?.thread === t).sort((a, b) => a.parentToolUseId < b.parentToolUseId ? -1 : a.parentToolUseId > b.parentToolUseId ? 1 : 0);
    this.threadsDirty = false;
  }
  settlePrompts() {
    this.steps += this.state.prompts.length;
    this.state.prompts = this.state.prompts.filter((p) => this.prompts.get(key(p.type, p.request_id)) === p);
    this.promptsDirty = false;
  }
};

// src/fold/session.ts
function replace(state, key2, text) {
  delete state[key2];
  setText(state, key2, text);
}
function systemInit(x, msg) {
  replace(x.state, "cwd", msg.cwd);
  replace(x.state, "model", msg.model);
  replace(x.state, "permissionMode", msg.permissionMode);
  replace(x.state, "sandbox", msg.sandbox);
  const { mcp_servers, ...init } = msg;
  delete x.state.mcpServers;
  if (Array.isArray(mcp_servers)) x.state.mcpServers = mcp_servers.filter(isObj);
  x.state.init = init;
}
function status(x, msg) {
  replace(x.state, "status", msg.status);
  setText(x.state, "permissionMode", msg.permissionMode);
}
function queueChanged(x, items) {
  x.state.queue = list(items).filter(isObj);
}
function queueUpdated(x, msg) {
  let all = [...x.state.queue];
  const place = new Map(all.map((item, i) => [item.id, i]));
  for (const item of list(msg.items).filter(isObj)) {
    const at = place.get(item.id);
    if (at === void 0) {
      place.set(item.id, all.length);
      all.push(item);
      continue;
    }
    const content = item.content ?? all[at]?.content;
    all[at] = content === void 0 ? item : { ...item, content };
  }
  const removed = new Set(list(msg.removed));
  if (removed.size > 0) all = all.filter((item) => !removed.has(item.id));
  const order = new Map(list(msg.order).map((id, i, ids) => [id, i - ids.length]));
  if (order.size > 0) all.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  x.state.queue = all;
}
function answered(x, type, msg, behavior) {
  const prompt = x.answered(type, str(msg.request_id));
  const tool = x.tools.get(str(msg.tool_use_id) || str(prompt?.tool_use_id));
  if (tool === void 0) return;
  const d = { behavior: str(behavior) };
  setText(d, "scope", msg.scope);
  setText(d, "message", msg.message);
  setText(d, "by", msg.by);
  tool.decision = d;
}
function sessionState(x, state) {
  replace(x.state, "state", state);
  if (state !== "starting" && state !== "interrupted" && state !== "failed" && state !== "ended") return;
  for (const t of x.state.turns) t.done = true;
  for (const t of x.calls) if (t.status === "in_progress") t.status = "interrupted";
  for (const t of x.state.tasks) if (t.status === "running") t.status = "killed";
  x.calls = [];
  x.forgetBlock();
  delete x.state.status;
  delete x.state.retry;
  if (state === "starting" && (x.turn !== void 0 || (x.state.threads[0]?.items.length ?? 0) > 0)) {
    x.state.restarts = x.restarts + 1;
  }
}
function taskStarted(x, msg) {
  const old = x.tasks.get(str(msg.task_id));
  if (old !== void 0 && (old.restart ?? 0) !== x.restarts) x.tasks.delete(old.id);
  const t = x.task(str(msg.task_id));
  t.started = over(t.started, msg);
  setText(t, "description", msg.description);
  t.isBackgrounded = msg.is_backgrounded === true;
}
function taskProgress(x, msg) {
  const t = x.task(str(msg.task_id));
  t.progress = over(t.progress, msg);
  setText(t, "description", msg.description);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}
function taskUpdated(x, msg) {
  const t = x.task(str(msg.task_id));
  t.updated = over(t.updated, msg);
  setText(t, "status", msg.status);
  setText(t, "description", msg.description);
  if (typeof msg.is_backgrounded === "boolean") t.isBackgrounded = msg.is_backgrounded;
}
function taskNotification(x, msg) {
  const t = x.task(str(msg.task_id));
  t.ended = over(t.ended, msg);
  setText(t, "status", msg.status);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}

// src/fold/notice.ts
var maxRows = 100;
function notice(x, msg) {
  const row = { notice: msg };
  setText(row, "turnId", x.turn?.id);
  const rows = x.state.notices;
  rows.push(row);
  if (rows.length > maxRows) {
    rows.shift();
    x.state.noticesOmitted = (x.state.noticesOmitted ?? 0) + 1;
  }
}
function hook(x, msg) {
  const { output, ...event } = msg;
  const run = x.hooks.get(str(msg.hook_id)) ?? newHook(x, event);
  over(run.hook, event);
  if (msg.state === "finished") setText(run, "output", output);
  else setText(run, "output", (run.output ?? "") + str(output));
}
function newHook(x, event) {
  const run = { hook: { ...event } };
  const runs = x.state.hooks;
  runs.push(run);
  x.hooks.set(str(event.hook_id), run);
  while (runs.length > maxRows) {
    const old = runs.shift();
    if (old !== void 0 && x.hooks.get(old.hook.hook_id) === old) x.hooks.delete(old.hook.hook_id);
    x.state.hooksOmitted = (x.state.hooksOmitted ?? 0) + 1;
  }
  return run;
}
function sessionInfo(x, msg) {
  const s = x.state;
  if (typeof msg.title === "string") replace(s, "title", msg.title);
  if (typeof msg.goal === "string") replace(s, "goal", msg.goal);
  if (typeof msg.model === "string") replace(s, "model", msg.model);
  if (typeof msg.permissionMode === "string") replace(s, "permissionMode", msg.permissionMode);
  if (typeof msg.sandbox === "string") replace(s, "sandbox", msg.sandbox);
  if (typeof msg.cwd === "string") replace(s, "cwd", msg.cwd);
  if (msg.archived === true) s.archived = true;
  else if (msg.archived === false) delete s.archived;
  if (msg.deleted === true) s.deleted = true;
  else if (msg.deleted === false) delete s.deleted;
  if (Array.isArray(msg.mcp_servers)) s.mcpServers = msg.mcp_servers.filter(isObj);
  setValue(s, "commands", msg.commands);
}

// src/fold/tooltype.ts
var irregular = /* @__PURE__ */ new Map([
  ["ListMcpResourcesTool", "CLAUDE_LIST_MCP_RESOURCES"],
  ["ReadMcpResourceTool", "CLAUDE_READ_MCP_RESOURCE"]
]);
var identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
function toolType(provider, name) {
  if (name.startsWith("mcp__")) return "MCP";
  if (!identifier.test(name)) return "UNKNOWN";
  const prefix = toolPrefix(provider);
  const known2 = irregular.get(name);
  if (known2 !== void 0 && prefix === claudeTools) return known2;
  return prefix + upperSnake(name);
}
var claudeTools = "CLAUDE_";
function toolPrefix(provider) {
  const name = provider.split(":")[0] ?? "";
  return name === "sim" || !identifier.test(name) ? claudeTools : upperSnake(name) + "_";
}
function upperSnake(name) {
  return name.replace(/(?<=[^A-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toUpperCase();
}

// src/fold/tool.ts
var toolBlocks = /* @__PURE__ */ new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);
function isTool(type) {
  return toolBlocks.has(type);
}
function toolOf(x, b, id, name) {
  if (b.tool === void 0) {
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
function adopt(x, tool) {
  const refs = x.orphans.get(tool.id) ?? [];
  for (let ref = refs.pop(); ref !== void 0; ref = refs.pop()) {
    const r = ref.item.toolResult;
    if (r === void 0 || !x.leave(ref)) continue;
    finish(tool, r);
    return;
  }
}
function finish(tool, r) {
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
function toolComplete(x, parent, r) {
  const tool = x.tools.get(r.toolUseId);
  if (tool !== void 0) {
    finish(tool, r);
    return;
  }
  x.orphan(x.add(parent, { kind: "tool_result", toolResult: r }));
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
  delete b.summary;
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
    if (get(data, "summary") === true) b.summary = true;
  } else if (isTool(type)) {
    if (tool !== void 0) b.tool = tool;
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
      const m = x.message(parent, id);
      const b = m?.find(num(event.index));
      if (m !== void 0 && b !== void 0) stop(m, b, event.incomplete === true);
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
  x.add(parent, { kind: "unknown", stream: true, unknown: { type: "unknown", originalType, data: data ?? null } });
}
function messageStart(x, parent, id, model) {
  delete x.state.retry;
  const m = x.answer(parent, id, "streaming");
  x.dropPartial(m, -Infinity);
  m.message.state = "streaming";
  setText(m.message, "model", model);
  x.current.set(parent, id);
}
function blockStart(x, parent, id, index, content) {
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
function stop(m, b, incomplete) {
  if (b.whole === true || b.state !== "streaming") return;
  m.count(b, -1);
  b.state = incomplete ? "incomplete" : "complete";
  m.count(b, 1);
  const text = b.tool?.inputText;
  if (incomplete || b.tool === void 0 || text === void 0) return;
  try {
    b.tool.input = JSON.parse(text);
    delete b.tool.inputText;
  } catch {
  }
}
function messageDelta(m, d, usage2) {
  if (m === void 0) return;
  setText(m.message, "stopReason", get(d, "stop_reason"));
  setValue(m.message, "usage", usage2);
}
function messageStop(x, parent, id, abandonedFrom) {
  if (x.current.get(parent) === id) x.current.delete(parent);
  const m = x.message(parent, id);
  if (m === void 0) return;
  if (typeof abandonedFrom === "number") x.dropPartial(m, abandonedFrom);
  for (const b of m.open) {
    if (m.has(b)) stop(m, b, true);
  }
  m.open = [];
  m.message.state = m.broken > 0 ? "incomplete" : "complete";
  if (m.n === 0) x.remove(m);
}

// src/fold/turn.ts
function turnStart(x, msg) {
  let id = str(msg.turn_id);
  const known2 = x.findTurn(id);
  if (known2 !== void 0 && (known2.restart ?? 0) === x.restarts) return;
  if (known2 !== void 0) id = x.again(id);
  const turn = { id, done: false, start: msg };
  began(turn, x.restarts);
  x.beginTurn(turn);
  const prompt = x.users.get(str(msg.prompt_id));
  if (prompt !== void 0 && str(msg.prompt_id) !== "") x.inTurn(prompt.ref, turn);
  delete x.state.retry;
  const u = x.state.usage;
  if (u === void 0) return;
  delete u.turn_id;
  delete u.input_tokens;
  delete u.output_tokens;
  delete u.cache_creation_input_tokens;
  delete u.cache_read_input_tokens;
  delete u.reasoning_tokens;
  delete u.data;
}
function turnDiff(x, msg) {
  const id = str(msg.turn_id);
  let turn = (id === "" ? x.turn : void 0) ?? x.findTurn(id);
  if (turn === void 0) {
    turn = x.beginTurn({ id, done: false });
    began(turn, x.restarts);
  }
  if (msg.replace === true) delete turn.changes;
  for (const f of list(msg.files)) {
    if (isObj(f)) (turn.changes ??= []).push(f);
  }
}
function usage(x, msg) {
  x.state.usage = over(x.state.usage, msg);
}
function truncate(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  if (str(msg.from) !== "") cutFrom(x, parent, str(msg.from));
  else if (str(msg.turn_id) !== "") cutTurns(x, x.findTurn(str(msg.turn_id))?.id ?? "");
  else if (strings(msg.lines).length > 0) retract(x, parent, strings(msg.lines));
  else if (msg.all === true) {
    delete x.state.answer;
    delete x.state.usage;
    delete x.state.retry;
    x.clear();
  }
}
function retract(x, parent, uuids) {
  for (const uuid of uuids) {
    for (const { message, block } of x.confirmed(parent, uuid)) {
      x.drop(message, block);
      if (message.n === 0) x.remove(message);
    }
    x.forgetLine(parent, uuid);
  }
}
function cutFrom(x, parent, uuid) {
  const ref = x.users.get(uuid)?.ref ?? x.confirmed(parent, uuid)[0]?.message;
  if (ref === void 0) return;
  const { thread, item } = ref;
  const at = thread.position(item);
  if (at === void 0) return;
  const turn = x.turns.get(item.turnId ?? "");
  for (const other of thread.thread.items.slice(at)) x.forget({ thread, item: other });
  if (turn === void 0 || thread.thread.parentToolUseId !== "") return;
  if (turn.start?.prompt_id === uuid) return cutTurns(x, turn.id);
  const next = x.state.turns[x.state.turns.lastIndexOf(turn) + 1];
  if (next !== void 0) cutTurns(x, next.id);
}
function cutTurns(x, id) {
  const turn = x.turns.get(id);
  if (turn === void 0) return;
  for (const gone of x.state.turns.splice(x.state.turns.lastIndexOf(turn))) {
    for (const ref of x.itemsOf(gone.id)) {
      if ((ref.item.turnId ?? "") === gone.id) x.forget(ref);
    }
    x.forgetTurn(gone.id);
  }
}

// src/fold/whole.ts
function assistant(x, msg) {
  const parent = str(msg.parent_tool_use_id);
  delete x.state.retry;
  retract(x, parent, strings(msg.supersedes));
  const m = x.answer(parent, str(msg.id), "complete");
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
function describe(m, msg) {
  setText(m, "model", get(msg.message, "model"));
  setText(m, "stopReason", get(msg.message, "stop_reason"));
  setValue(m, "usage", get(msg.message, "usage"));
  const { indexes, supersedes, ...line } = msg;
  line.message = { content: [] };
  if (m.line?.timestamp !== void 0) delete line.timestamp;
  m.line = over(m.line, line);
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
    if (content["truncated"] === true) r.truncated = true;
    if (results++ === 0) setValue(r, "toolUseResult", msg.tool_use_result);
    toolComplete(x, parent, r);
  }
  if (rest.length > 0 || results === 0) userMessage(x, parent, msg, rest);
}
function userMessage(x, parent, msg, contents) {
  const uuid = str(msg.uuid);
  let m = uuid === "" ? void 0 : x.users.get(uuid)?.message;
  if (m === void 0 || msg.isPrompt !== true && msg.isReplay !== true && (m.restart ?? 0) !== x.restarts) {
    m = { role: "user", state: "complete", blocks: [] };
    began(m, x.restarts);
    const ref = x.add(parent, { kind: "message", message: m });
    if (uuid !== "") {
      m.uuid = uuid;
      x.users.set(uuid, { message: m, ref });
    }
  }
  m.blocks = contents.map((content, index) => {
    const b = { index, type: "", state: "complete" };
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
function result(x, msg) {
  const r = { ...msg };
  if (isAnswer(x, str(msg.result))) delete r.result;
  x.add("", { kind: "result", result: r });
  delete x.state.status;
  delete x.state.retry;
  if (x.turn !== void 0) x.turn.done = true;
  totals(x, msg);
}
function isAnswer(x, text) {
  const ref = x.state.answer;
  if (ref === void 0) return false;
  const b = x.message("", ref.messageId)?.find(ref.index);
  return b !== void 0 && b.type === "text" && (b.text ?? "") === text;
}
function totals(x, msg) {
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
function anew(t, costUsd, msg, restarts) {
  const grown = num(msg.total_cost_usd) - (costUsd - (t.costBefore ?? 0));
  const used = num(get(msg.usage, "input_tokens")) + num(get(msg.usage, "output_tokens"));
  const small2 = 1e-9;
  return grown < -small2 || restarts !== (t.restarts ?? 0) && used > 0 && grown <= small2;
}
function unknown(x, msg) {
  x.add(str(msg.parent_tool_use_id), { kind: "unknown", unknown: msg });
}

// src/fold/fold.ts
var Fold = class {
  lookup;
  /** Begins with an empty conversation, or continues from a snapshot. */
  constructor(snapshot) {
    this.lookup = new Lookup(snapshot ?? emptyConversation());
  }
  /** The state. It is changed in place: copy it to keep an old state. */
  get conversation() {
    this.lookup.settle();
    return this.lookup.state;
  }
  /** The number of steps that grows with the conversation, for tests. */
  get steps() {
    return this.lookup.steps;
  }
  /** Folds a message in. */
  apply(msg) {
    if (!isObj(msg)) return;
    const x = this.lookup;
    const session = str(get(msg, "session_id"));
    if (session !== "") x.state.sessionId = session;
    const provider = str(get(msg, "provider"));
    if (provider !== "") x.state.provider = provider;
    this.applyMessage(msg);
    x.settleSmall();
  }
  applyMessage(msg) {
    const x = this.lookup;
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
        x.add(str(msg.parent_tool_use_id), { kind: "error", error: msg });
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
        x.add("", { kind: "compaction", compaction: msg });
        return;
      case "rate_limit":
        x.state.rateLimit = msg;
        return;
      case "session_state":
        return sessionState(x, msg.state);
      case "queue_changed":
        return queueChanged(x, msg.items);
      case "queue_updated":
        return queueUpdated(x, msg);
      case "permission_request":
      case "question_request":
        return x.ask(msg);
      case "permission_resolved":
        return answered(x, "permission_request", msg, msg.behavior);
      case "question_resolved":
        return answered(x, "question_request", msg, msg.action);
      case "task_started":
        return taskStarted(x, msg);
      case "task_progress":
        return taskProgress(x, msg);
      case "task_updated":
        return taskUpdated(x, msg);
      case "task_notification":
        return taskNotification(x, msg);
      default:
        return this.applyTurn(msg);
    }
  }
  applyTurn(msg) {
    const x = this.lookup;
    switch (msg.type) {
      case "turn_start":
        return turnStart(x, msg);
      case "plan":
        x.thread(str(msg.parent_tool_use_id)).plan = msg;
        return;
      case "turn_diff":
        return turnDiff(x, msg);
      case "usage":
        return usage(x, msg);
      case "truncate":
        return truncate(x, msg);
      case "notice":
        return notice(x, msg);
      case "retry":
        x.state.retry = msg;
        return;
      case "hook":
        return hook(x, msg);
      case "session_info":
        return sessionInfo(x, msg);
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
