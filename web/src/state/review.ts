// Comments on the changes of a session: written, collected, and sent to the agent as one message.

import { signal } from "@preact/signals";
import type { ReviewComment, WorkspaceHunk } from "../rpc/service";
import { CallError, type Params } from "../rpc/connection";
import { newKey } from "./actions";
import { call, toast, w } from "./app";
import type { SessionStore } from "./session";
import { sameScope, type Scope, sayWorkspace, staleHunks } from "./workspace";

/** The lines of a comment, and the line below which its form is drawn. */
export interface Place {
  side: "new" | "old";
  from: number;
  to: number;
  at: number;
}

/** A comment that is being written. It outlives its hunk, which is replaced when the file changes. */
export interface Writing {
  id: number;
  scope: Scope;
  file: string;
  hunk: WorkspaceHunk;
  place: Place;
  text: string;
}

/** A comment that is being edited: the new text, and the position of its field. */
export interface Edit {
  text: string;
  listed: boolean;
}

let lastWriting = 0;

/** The comments of a session, and the current lines of those that are outdated. */
export class Review {
  readonly comments = signal<readonly ReviewComment[]>([]);
  readonly stale = signal<ReadonlyMap<string, readonly WorkspaceHunk[]>>(new Map());
  /**
   * Unsaved comments. They stay until they are sent or discarded, even if the page does not show them.
   */
  readonly writing = signal<readonly Writing[]>([]);
  readonly edits = signal<ReadonlyMap<string, Edit>>(new Map());
  readonly words = signal("");
  /** The comment that has the focus, or had it when it was removed from the page. */
  focused = 0;

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

  /** Adds a comment. If its hunk has changed, it returns the current hunks there. */
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

  /**
   * Begins a comment on lines of a hunk. An unsaved comment of this place moves to the lines, and so does one of this file if its hunk no
   * longer exists; hunks are the file's current ones.
   */
  begin(scope: Scope, file: string, hunk: WorkspaceHunk, place: Place, hunks: readonly WorkspaceHunk[]): void {
    const mine = this.writing.peek().filter((d) => d.file === file && sameScope(d.scope, scope));
    const moved =
      mine.find((d) => placeNow(d, hunks)?.hunk.id === hunk.id) ?? mine.find((d) => placeNow(d, hunks) === undefined);
    const id = moved?.id ?? ++lastWriting;
    this.focused = id;
    const next: Writing = { id, scope, file, hunk, place, text: moved?.text ?? "" };
    this.writing.value = [...this.writing.peek().filter((d) => d.id !== id), next];
  }

  write(id: number, change: Partial<Writing>): void {
    this.writing.value = this.writing.peek().map((d) => (d.id === id ? { ...d, ...change } : d));
  }

  discard(id: number): void {
    this.writing.value = this.writing.peek().filter((d) => d.id !== id);
  }

  edit(id: string, edit: Edit | undefined): void {
    const next = new Map(this.edits.peek());
    if (edit) next.set(id, edit);
    else next.delete(id);
    this.edits.value = next;
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

  /** Sends the open comments as one message. Outdated ones stay. */
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

/**
 * The position of an unsaved comment among the current hunks: at the same lines. Undefined if the lines no longer
 * exist.
 */
export function placeNow(
  d: Writing,
  hunks: readonly WorkspaceHunk[],
): { hunk: WorkspaceHunk; place: Place } | undefined {
  const { side, from, to } = d.place;
  const moved = (hunk: WorkspaceHunk, by: number) => ({
    hunk,
    place: { side, from: from + by, to: to + by, at: d.place.at + by },
  });
  // A hunk keeps its id when lines above it come and go.
  const same = hunks.find((h) => h.id === d.hunk.id);
  if (same) return moved(same, startOf(same, side) - startOf(d.hunk, side));
  const wanted = linesOf(d);
  if (wanted.length === 0) return undefined;
  const found = hunks.flatMap((hunk) => {
    const all = sideOf(hunk, side);
    const first = startOf(hunk, side);
    return all.flatMap((_, i) => (wanted.every((l, k) => all[i + k] === l) ? [{ hunk, from: first + i }] : []));
  });
  // If the lines occur twice, either could be meant.
  const [only, other] = found;
  if (only === undefined || other !== undefined) return undefined;
  return moved(only.hunk, only.from - from);
}

const startOf = (h: WorkspaceHunk, side: "new" | "old") => (side === "new" ? h.newStart : h.oldStart);

/** The lines of a comment, as they were when it was begun, with their signs. */
export function linesOf({ hunk, place }: Writing): string[] {
  const start = startOf(hunk, place.side);
  return sideOf(hunk, place.side).slice(place.from - start, place.to - start + 1);
}

/** The lines of one side of a hunk, with their signs: an added line differs from an unchanged one. */
function sideOf(h: WorkspaceHunk, side: "new" | "old"): string[] {
  return h.lines.filter((l) => l.startsWith(" ") || l.startsWith(side === "new" ? "+" : "-"));
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
