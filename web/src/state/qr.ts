// QR codes of short texts: bytes, error correction of level M, versions 1 to 10 (ISO 18004).

/** For each version: the error correction of a block, and the number and data of its blocks. */
const blocks: readonly (readonly [number, ...(readonly [number, number])[]])[] = [
  [10, [1, 16]],
  [16, [1, 28]],
  [26, [1, 44]],
  [18, [2, 32]],
  [24, [2, 43]],
  [16, [4, 27]],
  [18, [4, 31]],
  [22, [2, 38], [2, 39]],
  [22, [3, 36], [2, 37]],
  [26, [4, 43], [1, 44]],
];

/** The centres of alignment marks, for versions 2 to 10. */
const marks: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

const lengths = (version: number): number[] => {
  const [, ...groups] = blocks[version - 1] ?? [0];
  return groups.flatMap(([n, data]) => Array<number>(n).fill(data));
};

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

/** The product in the field of 256 elements. */
function times(a: number, b: number): number {
  let r = 0;
  for (let i = 7; i >= 0; i--) r = (r << 1) ^ ((r >>> 7) * 0x11d) ^ (((b >>> i) & 1) * a);
  return r;
}

/** The error correction of a block. */
function correction(data: readonly number[], n: number): number[] {
  const divisor = [...Array<number>(n - 1).fill(0), 1];
  let root = 1;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) divisor[j] = times(divisor[j] ?? 0, root) ^ (divisor[j + 1] ?? 0);
    root = times(root, 2);
  }
  const rest = Array<number>(n).fill(0);
  for (const b of data) {
    const factor = b ^ (rest.shift() ?? 0);
    rest.push(0);
    divisor.forEach((d, i) => {
      rest[i] = (rest[i] ?? 0) ^ times(d, factor);
    });
  }
  return rest;
}

