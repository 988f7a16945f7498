import { expect, test } from "vitest";
import { Heights, rangeFor } from "./virtual";

const keys = (n: number, from = 0) => Array.from({ length: n }, (_, i) => ({ key: `k${from + i}` }));

test("sums and places agree with a plain count", () => {
  const h = new Heights(() => 10);
  h.setRows(keys(1000));
  const plain = Array<number>(1000).fill(10);
  for (let i = 0; i < 1000; i += 7) {
    plain[i] = 5 + (i % 90);
    h.measure(i, plain[i] ?? 0);
  }
  let sum = 0;
  for (let i = 0; i < 1000; i++) {
    expect(h.top(i)).toBe(sum);
    expect(h.at(sum + 1)).toBe(i);
    sum += plain[i] ?? 0;
  }
  expect(h.total).toBe(sum);
  expect(h.at(sum + 500)).toBe(999);
});

test("heights stay with their keys when rows are put before them", () => {
  const h = new Heights(() => 10);
  h.setRows(keys(50, 100));
  h.measure(3, 77);
  h.setRows([...keys(20, 0), ...keys(50, 100)]);
  expect(h.height(23)).toBe(77);
  expect(h.top(24)).toBe(20 * 10 + 3 * 10 + 77);
});

test("the rows that are drawn cover the view", () => {
  const h = new Heights(() => 40);
  h.setRows(keys(5000));
  const r = rangeFor(h, 100_000, 800, 200);
  expect(h.top(r.from)).toBeLessThanOrEqual(99_800);
  expect(h.top(r.to)).toBeGreaterThanOrEqual(101_000);
  expect(r.to - r.from).toBeLessThan(60);
  expect(rangeFor(new Heights(() => 1), 0, 100, 10)).toEqual({ from: 0, to: 0 });
});

test("after the width changed, heights are guessed again", () => {
  const h = new Heights(() => 10);
  h.setRows(keys(3));
  h.measure(1, 50);
  expect([h.length, h.total]).toEqual([3, 70]);
  h.forget();
  expect([h.length, h.total, h.height(1), h.keyAt(2)]).toEqual([3, 30, 10, "k2"]);
  h.measure(0, 20);
  h.setRows(keys(2));
  expect([h.total, h.top(1), h.indexOf("k1"), h.indexOf("k2")]).toEqual([30, 20, 1, -1]);
});
