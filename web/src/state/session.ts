// One session that the page follows: the fold of its log, the rows, messages sent but not yet
// logged, and the times in envelopes.

import { batch, signal } from "@preact/signals";
import { Fold, type FoldedConversation } from "../fold";
import { get, str } from "../fold/json";
import type { Envelope } from "../rpc/connection";
import { decode, decodeValue } from "../rpc/decode";
import { Happened } from "./notices";
import { Rows } from "./rows";
import { Times } from "./times";

/** A message of this page that is not yet in the log. Its id is its idempotency key. */
export interface Sending {
  id: string;
  text: string;
  contexts: unknown[];
  images: Picture[];
  priority?: string;
  state: "sending" | "kept" | "failed";
  error?: string;
  /** The reason of the server. */
  reason?: string;
  /** Its position in the log. */
  seq?: number;
}

export interface Picture {
  name: string;
  type: string;
  data: string;
  size: number;
}

export interface Cursor {
  epoch: string;
  seq: number;
  sub?: number;
}

/** How long one flush may take before the rest waits for the next frame. */
const budget = 8;

/** The interval at which files are checked while a turn runs, in milliseconds. */
const fileInterval = 1000;

type Schedule = (f: () => void) => void;

const nextFrame: Schedule = (f) => {
  // A hidden page gets no frames; its log is folded slowly.
  if (typeof document !== "undefined" && !document.hidden) requestAnimationFrame(f);
  else setTimeout(f, 100);
};

export function revertKey(turn: string, file: string, hunk: string): string {
  return JSON.stringify([turn, file, hunk]);
}

export class SessionStore {
  /** Counts changes of the visible state. Components that draw it read this signal. */
  readonly version = signal(0);
  /** Counts changes other than deltas. Components that do not show streamed text read this signal. */
  readonly durable = signal(0);
  /** Counts logged changes of the session's files and of comments on them. */
  readonly files = signal(0);
  readonly reviews = signal(0);
  /**
   * Reverted parts of turns since the page began to follow: turn, file and hunk, "" for the whole file.
   */
  readonly reverted = new Set<string>();
  readonly phase = signal<"loading" | "live" | "gone">("loading");
  readonly sending = signal<readonly Sending[]>([]);
  /** Notices and retries at the place where they came. */
  readonly happened = new Happened();
  readonly rows = new Rows(this.happened);
  readonly times = new Times();
  fold = new Fold();
  cursor: Cursor | undefined;
  /** The answers since the page began to follow, by request id. */
  readonly answers = new Map<string, { by: string; behavior: string; title?: string }>();

  /** Whether it is a session on disk, which is read-only. */
  past = false;
  /** The versions of a prompt, where they are in the transcript itself. */
  versions: ((uuid: string) => { count: number; at: number; show: (n: number) => void } | undefined) | undefined;

  private buffer: Envelope[] = [];
  private scheduled = false;
  private deltaOnly = true;
  private touched = false;

  constructor(
    readonly id: string,
    private readonly onGap: (s: SessionStore) => void = () => {},
    private readonly schedule: Schedule = nextFrame,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The conversation. It is changed in place, so components that draw it also read the version. */
  get conversation(): FoldedConversation {
    void this.version.value;
    return this.fold.conversation;
  }

  /**
   * The conversation without dependence on deltas: it changes with everything but streamed text.
   */
  get settled(): FoldedConversation {
    void this.durable.value;
    return this.fold.conversation;
  }

  /** Starts again from a snapshot, or empty. */
  reset(cursor: Cursor, snapshot: unknown): void {
    this.buffer = this.buffer.filter((e) => e.epoch === cursor.epoch && e.seq > cursor.seq);
    this.fold = new Fold((snapshot ?? undefined) as FoldedConversation | undefined);
    this.cursor = { ...cursor };
    this.deltaOnly = false;
    this.happened.reset(this.fold.conversation);
    this.changed();
    batch(() => {
      this.files.value++;
      this.reviews.value++;
    });
  }

  /** Queues an envelope. Its changes are visible with the next frame. */
  receive(e: Envelope): void {
    this.buffer.push(e);
    this.plan();
  }

  private plan(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => this.flush());
  }