/** The bits of a text with their error correction, in the order in which they are drawn. */
function codewords(bytes: Uint8Array, version: number): number[] {
  const sizes = lengths(version);
  const total = sum(sizes);
  const bits: number[] = [];
  const put = (value: number, n: number) => {
    for (let i = n - 1; i >= 0; i--) bits.push((value >>> i) & 1);
  };
  put(4, 4); // bytes follow
  put(bytes.length, version < 10 ? 8 : 16);
  for (const b of bytes) put(b, 8);
  put(0, Math.min(4, total * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < total * 8; pad ^= 0xec ^ 0x11) put(pad, 8);
  const data: number[] = [];
  for (let i = 0; i < bits.length; i += 8) data.push(bits.slice(i, i + 8).reduce((a, b) => (a << 1) | b, 0));
  const n = blocks[version - 1]?.[0] ?? 0;
  let at = 0;
  const parts = sizes.map((size) => data.slice(at, (at += size)));
  const checks = parts.map((p) => correction(p, n));
  const out: number[] = [];
  for (let i = 0; i < Math.max(...sizes); i++) for (const p of parts) if (i < p.length) out.push(p[i] ?? 0);
  for (let i = 0; i < n; i++) for (const c of checks) out.push(c[i] ?? 0);
  return out;
}

const masks: readonly ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

class Grid {
  readonly dark: boolean[][];
  private readonly fixed: boolean[][];

  constructor(
    readonly size: number,
    version: number,
  ) {
    this.dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
    this.fixed = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
    for (let i = 0; i < size; i++) {
      this.fix(6, i, i % 2 === 0);
      this.fix(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) this.finder(x, y);
    const centres = marks[version - 1] ?? [];
    const last = centres.length - 1;
    centres.forEach((x, i) => {
      centres.forEach((y, j) => {
        if (!((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0))) this.alignment(x, y);
      });
    });
    this.format(0);
    if (version >= 7) this.version(version);
  }

  private fix(x: number, y: number, dark: boolean): void {
    const row = this.dark[y];
    const fixed = this.fixed[y];
    if (!row || !fixed || x < 0 || x >= this.size) return;
    row[x] = dark;
    fixed[x] = true;
  }

  private finder(x: number, y: number): void {
    for (let dy = -4; dy <= 4; dy++)
      for (let dx = -4; dx <= 4; dx++) {
        const far = Math.max(Math.abs(dx), Math.abs(dy));
        this.fix(x + dx, y + dy, far !== 2 && far !== 4);
      }
  }

  private alignment(x: number, y: number): void {
    for (let dy = -2; dy <= 2; dy++)
      for (let dx = -2; dx <= 2; dx++) this.fix(x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }

  /** The level, M, and the mask. */
  format(mask: number): void {
    let rest = mask;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((mask << 10) | rest) ^ 0x5412;
    const bit = (i: number) => ((bits >>> i) & 1) === 1;
    for (let i = 0; i <= 5; i++) this.fix(8, i, bit(i));
    this.fix(8, 7, bit(6));
    this.fix(8, 8, bit(7));
    this.fix(7, 8, bit(8));
    for (let i = 9; i < 15; i++) this.fix(14 - i, 8, bit(i));
    for (let i = 0; i < 8; i++) this.fix(this.size - 1 - i, 8, bit(i));
    for (let i = 8; i < 15; i++) this.fix(8, this.size - 15 + i, bit(i));
    this.fix(8, this.size - 8, true);
  }

  private version(version: number): void {
    let rest = version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const dark = ((bits >>> i) & 1) === 1;
      const a = this.size - 11 + (i % 3);
      const b = Math.floor(i / 3);
      this.fix(a, b, dark);
      this.fix(b, a, dark);
    }
  }

  /** Draws the bits in columns of two, from the right, upwards and downwards in turns. */
  draw(words: readonly number[]): void {
    let i = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let v = 0; v < this.size; v++) {
        const y = ((right + 1) & 2) === 0 ? this.size - 1 - v : v;
        for (const x of [right, right - 1]) {
          const row = this.dark[y];
          if (!row || this.fixed[y]?.[x]) continue;
          row[x] = (((words[i >>> 3] ?? 0) >>> (7 - (i & 7))) & 1) === 1;
          i++;
        }
      }
    }
  }

  mask(n: number): void {
    const m = masks[n];
    this.dark.forEach((row, y) => {
      row.forEach((dark, x) => {
        if (!this.fixed[y]?.[x]) row[x] = dark !== (m?.(x, y) === 0);
      });
    });
  }

  /**
   * Rates how hard the code is to read: long runs, squares, patterns like a finder, and unequal
   * amounts of colour.
   */
  penalty(): number {
    const columns = this.dark.map((_, x) => this.dark.map((row) => row[x] === true));
    let score = 0;
    for (const line of [...this.dark, ...columns]) {
      const text = line.map((d) => (d ? "1" : "0")).join("");
      for (const run of text.match(/0{5,}|1{5,}/g) ?? []) score += run.length - 2;
      for (const found of ["10111010000", "00001011101"])
        for (let at = text.indexOf(found); at >= 0; at = text.indexOf(found, at + 1)) score += 40;
    }
    let dark = 0;
    this.dark.forEach((row, y) => {
      row.forEach((d, x) => {
        if (d) dark++;
        const below = this.dark[y + 1];
        if (below && x + 1 < this.size && d === row[x + 1] && d === below[x] && d === below[x + 1]) score += 3;
      });
    });
    return score + 10 * Math.floor(Math.abs((dark * 20) / (this.size * this.size) - 10));
  }
}

/** The modules of the code of a text, true for dark ones; undefined for a text of more than 213 bytes. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = blocks.findIndex((_, i) => bytes.length + (i < 9 ? 2 : 3) <= sum(lengths(i + 1))) + 1;
  if (version === 0) return undefined;
  const words = codewords(bytes, version);
  let best: Grid | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < masks.length; n++) {
    const grid = new Grid(17 + 4 * version, version);
    grid.draw(words);
    grid.mask(n);
    grid.format(n);
    const score = grid.penalty();
    if (score < least) {
      least = score;
      best = grid;
    }
  }
  return best?.dark;
}
