import type { Block, FoldedConversation, HookRun, Item, Message, Prompt, Task, Thread, ToolCall, Turn } from "./conversation";
import { str } from "./json";
import { MessageIndex } from "./message";
import { ThreadIndex } from "./thread";

/** The state of the fold. */
export type State = FoldedConversation;

/** The number of the JSON form of a conversation, the same as in Go. */
export const conversationVersion = 2;

/** An empty conversation. */
export function emptyConversation(): State {
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
      cacheReadInputTokens: 0,
    },
    hooks: [],
    notices: [],
  };
}

/** The length up to which a list is sorted immediately; a longer one is sorted by settle. */
const small = 512;

function key(...parts: string[]): string {
  return parts.join("\u0000");
}

function messageKey(parent: string, m: Message): string {
  return key(parent, m.id ?? "", `${m.restart ?? 0}`);
}

/** Records the number of agent starts before something began. */
export function began(x: { restart?: number }, restarts: number): void {
  if (restarts > 0) x.restart = restarts;
}

/** An item of a thread. */
export interface ItemRef {
  thread: ThreadIndex;
  item: Item;
}

/** Indexes a conversation. It is built from the conversation only. */
export class Lookup {
  private threads = new Map<string, ThreadIndex>();
  private messages = new Map<string, MessageIndex>();
  users = new Map<string, { message: Message; ref: ItemRef }>();
  tools = new Map<string, ToolCall>();
  orphans = new Map<string, ItemRef[]>(); // results without their tool
  lines = new Map<string, { message: MessageIndex; block: Block }[]>();
  current = new Map<string, string>(); // the message that is streamed, by parent
  turns = new Map<string, Turn>();
  readonly tasks = new Map<string, Task>();
  readonly hooks = new Map<string, HookRun>();
  private readonly prompts = new Map<string, Prompt>();
  private byTurn: Map<string, ItemRef[]> | undefined; // created on first use
  calls: ToolCall[] = []; // that may run: those since the agent began
  private readonly restartOf = new Map<string, number>(); // of tools, while the lookup is built

  // Lists that are not sorted, and those that the current message has changed.
  private readonly dirtyThreads = new Set<ThreadIndex>();
  private readonly dirtyMessages = new Set<MessageIndex>();
  private threadsDirty = false;
  private promptsDirty = false;
  private touchedThreads: ThreadIndex[] = [];
  private touchedMessages: MessageIndex[] = [];

  steps = 0; // counts steps whose number grows with the conversation, for tests

  // The block of the last delta, which the next one most likely adds to as well.
  private lastParent = "";
  private lastMessage = "";
  private lastBlock: Block | undefined;

