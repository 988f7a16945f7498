import { describe, expect, it } from "vitest";
import { blocksNow, ceiling, csvOf, dayName, dayStart, everyDay, growth, merge } from "./usage";

const row = (group: string, cost: number | undefined, tokens = 1) => ({
  group,
  ...(cost === undefined ? {} : { cost_usd: cost }),
  input_tokens: tokens,
  output_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
});

describe("usage", () => {
  it("adds up the rows of several agents and knows what has no price", () => {
    const all = merge([row("2026-03-02", 2), row("2026-03-01", 1), row("2026-03-02", undefined, 5)]);
    expect(all.map((u) => [u.group, u.cost, u.unpriced, u.in])).toEqual([
      ["2026-03-01", 1, false, 1],
      ["2026-03-02", 2, true, 6],
    ]);
  });

  it("shows the days on which nothing was used, over a change of the clocks too", () => {
    const now = new Date(2026, 3, 2, 12).getTime();
    const yesterday = dayName(dayStart(now, 1));
    expect(yesterday).toBe("2026-04-01");
    const days = everyDay(merge([row(yesterday, 3)]), now, "7");
    expect(days.map((d) => d.group)).toEqual([
      "2026-03-27",
      "2026-03-28",
      "2026-03-29",
      "2026-03-30",
      "2026-03-31",
      "2026-04-01",
      "2026-04-02",
    ]);
    expect(days[5]?.cost).toBe(3);
    expect(everyDay([], now, "all").map((d) => d.group)).toEqual(["2026-04-02"]);
  });

  it("finds the block that goes on", () => {
    const now = Date.parse("2026-03-01T14:00:00Z");
    const blocks = merge([row("2026-03-01T10:00:00Z", 1), row("2026-03-01T03:00:00Z", 7)]);
    expect(blocksNow(blocks, now).current?.cost).toBe(1);
    expect(blocksNow(blocks, now).highest?.cost).toBe(7);
    expect(blocksNow(blocks, now + 2 * 3600_000).current).toBeUndefined();
  });

  it("rounds the scale up and compares with the time before", () => {
    expect([0, 0.03, 1, 2.1, 7, 41].map(ceiling)).toEqual([1, 0.05, 1, 2.5, 10, 50]);
    expect(growth(3, 2)).toBe(50);
    expect(growth(3, 0)).toBeUndefined();
  });

  it("writes a table without a cost that is not known", () => {
    expect(csvOf(merge([row("2026-03-01", undefined, 2)])).split("\n")[1]).toBe("2026-03-01,,2,2,2,2");
  });
});
