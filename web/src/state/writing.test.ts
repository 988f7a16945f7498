import { describe, expect, it } from "vitest";
import type { WorkspaceHunk } from "../rpc/service";
import { linesOf, type Place, placeNow, Review, type Writing } from "./review";

const hunk = (id: string, newStart: number, ...lines: string[]): WorkspaceHunk => ({
  id,
  oldStart: newStart,
  oldLines: lines.filter((l) => !l.startsWith("+")).length,
  newStart,
  newLines: lines.filter((l) => !l.startsWith("-")).length,
  lines,
});

const first = hunk("h1", 10, " func a() {", "-\tone()", "+\ttwo()", "+\tthree()", " }");
const place: Place = { side: "new", from: 11, to: 12, at: 12 };
const writing = (change: Partial<Writing> = {}): Writing => ({
  id: 1,
  scope: {},
  file: "a.go",
  hunk: first,
  place,
  text: "Why two?",
  ...change,
});

describe("a remark that is written", () => {
  it("stays at its hunk, whatever its lines are", () => {
    expect(placeNow(writing(), [hunk("h0", 1, "+x"), first])).toEqual({ hunk: first, place });
    // The id of a hunk depends only on its lines.
    const below = { ...first, newStart: 14, oldStart: 10 };
    expect(placeNow(writing(), [below])).toEqual({ hunk: below, place: { side: "new", from: 15, to: 16, at: 16 } });
    const old = writing({ place: { side: "old", from: 11, to: 11, at: 11 } });
    expect(placeNow(old, [below])?.place).toEqual({ side: "old", from: 11, to: 11, at: 11 });
  });

  it("goes with its lines where they have moved", () => {
    const moved = hunk("h2", 30, " func a() {", "+\ttwo()", "+\tthree()", " }");
    expect(placeNow(writing(), [moved])).toEqual({ hunk: moved, place: { side: "new", from: 31, to: 32, at: 32 } });
  });

  it("goes with lines of the old side", () => {
    const old = writing({ place: { side: "old", from: 11, to: 11, at: 11 } });
    expect(linesOf(old)).toEqual(["-\tone()"]);
    const moved = hunk("h2", 20, "-\tone()", "+\tother()");
    expect(placeNow(old, [moved])?.place).toEqual({ side: "old", from: 20, to: 20, at: 20 });
  });

  it("has no place where its lines are gone, have changed, or are there twice", () => {
    expect(placeNow(writing(), [])).toBeUndefined();
    expect(placeNow(writing(), [hunk("h2", 10, " func a() {", "+\ttwo()", "+\tfour()", " }")])).toBeUndefined();
    const twice = hunk("h2", 10, "+\ttwo()", "+\tthree()", "+\ttwo()", "+\tthree()");
    expect(placeNow(writing(), [twice])).toBeUndefined();
    // An added line differs from an unchanged one with the same text.
    expect(placeNow(writing(), [hunk("h2", 10, " \ttwo()", " \tthree()", "+x")])).toBeUndefined();
  });

  it("keeps its text when another line is chosen, in its hunk and after its hunk is gone", () => {
    const r = new Review("s");
    r.begin({}, "a.go", first, place, [first]);
    const id = r.writing.peek()[0]?.id ?? 0;
    expect(r.focused).toBe(id);
    r.write(id, { text: "Why two?" });
    r.begin({}, "a.go", first, { ...place, from: 10, to: 10, at: 10 }, [first]);
    expect(r.writing.peek()).toMatchObject([{ id, text: "Why two?", place: { from: 10 } }]);
    const other = hunk("h9", 50, "+new");
    r.begin({}, "a.go", other, { side: "new", from: 50, to: 50, at: 50 }, [other]);
    expect(r.writing.peek()).toMatchObject([{ id, text: "Why two?", hunk: { id: "h9" } }]);
  });

  it("is another one in another hunk, another file and another comparison", () => {
    const r = new Review("s");
    const second = hunk("h5", 90, "+x");
    const at: Place = { side: "new", from: 90, to: 90, at: 90 };
    r.begin({}, "a.go", first, place, [first, second]);
    r.begin({}, "a.go", second, at, [first, second]);
    r.begin({}, "b.go", second, at, [second]);
    r.begin({ turn: "t1" }, "a.go", first, place, [first, second]);
    expect(new Set(r.writing.peek().map((d) => d.id)).size).toBe(4);
    const id = r.writing.peek()[0]?.id ?? 0;
    r.discard(id);
    expect(r.writing.peek().map((d) => d.id)).not.toContain(id);
    expect(r.writing.peek()).toHaveLength(3);
  });
});

describe("a remark that is changed", () => {
  it("keeps its text, and where its field is", () => {
    const r = new Review("s");
    r.edit("c1", { text: "new", listed: false });
    r.edit("c2", { text: "other", listed: true });
    r.edit("c1", undefined);
    expect([...r.edits.peek()]).toEqual([["c2", { text: "other", listed: true }]]);
  });
});
