// A followed session and its folded conversation.

import type { FoldedConversation } from "../../src/fold/conversation";
import { Fold } from "../../src/fold/fold";
import { decodeValue } from "../../src/rpc/decode";
import type { Cursor, Update } from "./events";

export interface WatchOptions {
  /** Runs after each change of the conversation or the status. */
  onChange?: (watch: Watch) => void;
}

export type WatchStatus = "connecting" | "live" | "lost" | "failed" | "closed";

interface Waiter {
  holds: (c: FoldedConversation) => boolean;
  resolve: (c: FoldedConversation) => void;
  reject: (err: Error) => void;
}

export class Watch {
  /** "lost" while the connection is opened again; "failed" if the server refuses it. */
  status: WatchStatus = "connecting";
  /** The error with which the connection was lost or refused. */
  error: Error | undefined;
  cursor: Cursor | undefined;
  private fold = new Fold();
  private readonly abort = new AbortController();
  private readonly waiters = new Set<Waiter>();

  /** Made by Client.watch. */
  constructor(
    events: (signal: AbortSignal) => AsyncGenerator<Update, void>,
    private readonly options: WatchOptions,
  ) {
    void this.run(events(this.abort.signal));
  }

  /** The conversation. It is changed in place. */
  get conversation(): FoldedConversation {
    return this.fold.conversation;
  }

  /** Resolves when a condition holds for the conversation, and rejects if the session is refused or the watch is closed first. */
  until(holds: (c: FoldedConversation) => boolean): Promise<FoldedConversation> {
    return new Promise((resolve, reject) => {
      this.waiters.add({ holds, resolve, reject });
      if (this.status === "failed" || this.status === "closed") this.fail(this.error ?? new Error("the watch is closed"));
      else this.changed();
    });
  }

  close(): void {
    if (this.status !== "failed") this.status = "closed";
    this.abort.abort();
    this.fail(new Error("the watch is closed"));
  }

  private async run(updates: AsyncGenerator<Update, void>): Promise<void> {
    try {
      for await (const u of updates) {
        this.take(u);
        this.changed();
      }
    } catch (err) {
      this.status = "failed";
      this.error = err instanceof Error ? err : new Error(String(err));
      this.changed();
      this.fail(this.error);
    }
  }

  private take(u: Update): void {
    if (u.kind === "lost") {
      this.status = "lost";
      this.error = u.error;
      return;
    }
    this.status = "live";
    this.error = undefined;
    if (u.kind === "resumed") return;
    if (u.kind === "reset") {
      this.fold = new Fold(u.snapshot);
      this.cursor = u.cursor;
      return;
    }
    const { epoch, seq, sub, msg } = u.envelope;
    this.cursor = { epoch, seq, ...(sub ? { sub } : {}) };
    this.fold.apply(decodeValue(msg));
  }

  private changed(): void {
    this.options.onChange?.(this);
    for (const w of [...this.waiters]) {
      if (!w.holds(this.conversation)) continue;
      this.waiters.delete(w);
      w.resolve(this.conversation);
    }
  }

  private fail(err: Error): void {
    for (const w of this.waiters) w.reject(err);
    this.waiters.clear();
  }
}
