// The rows of a conversation, as the list draws them. Rows are small: a long answer is many rows,
// of which only the visible ones are drawn.

import type { Block, FoldedConversation, Item, Message, Thread } from "../fold/conversation";
import { thoughtTokens } from "./known";
import type { Event, Happened } from "./notices";
import { isLocalOutput } from "./tidy";

export type RowKind = "user" | "text" | "thinking" | "tool" | "block" | "result" | "notice" | "event" | "pending";

export interface Row {
  key: string;
  kind: RowKind;
  item: Item;
  message?: Message;
  block?: Block;
  /** A notice or a retry. */
  event?: Event;
  /** The number of thinking tokens, if the agent reports it. */
  tokens?: number;
  /** Whether its text was cut off without a stop by a person. */
  cut?: boolean;
  /** Whether the line of the turn continues below. */
  more: boolean;
}

/**
 * Reports whether a message of the user's role was written by a person and not generated for the
 * agent.
 */
export function isPerson(m: Message): boolean {
  if (m.role !== "user" || m.user?.isSynthetic === true || m.user?.isMeta === true || isStop(m)) return false;
  return !isLocalOutput(m.blocks[0]?.text ?? "");
}

/** The note that the CLI writes in the person's name when a turn was stopped. */
export function isStop(m: Message): boolean {
  return (
    m.role === "user" &&
    m.user?.isPrompt !== true &&
    m.blocks.length === 1 &&
    /^\[Request interrupted by user[^\]]*\]$/.test(m.blocks[0]?.text ?? "")
  );
}

function nameOf(item: Item, at: number): string {
  const m = item.message;
  if (m?.id) return m.restart === undefined ? m.id : `${m.id}#${m.restart}`; // a restarted agent may reuse an id
  if (m?.uuid) return m.uuid;
  const uuid = item.result?.uuid ?? item.compaction?.uuid ?? item.toolResult?.uuid;
  return uuid ?? `${item.kind}-${at}`;
}

function isEmpty(b: Block): boolean {
  if (b.type === "text") return (b.text ?? "").trim() === "" && b.state !== "streaming";
  if (b.type === "thinking") return (b.text ?? "") === "" && b.state !== "streaming";
  return false;
}

function rowsOfItem(items: readonly Item[], at: number, out: Row[]): void {
  const item = items[at];
  if (item === undefined) return;
  // Unknown messages are listed among the events and exported, but not shown in the conversation.
  if (item.unknown) {
    const tokens = thoughtTokens(item);
    if (tokens !== undefined) noteThought(out, tokens);
    return;
  }
  const name = nameOf(item, at);
  const m = item.message;
  if (m === undefined) {
    // An empty turn has no row for its end.
    const r = item.result;
    if (r && !r.is_error && !r.result && out[out.length - 1]?.kind === "result") return;
    out.push({ key: name, kind: item.kind === "result" ? "result" : "notice", item, more: false });
    return;
  }
  if (m.role === "user") {
    if (m.blocks.length === 0) return;
    out.push({ key: name, kind: isPerson(m) ? "user" : "notice", item, message: m, more: false });
    return;
  }
  for (const block of m.blocks) {
    // The text of a fault is in its row.
    if (isEmpty(block) || (m.line?.error && block.type === "text")) continue;
    const row: Row = { key: `${name}/${block.index}`, kind: kindOf(block), item, message: m, block, more: true };
    const tokens = row.kind === "thinking" ? thoughtBefore(items, at) : undefined;
    if (tokens !== undefined) row.tokens = tokens;
    out.push(row);
  }
  if (m.line?.error) out.push({ key: `${name}/error`, kind: "notice", item, message: m, more: true });
}

/** The thinking before a message was complete; the message then follows the items that count it. */
function thoughtBefore(items: readonly Item[], at: number): number | undefined {
  for (let i = at - 1; i >= 0 && items[i]?.unknown; i--) {
    const tokens = thoughtTokens(items[i] as Item);
    if (tokens !== undefined) return tokens;
  }
  return undefined;
}

