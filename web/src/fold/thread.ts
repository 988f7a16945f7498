import type { Item, Thread } from "./conversation";

/** Indexes the items of a thread. */
export class ThreadIndex {
  private at: Map<Item, number> | undefined; // the position of an item; created on first use
  from = 0; // the first position that is not sorted
  dirty = false;

  constructor(readonly thread: Thread) {}

  /** Whether the positions of items are known. */
  get indexed(): boolean {
    return this.at !== undefined;
  }

  push(item: Item): void {
    this.at?.set(item, this.thread.items.length);
    this.thread.items.push(item);
  }

  /** The positions of items, by item. */
  private places(): Map<Item, number> {
    if (this.at === undefined) {
      const at = new Map<Item, number>();
      this.thread.items.forEach((item, i) => at.set(item, i));
      this.at = at;
    }
    return this.at;
  }

  /** The position of an item; undefined if it was removed. */
  position(item: Item): number | undefined {
    return this.places().get(item);
  }

  /** Marks an item as removed; settle removes it. */
  leave(item: Item): boolean {
    const i = this.position(item);
    if (i === undefined) return false;
    this.places().delete(item);
    this.from = this.dirty ? Math.min(this.from, i) : i;
    this.dirty = true;
    return true;
  }

  /** Whether all items have left. */
  get empty(): boolean {
    return this.places().size === 0;
  }

  /** Sorts the items. */
  settle(): void {
    if (!this.dirty) return;
    const items = this.thread.items;
    const at = this.places();
    let n = this.from;
    for (let i = this.from; i < items.length; i++) {
      const item = items[i] as Item;
      if (at.get(item) !== i) continue;
      items[n] = item;
      at.set(item, n);
      n++;
    }
    items.length = n;
    this.dirty = false;
  }
}