  constructor(readonly state: State) {
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

  private index(t: ThreadIndex, item: Item): void {
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
  private foundTool(tool: ToolCall, restart: number): void {
    if (tool.status === "in_progress") this.calls.push(tool);
    if (tool.id === "" || restart < (this.restartOf.get(tool.id) ?? 0)) return;
    this.tools.set(tool.id, tool);
    if (restart > 0) this.restartOf.set(tool.id, restart);
  }

  /** The number of restarts of the agent. */
  get restarts(): number {
    return this.state.restarts ?? 0;
  }

  /** The turn to which an agent's id refers. */
  findTurn(id: string): Turn | undefined {
    return this.turns.get(this.again(id)) ?? this.turns.get(id);
  }

  /** The id of a turn that a restarted agent has reused. */
  again(id: string): string {
    return this.restarts === 0 ? id : `${id}#${this.restarts}`;
  }

  /** Records which line has confirmed a block. */
  line(message: MessageIndex, block: Block): void {
    if (block.uuid === undefined || block.uuid === "") return;
    const k = key(message.thread.thread.parentToolUseId, block.uuid);
    const refs = this.lines.get(k);
    if (refs === undefined) this.lines.set(k, [{ message, block }]);
    else refs.push({ message, block });
  }

  /** The blocks that a line has confirmed. */
  confirmed(parent: string, uuid: string): { message: MessageIndex; block: Block }[] {
    return (this.lines.get(key(parent, uuid)) ?? []).filter((r) => r.block.uuid === uuid && r.message.has(r.block));
  }

  forgetLine(parent: string, uuid: string): void {
    this.lines.delete(key(parent, uuid));
  }

  /** Records a result without its tool. */
  orphan(ref: ItemRef): void {
    const id = ref.item.toolResult?.toolUseId ?? "";
    const refs = this.orphans.get(id);
    if (refs === undefined) this.orphans.set(id, [ref]);
    else refs.push(ref);
  }

  private threadIndex(parent: string): ThreadIndex {
    let t = this.threads.get(parent);
    if (t !== undefined) return t;
    if (parent !== "") this.threadIndex("");
    t = new ThreadIndex({ parentToolUseId: parent, items: [] });
    this.threads.set(parent, t);
    const list = this.state.threads;
    const last = list[list.length - 1];
    if (last !== undefined && last.parentToolUseId >= parent) this.threadsDirty = true;
    list.push(t.thread);
    return t;
  }

  thread(parent: string): Thread {
    return this.threadIndex(parent).thread;
  }

  /** The turn that runs or ran last. */
  get turn(): Turn | undefined {
    return this.state.turns[this.state.turns.length - 1];
  }

  beginTurn(t: Turn): Turn {
    this.state.turns.push(t);
    this.turns.set(t.id, t);
    return t;
  }

  /** Adds an item to the end of a thread, in the turn that runs. */
  add(parent: string, item: Item): ItemRef {
    const thread = this.threadIndex(parent);
    const ref = { thread, item };
    thread.push(item);
    this.inTurn(ref, this.turn);
    return ref;
  }

  /** Records that an item belongs to a turn. */
  inTurn(ref: ItemRef, turn: Turn | undefined): void {
    if (turn === undefined || (ref.item.turnId ?? "") === turn.id) return;
    if (turn.id === "") delete ref.item.turnId;
    else ref.item.turnId = turn.id;
    this.noteTurn(ref);
  }

  private noteTurn(ref: ItemRef): void {
    const id = ref.item.turnId;
    if (this.byTurn === undefined || id === undefined) return;
    const refs = this.byTurn.get(id);
    if (refs === undefined) this.byTurn.set(id, [ref]);
    else refs.push(ref);
  }

  message(parent: string, id: string): MessageIndex | undefined {
    return this.messages.get(key(parent, id, `${this.restarts}`));
  }

  /** Returns an assistant's message, and creates it in the given state if it is missing. */
  answer(parent: string, id: string, state: Message["state"]): MessageIndex {
    let m = this.message(parent, id);
    if (m === undefined) {
      const message: Message = { role: "assistant", state, blocks: [] };
      if (id !== "") message.id = id;
      began(message, this.restarts);
      const ref = this.add(parent, { kind: "message", message });
      m = new MessageIndex(message, ref.thread, ref.item);
      this.messages.set(key(parent, id, `${this.restarts}`), m);
    }
    return m;
  }

  /** The block that a delta adds to; undefined if the block is complete. */
  delta(parent: string, id: string, index: number, type: string): Block | undefined {
    let b = this.lastBlock;
    if (b === undefined || b.index !== index || this.lastMessage !== id || this.lastParent !== parent) {
      b = this.block(this.answer(parent, id, "streaming"), index, type);
      this.lastBlock = b;
      this.lastMessage = id;
      this.lastParent = parent;
    }
    return b.whole === true ? undefined : b;
  }

  forgetBlock(): void {
    this.lastBlock = undefined;
  }

  /** Returns the block with an index, and creates a streaming one if it is missing. */
  block(m: MessageIndex, index: number, type: string): Block {
    const found = m.find(index);
    if (found !== undefined) return found;
    const b: Block = { index, type, state: "streaming" };
    const ordered = m.blocks === undefined;
    const at = m.message.blocks.length;
    if (m.insert(b, small)) this.steps += m.message.blocks[at] === b ? 1 : Math.min(at, small);
    else {
      this.dirtyMessages.add(m);
      if (ordered) this.steps += at;
    }
    return b;
  }

  /** Removes a block. */
  drop(m: MessageIndex, b: Block): void {
    if (!m.has(b)) return;
    m.count(b, -1);
    this.dropTool(b);
    if (m.blocks === undefined) this.steps += m.message.blocks.length;
    m.unsettle();
    m.blocks?.delete(b.index);
    this.dirtyMessages.add(m);
    this.touchedMessages.push(m);
    this.forgetBlock();
  }

  /** Removes the incomplete blocks from an index on. */
  dropPartial(m: MessageIndex, from: number): void {
    for (let b = m.partial.top; b !== undefined && b.index >= from; b = m.partial.top) {
      m.partial.pop();
      this.steps++;
      if (b.whole !== true) this.drop(m, b);
    }
  }

  dropTool(b: Block): void {
    if (b.tool && this.tools.get(b.tool.id) === b.tool) this.tools.delete(b.tool.id);
  }

  /** Removes an item from its thread. */
  leave(ref: ItemRef): boolean {
    if (!ref.thread.indexed) this.steps += ref.thread.thread.items.length;
    if (!ref.thread.leave(ref.item)) return false;
    this.dirtyThreads.add(ref.thread);
    this.touchedThreads.push(ref.thread);
    return true;
  }

  /** Moves a message to the end of its thread, into the turn that runs. */
  toEnd(m: MessageIndex): void {
    this.inTurn(m, this.turn);
    const items = m.thread.thread.items;
    if (items[items.length - 1] === m.item) return;
    this.leave(m);
    m.thread.push(m.item);
  }

  /** Removes a message from the conversation. */
  remove(m: MessageIndex): void {
    this.leave(m);
    m.gone = true;
    this.messages.delete(messageKey(m.thread.thread.parentToolUseId, m.message));
    this.forgetBlock();
    this.emptied(m.thread);
  }

  /** Removes a subagent's thread without items from the conversation. */
  private emptied(t: ThreadIndex): void {
    const parent = t.thread.parentToolUseId;
    if (parent === "" || !t.empty || this.threads.get(parent) !== t) return;
    this.dropThread(t);
  }

  private dropThread(t: ThreadIndex): void {
    this.threads.delete(t.thread.parentToolUseId);
    this.dirtyThreads.delete(t);
    this.threadsDirty = true;
  }

  /** Removes an item, with the threads of the subagents that it called. */
  forget(ref: ItemRef): void {
    const parent = ref.thread.thread.parentToolUseId;
    if (ref.thread.position(ref.item) === undefined || this.threads.get(parent) !== ref.thread) return;
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
    } else if (m?.uuid !== undefined && this.users.get(m.uuid)?.message === m) {
      this.users.delete(m.uuid);
    }
    this.leave(ref);
    this.emptied(ref.thread);
  }

  private forgetThread(parent: string): void {
    const thread = this.threads.get(parent);
    if (thread === undefined || parent === "") return;
    for (const item of [...thread.thread.items]) this.forget({ thread, item });
    if (this.threads.get(parent) === thread) this.dropThread(thread);
  }

  /** Forgets all threads and turns. */
  clear(): void {
    this.state.threads = [];
    this.state.turns = [];
    this.threads = new Map();
    this.messages = new Map();
    this.users = new Map();
    this.tools = new Map();
    this.orphans = new Map();
    this.lines = new Map();
    this.current = new Map();
    this.turns = new Map();
    this.byTurn = undefined;
    this.dirtyThreads.clear();
    this.dirtyMessages.clear();
    this.touchedThreads = [];
    this.touchedMessages = [];
    this.threadsDirty = false;
    this.forgetBlock();
    this.thread("");
  }

  /** The items of a turn. */
  itemsOf(turnId: string): ItemRef[] {
    if (this.byTurn === undefined) {
      this.byTurn = new Map();
      for (const thread of this.threads.values()) {
        for (const item of thread.thread.items) this.noteTurn({ thread, item });
      }
    }
    return this.byTurn.get(turnId) ?? [];
  }

  forgetTurn(id: string): void {
    this.byTurn?.delete(id);
    this.turns.delete(id);
  }

  /** Returns the task with an id, and creates a running one if it is missing. */
  task(id: string): Task {
    let t = this.tasks.get(id);
    if (t === undefined) {
      t = { id, isBackgrounded: false, status: "running" };
      began(t, this.restarts);
      this.state.tasks.push(t);
      this.tasks.set(id, t);
    }
    return t;
  }

  /** Adds a prompt that waits, in place of one with the same id. */
  ask(p: Prompt): void {
    const k = key(p.type, str(p.request_id));
    const old = this.prompts.get(k);
    if (old === undefined) {
      const added = { ...p };
      this.prompts.set(k, added);
      this.state.prompts.push(added);
      return;
    }
    for (const name of Object.keys(old)) delete (old as unknown as Record<string, unknown>)[name];
    Object.assign(old, p);
  }

  /** Removes a prompt. */
  answered(type: Prompt["type"], requestId: string): Prompt | undefined {
    const k = key(type, requestId);
    const p = this.prompts.get(k);
    if (p !== undefined) {
      this.prompts.delete(k);
      this.promptsDirty = true;
    }
    return p;
  }

  /** Sorts the lists that a message has changed, unless they are long. */
  settleSmall(): void {
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
  settle(): void {
    for (const t of this.dirtyThreads) this.settleThread(t);
    for (const m of this.dirtyMessages) this.settleMessage(m);
    if (this.threadsDirty) this.settleThreads();
    if (this.promptsDirty) this.settlePrompts();
  }

  private settleThread(t: ThreadIndex): void {
    this.steps += t.thread.items.length - t.from;
    t.settle();
    this.dirtyThreads.delete(t);
  }

  private settleMessage(m: MessageIndex): void {
    this.steps += m.message.blocks.length;
    m.settle();
    this.dirtyMessages.delete(m);
  }

  private settleThreads(): void {
    this.steps += this.state.threads.length;
    this.state.threads = this.state.threads
      .filter((t) => this.threads.get(t.parentToolUseId)?.thread === t)
      .sort((a, b) => (a.parentToolUseId < b.parentToolUseId ? -1 : a.parentToolUseId > b.parentToolUseId ? 1 : 0));
    this.threadsDirty = false;
  }

  private settlePrompts(): void {
    this.steps += this.state.prompts.length;
    this.state.prompts = this.state.prompts.filter((p) => this.prompts.get(key(p.type, p.request_id)) === p);
    this.promptsDirty = false;
  }
}