/** Sets the length of the turn's last thought. */
function noteThought(rows: readonly Row[], tokens: number): void {
  for (let i = rows.length - 1; i >= 0 && rows[i]?.kind !== "user" && rows[i]?.kind !== "result"; i--) {
    const row = rows[i];
    if (row?.kind !== "thinking") continue;
    row.tokens = tokens;
    return;
  }
}

function kindOf(b: Block): RowKind {
  if (b.tool) return "tool";
  if (b.type === "text" || b.type === "thinking") return b.type;
  return "block";
}

/** Makes the keys of items with one name distinct, and ends a turn's line at its last row. */
function finish(rows: Row[], from: number): void {
  const seen = new Map<string, number>();
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (row === undefined) continue;
    const n = seen.get(row.key) ?? 0;
    seen.set(row.key, n + 1);
    if (i < from) continue;
    if (n > 0) row.key += `~${n}`;
    const next = rows[i + 1];
    if (row.kind === "text" && row.block?.state === "incomplete" && !isStopped(next)) row.cut = true;
    row.more = row.kind !== "user" && row.kind !== "result" && next !== undefined && next.kind !== "user";
  }
}

/** Reports whether a row shows that a person stopped the turn. */
function isStopped(row: Row | undefined): boolean {
  if (row?.message && isStop(row.message)) return true;
  const r = row?.item.result;
  return r?.terminal_reason === "aborted_streaming" || r?.subtype === "interrupted";
}

/** The rows of a thread. */
export function rowsOf(thread: Thread | undefined): Row[] {
  const rows: Row[] = [];
  thread?.items.forEach((_, i) => {
    rowsOfItem(thread.items, i, rows);
  });
  finish(rows, 0);
  return rows;
}

/**
 * The rows of the main thread, kept while a conversation grows. After a delta only the
 * rows of the last items are made again; every other message makes all of them again.
 */
export class Rows {
  private list: Row[] = [];
  private starts: number[] = [];
  private count = 0;
  /** How many rows the last change did not affect. */
  same = 0;

  constructor(private readonly happened?: Happened) {}

  get(): readonly Row[] {
    return this.list;
  }

  /** All rows, from the beginning. */
  rebuild(c: FoldedConversation): readonly Row[] {
    this.list = [];
    this.starts = [];
    this.count = 0;
    this.same = 0;
    this.append(c, 0);
    return this.list;
  }

  /** The rows after a delta, which changes only the last items. */
  extend(c: FoldedConversation): readonly Row[] {
    const items = c.threads[0]?.items ?? [];
    if (items.length < this.count) return this.rebuild(c);
    // A delta can change only the last three known items.
    let from = this.count;
    for (let known = 0; from > 0 && known < 3; ) if (items[--from]?.unknown === undefined) known++;
    this.same = Math.max(0, (this.starts[from] ?? 0) - 1);
    this.list = this.list.slice(0, this.starts[from] ?? 0);
    this.starts.length = from;
    this.append(c, from);
    return this.list;
  }

  private append(c: FoldedConversation, from: number): void {
    const items = c.threads[0]?.items ?? [];
    const rowFrom = Math.max(0, this.list.length - 1);
    for (let i = from; i < items.length; i++) {
      this.starts.push(this.list.length);
      this.events(i, i + 1);
      rowsOfItem(items, i, this.list);
    }
    this.events(items.length, Number.POSITIVE_INFINITY);
    this.count = items.length;
    if (rowFrom === 0) finish(this.list, 0);
    else finishTail(this.list, rowFrom);
  }

  /** The notices and retries before these items. */
  private events(from: number, to: number): void {
    for (const event of this.happened?.between(from, to) ?? [])
      this.list.push({ key: `event-${event.id}`, kind: "event", item: noItem, event, more: false });
  }
}

/** The item of a row that shows an event and belongs to no item. */
const noItem: Item = { kind: "event" };

/** Like finish, for the last rows, in which names repeat only near each other. */
function finishTail(rows: Row[], from: number): void {
  const tail = rows.slice(Math.max(0, from - 8));
  finish(tail, tail.length - (rows.length - from));
}

/** The threads of a conversation by the tool use that they belong to. */
export function threadOf(c: FoldedConversation, toolUseId: string): Thread | undefined {
  return c.threads.find((t) => t.parentToolUseId === toolUseId);
}
