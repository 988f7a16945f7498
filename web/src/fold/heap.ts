import type { Block } from "./conversation";

/** Blocks, the one with the highest index first. */
export class BlockHeap {
  private readonly list: Block[] = [];

  /** The block with the highest index. */
  get top(): Block | undefined {
    return this.list[0];
  }

  push(b: Block): void {
    const list = this.list;
    let i = list.length;
    list.push(b);
    while (i > 0) {
      const up = (i - 1) >> 1;
      if ((list[up] as Block).index >= b.index) break;
      list[i] = list[up] as Block;
      i = up;
    }
    list[i] = b;
  }

  pop(): Block | undefined {
    const list = this.list;
    const top = list[0];
    const b = list.pop();
    if (b === undefined || list.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= list.length) break;
      if (child + 1 < list.length && (list[child + 1] as Block).index > (list[child] as Block).index) child++;
      if ((list[child] as Block).index <= b.index) break;
      list[i] = list[child] as Block;
      i = child;
    }
    list[i] = b;
    return top;
  }
}
