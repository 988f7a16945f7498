import type {
  Block,
  FoldedConversation,
  Item,
  Message,
  Task,
  Thread,
  ToolCall,
} from "./conversation";

/** The state of the fold. */
export type State = FoldedConversation;

/** An empty conversation. */
export function emptyConversation(): State {
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
      cacheReadInputTokens: 0,
    },
  };
}

function messageKey(parent: string, id: string): string {
  return parent + "\u0000" + id;
}

/** Finds things in a conversation. It is made from the conversation alone. */
export class Lookup {
  readonly threads = new Map<string, Thread>();
  readonly messages = new Map<string, Message>();
  readonly users = new Map<string, Message>();
  readonly tools = new Map<string, ToolCall>();
  readonly orphans = new Map<string, Thread>(); // results without their tool
  readonly tasks = new Map<string, Task>();
  readonly current = new Map<string, string>(); // the message that is streamed, by parent

  // The block that the last delta went to: the next one most likely does too.
  private lastParent = "";
  private lastMessage = "";
  private lastBlock: Block | undefined;

  constructor(readonly state: State) {
    for (const thread of state.threads) {
      this.threads.set(thread.parentToolUseId, thread);
      for (const item of thread.items) this.add(thread, item);
    }
    for (const task of state.tasks) this.tasks.set(task.id, task);
    this.thread("");
  }

  private add(thread: Thread, item: Item): void {
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

  thread(parent: string): Thread {
    let t = this.threads.get(parent);
    if (t === undefined) {
      if (parent !== "") this.thread("");
      t = { parentToolUseId: parent, items: [] };
      let at = this.state.threads.findIndex((other) => other.parentToolUseId > parent);
      if (at < 0) at = this.state.threads.length;
      this.state.threads.splice(at, 0, t);
      this.threads.set(parent, t);
    }
    return t;
  }

  message(parent: string, id: string): Message | undefined {
    return this.messages.get(messageKey(parent, id));
  }

  /** An assistant's message, a new one in the given state if there is none. */
  answer(parent: string, id: string, state: Message["state"]): Message {
    let m = this.message(parent, id);
    if (m === undefined) {
      m = { role: "assistant", state, blocks: [] };
      if (id !== "") m.id = id;
      this.thread(parent).items.push({ kind: "message", message: m });
      this.messages.set(messageKey(parent, id), m);
    }
    return m;
  }

  /** The block that a delta adds to, undefined if it is whole already. */
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

  /** The block of an index, a new one that streams if there is none. */
  block(m: Message, index: number, type: string): Block {
    let at = m.blocks.length;
    while (at > 0 && (m.blocks[at - 1] as Block).index > index) at--;
    const found = m.blocks[at - 1];
    if (found !== undefined && found.index === index) return found;
    const b: Block = { index, type, state: "streaming" };
    m.blocks.splice(at, 0, b);
    return b;
  }

  /** Removes blocks. */
  drop(m: Message, gone: (b: Block) => boolean): void {
    const kept = m.blocks.filter((b) => {
      if (!gone(b)) return true;
      this.dropTool(b);
      return false;
    });
    if (kept.length !== m.blocks.length) m.blocks = kept;
    this.forgetBlock();
  }

  dropTool(b: Block): void {
    if (b.tool && this.tools.get(b.tool.id) === b.tool) this.tools.delete(b.tool.id);
  }

  private position(t: Thread, m: Message): number {
    for (let i = t.items.length - 1; i >= 0; i--) {
      if (t.items[i]?.message === m) return i;
    }
    return -1;
  }

  /** Moves a message to the end of its thread. */
  toEnd(parent: string, m: Message): void {
    const t = this.thread(parent);
    const i = this.position(t, m);
    if (i < 0 || i === t.items.length - 1) return;
    t.items.push(...t.items.splice(i, 1));
  }

  /** Takes a message out of the conversation. */
  remove(parent: string, m: Message): void {
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
  task(id: string): Task {
    let t = this.tasks.get(id);
    if (t === undefined) {
      t = { id, isBackgrounded: false, status: "running" };
      this.state.tasks.push(t);
      this.tasks.set(id, t);
    }
    return t;
  }
}
