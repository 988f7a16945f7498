// Arithmetic of a list that draws only visible rows. Heights are estimated until a row was drawn; a
// Fenwick tree holds the sums, so that a change costs log n.

export class Heights {
  private keys: string[] = [];
  private values: number[] = [];
  private tree: number[] = [0];
  private readonly known = new Map<string, number>();

  constructor(private readonly guess: (key: string) => number) {}

  get length(): number {
    return this.keys.length;
  }

  /**
   * Sets the rows of the list; the caller knows that the first `same` ones are unchanged. Measured
   * heights stay with their keys.
   */
  setRows(rows: readonly { key: string }[], same = 0): void {
    same = Math.min(same, this.keys.length);
    while (same < rows.length && same < this.keys.length && rows[same]?.key === this.keys[same]) same++;
    this.keys.length = same;
    this.values.length = same;
    this.tree.length = same + 1;
    for (let i = same; i < rows.length; i++) {
      const key = rows[i]?.key ?? "";
      this.keys.push(key);
      this.push(this.known.get(key) ?? this.guess(key));
    }
  }

  private push(value: number): void {
    this.values.push(value);
    const i = this.values.length;
    let sum = value;
    for (let j = 1; j < (i & -i); j <<= 1) sum += this.tree[i - j] ?? 0;
    this.tree.push(sum);
  }

  /** Records a measured height and returns its difference from the previous one. */
  measure(index: number, height: number): number {
    const key = this.keys[index];
    if (key === undefined) return 0;
    const by = height - (this.values[index] ?? 0);
    this.known.set(key, height);
    if (by === 0) return 0;
    this.values[index] = height;
    for (let i = index + 1; i < this.tree.length; i += i & -i) this.tree[i] = (this.tree[i] ?? 0) + by;
    return by;
  }

  /** Forgets measured heights, after the width changed. */
  forget(): void {
    this.known.clear();
    const rows = this.keys.map((key) => ({ key }));
    this.keys = [];
    this.values = [];
    this.tree = [0];
    this.setRows(rows);
  }

  /** The top of a row. */
  top(index: number): number {
    let sum = 0;
    for (let i = Math.min(index, this.values.length); i > 0; i -= i & -i) sum += this.tree[i] ?? 0;
    return sum;
  }

  get total(): number {
    return this.top(this.values.length);
  }

  height(index: number): number {
    return this.values[index] ?? 0;
  }

  /** The row at a distance from the beginning. */
  at(y: number): number {
    let index = 0;
    let rest = y;
    let step = 1;
    while (step * 2 < this.tree.length) step *= 2;
    for (; step > 0; step >>= 1) {
      const next = index + step;
      if (next < this.tree.length && (this.tree[next] ?? 0) <= rest) {
        index = next;
        rest -= this.tree[next] ?? 0;
      }
    }
    return Math.min(index, Math.max(0, this.values.length - 1));
  }

  indexOf(key: string): number {
    return this.keys.indexOf(key);
  }

  keyAt(index: number): string {
    return this.keys[index] ?? "";
  }
}

export interface Range {
  from: number;
  to: number;
}

/** The rows to draw for a view, with a margin on both sides. */
export function rangeFor(h: Heights, scrollTop: number, view: number, over: number): Range {
  if (h.length === 0) return { from: 0, to: 0 };
  const from = h.at(Math.max(0, scrollTop - over));
  const to = h.at(scrollTop + view + over) + 1;
  return { from, to: Math.min(to, h.length) };
}
