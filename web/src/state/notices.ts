// Notices and retries, at their position in the conversation.

import type { FoldedConversation, Notice, NoticeRow, Retry } from "../fold/conversation";
import { get, num, str } from "../fold/json";
import type { RpcMessage } from "../rpc/messages";

/** A notice, or a request to the model that was sent again. */
export interface Event {
  id: number;
  /** The number of items of the main thread before it. */
  at: number;
  notice?: Notice;
  retry?: Retry;
  /** When the limit resets, if the notice has a time. */
  resetsAt?: string;
}

/** How many are kept. Older ones are no longer drawn. */
const most = 200;

/** Notices that the page shows in another way, or that are for those who write programs for an agent. */
const elsewhere = new Set(["live", "deprecationNotice"]);

export class Happened {
  private list: Event[] = [];
  private next = 1;

  /**
   * Those that arrived while the main thread had from the first number of items up to, but not including, the second.
   */
  between(from: number, to: number): readonly Event[] {
    if (this.list.length === 0) return this.list;
    return this.list.filter((e) => e.at >= from && e.at < to);
  }

  /** Starts from a snapshot, in which a notice has only its turn. */
  reset(c: FoldedConversation): void {
    this.list = [];
    const items = c.threads[0]?.items ?? [];
    for (const row of c.notices ?? []) this.add({ at: placeOf(c, items, row), notice: row.notice });
    this.list.sort((a, b) => a.at - b.at || a.id - b.id);
  }

  /** Records the notices of a message after the fold has handled it. */
  note(msg: RpcMessage, c: FoldedConversation): void {
    const at = c.threads[0]?.items.length ?? 0;
    if (msg.type === "notice") {
      const resets = str(get(msg, "resets_at")) || str(get(get(msg, "data"), "resets_at"));
      this.add({ at, notice: msg, ...(resets ? { resetsAt: resets } : {}) });
    } else if (msg.type === "retry" && c.retry) {
      const last = this.list[this.list.length - 1];
      // The attempts of one request are one line.
      if (last?.retry && last.at === at && num(last.retry.attempt) < num(c.retry.attempt)) last.retry = c.retry;
      else this.add({ at, retry: c.retry });
    }
  }

  private add(e: Omit<Event, "id">): void {
    if (e.notice && elsewhere.has(e.notice.code ?? "")) return;
    this.list.push({ ...e, id: this.next++ });
    if (this.list.length > most) this.list.shift();
  }
}

/** Before the end of the turn that a notice belongs to; at the end while the turn continues. */
function placeOf(c: FoldedConversation, items: FoldedConversation["threads"][0]["items"], n: NoticeRow): number {
  if (!n.turnId) return items.length;
  const result = items.findIndex((i) => i.kind === "result" && i.turnId === n.turnId);
  if (result >= 0) return result;
  const turn = c.turns.findIndex((t) => t.id === n.turnId);
  return turn < 0 ? 0 : items.length;
}