  /** Folds queued envelopes for at most a few milliseconds. */
  flush(): void {
    this.scheduled = false;
    const end = this.now() + budget;
    let i = 0;
    for (; i < this.buffer.length; i++) {
      const e = this.buffer[i];
      if (e !== undefined && !this.take(e)) break;
      if ((i & 15) === 15 && this.now() > end) {
        i++;
        break;
      }
    }
    this.buffer = this.buffer.slice(i);
    if (this.buffer.length > 0) this.plan();
    if (i > 0) this.changed();
  }

  /** Folds an envelope if it is the next one. False stops the flush. */
  private take(e: Envelope): boolean {
    const c = this.cursor;
    if (c === undefined) return true;
    if (e.epoch !== c.epoch) {
      this.gap();
      return false;
    }
    const sub = e.sub ?? 0;
    if (sub > 0) {
      // A delta is only valid between its two durable events.
      if (e.seq !== c.seq || sub <= (c.sub ?? 0)) return true;
      c.sub = sub;
    } else {
      if (e.seq <= c.seq) return true;
      if (e.seq !== c.seq + 1) {
        this.gap();
        return false;
      }
      c.seq = e.seq;
      delete c.sub;
    }
    this.apply(e);
    return true;
  }

  private gap(): void {
    this.buffer = [];
    this.onGap(this);
  }

  private apply(e: Envelope): void {
    const msg = typeof e.msg === "string" ? decode(e.msg) : decodeValue(e.msg);
    const delta = msg.type === "unknown" && msg.originalType === "system/thinking_tokens";
    if (!delta && msg.type !== "stream_event" && msg.type !== "tool_progress") this.deltaOnly = false;
    this.times.note(msg, e.ts);
    if (msg.type === "permission_resolved") {
      this.answers.set(msg.request_id, { by: msg.by ?? "", behavior: msg.behavior });
    } else if (msg.type === "question_resolved") {
      this.answers.set(msg.request_id, { by: msg.by ?? "", behavior: msg.action });
    }
    this.fold.apply(msg);
    this.happened.note(msg, this.fold.conversation);
    // A tool may have changed files; the event at the end of its turn confirms it.
    if (msg.type === "user" && !msg.isPrompt) this.touch();
    if (msg.type !== "session_info") return;
    const files = get(msg, "workspace");
    const key = revertKey(str(get(files, "turn_id")), str(get(files, "file")), str(get(files, "hunk")));
    if (str(get(files, "event")) === "reverted") this.reverted.add(key);
    if (str(get(files, "event")) === "restored") this.reverted.delete(key);
    // The start of a turn changes no file.
    if (files !== undefined && str(get(files, "event")) !== "turn_started") this.files.value++;
    if (get(msg, "review") !== undefined) this.reviews.value++;
  }

  /** Counts files as changed, at a limited rate. */
  private touch(): void {
    if (this.touched) return;
    this.touched = true;
    setTimeout(() => {
      this.touched = false;
      this.files.value++;
    }, fileInterval);
  }

  private changed(): void {
    const c = this.fold.conversation;
    if (this.deltaOnly) this.rows.extend(c);
    else this.rows.rebuild(c);
    const whole = !this.deltaOnly;
    this.deltaOnly = true;
    this.settleSending();
    batch(() => {
      this.version.value++;
      if (whole) this.durable.value++;
    });
  }

  /** This page's messages that are now in the log are shown from the log. */
  private settleSending(): void {
    const list = this.sending.peek();
    if (list.length === 0) return;
    const seq = this.cursor?.seq ?? 0;
    const left = list.filter((s) => !(s.seq !== undefined && s.seq <= seq) && !this.holds(s.id));
    if (left.length !== list.length) this.sending.value = left;
  }

  private holds(id: string): boolean {
    const c = this.fold.conversation;
    if (c.queue.some((q) => q.id === id)) return true;
    const items = c.threads[0]?.items ?? [];
    for (let i = items.length - 1; i >= 0 && i > items.length - 50; i--) {
      if (items[i]?.message?.uuid === id) return true;
    }
    return false;
  }

  setSending(id: string, change: Partial<Sending>): void {
    this.sending.value = this.sending.peek().map((s) => (s.id === id ? { ...s, ...change } : s));
    this.settleSending();
  }

  drop(id: string): void {
    this.sending.value = this.sending.peek().filter((s) => s.id !== id);
  }
}
