// Remarks on the changes of a session: written, collected, sent to the agent as one message.

import { signal } from "@preact/signals";
import type { ReviewComment, WorkspaceHunk } from "../rpc/service";
import { CallError, type Params } from "../rpc/connection";
import { newKey } from "./actions";
import { call, toast, w } from "./app";
import type { SessionStore } from "./session";
import { type Scope, sayWorkspace, staleHunks } from "./workspace";

/** The remarks of a session, and for those whose lines have changed what is there now. */
export class Review {
  readonly comments = signal<readonly ReviewComment[]>([]);
  readonly stale = signal<ReadonlyMap<string, readonly WorkspaceHunk[]>>(new Map());

  constructor(readonly session: string) {}

  async load(): Promise<void> {
    try {
      this.set((await call("review.list", { session_id: this.session })).comments);
    } catch (err) {
      if (err instanceof CallError && err.reason === "not_connected") return;
      this.set([]);
    }
  }

  private set(comments: readonly ReviewComment[] | null): void {
    this.comments.value = comments ?? [];
    const open = new Set(this.comments.peek().map((c) => c.id));
    this.stale.value = new Map([...this.stale.peek()].filter(([id]) => open.has(id)));
  }

  /** Adds a remark. It returns the hunks that are in the place of one that has changed. */
  async add(p: NewComment): Promise<{ ok: true } | { ok: false; text: string; hunks?: readonly WorkspaceHunk[] }> {
    try {
      await call("review.comment", { session_id: this.session, idempotency_key: newKey(), ...p });
      await this.load();
      return { ok: true };
    } catch (err) {
      const hunks = staleHunks(err);
      return { ok: false, text: sayWorkspace(err), ...(hunks ? { hunks } : {}) };
    }
  }

  async change(id: string, change: { text?: string; state?: "open" | "resolved" }): Promise<boolean> {
    return this.done(() => call("review.update", { session_id: this.session, id, ...change }));
  }

  async remove(id: string): Promise<boolean> {
    return this.done(() => call("review.remove", { session_id: this.session, id }));
  }

  private async done(f: () => Promise<{ comments: ReviewComment[] }>): Promise<boolean> {
    try {
      this.set((await f()).comments);
      return true;
    } catch (err) {
      toast(sayWorkspace(err), true);
      return false;
    }
  }

  /** Sends the remarks that are open as one message. Those whose lines have changed stay. */
  async send(text: string): Promise<boolean> {
    const params: Params<"review.send"> = { session_id: this.session, idempotency_key: newKey() };
    try {
      const r = await call("review.send", { ...params, ...(text === "" ? {} : { text }) });
      this.stale.value = new Map((r.stale ?? []).map((s) => [s.id, s.hunks]));
      toast(w.peek().review_.sent(r.sent.length, r.stale?.length ?? 0));
      await this.load();
      return true;
    } catch (err) {
      const hunks = staleHunks(err);
      if (hunks !== undefined) {
        const open = this.comments.peek().filter((c) => c.state === "open");
        this.stale.value = new Map(open.map((c) => [c.id, open.length === 1 ? hunks : []]));
      }
      toast(sayWorkspace(err), true);
      return false;
    }
  }
}

export interface NewComment extends Scope {
  file: string;
  from: number;
  to: number;
  side: "new" | "old";
  hunk: string;
  text: string;
}

const reviews = new Map<string, Review>();

export function reviewOf(store: SessionStore): Review {
  let r = reviews.get(store.id);
  if (r === undefined) {
    r = new Review(store.id);
    reviews.set(store.id, r);
  }
  return r;
}
