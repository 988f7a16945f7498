import type { Block, Item, Message } from "./conversation";
import { BlockHeap } from "./heap";
import type { ThreadIndex } from "./thread";

/** Indexes the blocks of an assistant's message. */
export class MessageIndex {
  gone = false; // it was removed
  blocks: Map<number, Block> | undefined; // while the list is not sorted
  open: Block[] = []; // that have begun, until the message is complete
  readonly partial = new BlockHeap(); // incomplete blocks; those completed since are skipped
  n = 0; // how many blocks there are
  whole = 0; // how many are complete
  live = 0; // how many stream
  broken = 0; // how many are incomplete

  constructor(
    readonly message: Message,
    readonly thread: ThreadIndex,
    readonly item: Item,
  ) {}

  /** Adds a block to the counts, or with -1 subtracts it. */
  count(b: Block, n: number): void {
    this.n += n;
    if (b.whole === true) this.whole += n;
    if (b.state === "streaming") this.live += n;
    else if (b.state === "incomplete") this.broken += n;
  }

  /** Records a block that is incomplete or has not stopped. */
  pending(b: Block): void {
    if (b.state === "streaming") this.open.push(b);
    if (b.whole !== true) this.partial.push(b);
  }

  /** The position of the block with an index in the sorted list, or where it would be inserted. */
  private place(index: number): number {
    const list = this.message.blocks;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as Block).index < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  find(index: number): Block | undefined {
    if (this.blocks !== undefined) return this.blocks.get(index);
    const b = this.message.blocks[this.place(index)];
    return b?.index === index ? b : undefined;
  }

  /** Whether a block still exists. */
  has(b: Block): boolean {
    return !this.gone && this.find(b.index) === b;
  }

  /** Adds a block. It returns false if the list is now unsorted. */
  insert(b: Block, small: number): boolean {
    const list = this.message.blocks;
    const last = list[list.length - 1];
    let ordered = true;
    if (this.blocks === undefined && (last === undefined || last.index < b.index)) list.push(b);
    else if (this.blocks === undefined && list.length <= small) list.splice(this.place(b.index), 0, b);
    else {
      this.unsettle();
      this.blocks?.set(b.index, b);
      list.push(b);
      ordered = false;
    }
    this.count(b, 1);
    this.pending(b);
    return ordered;
  }

  /** Allows adding and removing blocks without moving others. */
  unsettle(): void {
    if (this.blocks !== undefined) return;
    this.blocks = new Map();
    for (const b of this.message.blocks) this.blocks.set(b.index, b);
  }

  /** Sorts the blocks. */
  settle(): void {
    const blocks = this.blocks;
    if (blocks === undefined) return;
    this.message.blocks = this.message.blocks
      .filter((b) => blocks.get(b.index) === b)
      .sort((a, b) => a.index - b.index);
    this.blocks = undefined;
  }
}
