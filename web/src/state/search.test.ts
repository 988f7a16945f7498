import { beforeEach, expect, test, vi } from "vitest";
import type { HistoryInfo, SessionSummary } from "../rpc/service";

const call = vi.fn();
vi.mock("./app", () => ({ refreshers: [], call: (...args: unknown[]) => call(...args) }));

const { countOf, nothing, searchAll } = await import("./search");
const { live, past } = await import("./sessions");

type Results = Parameters<Parameters<typeof searchAll>[2]>[0];

/** Answers of the server by method, each call with the next one; the last for all that follow. */
function answers(by: Record<string, unknown[]>): void {
  call.mockReset().mockImplementation(async (method: string) => {
    const list = by[method] ?? [undefined];
    const r = list.length > 1 ? list.shift() : list[0];
    if (r instanceof Error) throw r;
    return r;
  });
}

const calls = (method: string) => call.mock.calls.filter(([m]) => m === method).map(([, p]) => p);

async function search(wanted = () => true): Promise<Results[]> {
  const told: Results[] = [];
  await searchAll("q", wanted, (r) => told.push(r));
  return told;
}

beforeEach(() => {
  live.value = [];
  past.value = [{ session_id: "disk" }, { session_id: "disk2" }] as HistoryInfo[];
});

test("what is found in both places is one result, with all pages of each", async () => {
  answers({
    "session.search": [
      { hits: [{ session_id: "s", message: "m", excerpt: "x", matches: 2 }], cursor: "c1" },
      { hits: [{ session_id: "t", excerpt: "y", matches: 1 }] },
    ],
    "history.search": [
      { hits: [{ session: "disk", uuid: "u1", excerpt: "first" }, { session: "disk", uuid: "u2", excerpt: "second" }], cursor: "d1" },
      { hits: [{ session: "disk2", uuid: "u3", excerpt: "third" }] },
    ],
  });
  const told = await search();
  expect([...(told.at(-1)?.found.values() ?? [])].sort((a, b) => (a.session < b.session ? -1 : 1))).toEqual([
    { session: "disk", live: false, message: "u1", excerpt: "first", matches: 2 },
    { session: "disk2", live: false, message: "u3", excerpt: "third", matches: 1 },
    { session: "s", live: true, message: "m", excerpt: "x", matches: 2 },
    { session: "t", live: true, message: "", excerpt: "y", matches: 1 },
  ]);
  expect(calls("session.search")).toEqual([{ query: "q" }, { query: "q", cursor: "c1" }]);
  expect(calls("history.search")).toEqual([{ query: "q", limit: 200 }, { query: "q", limit: 200, cursor: "d1" }]);
  expect(told.map((r) => r.reading)).toEqual([true, true, true, true, false]);
  expect(countOf(told.at(-1) as Results)).toEqual({ matches: 6, sessions: 4 });
  expect(countOf(nothing)).toEqual({ matches: 0, sessions: 0 });
  expect(calls("history.metadata")).toEqual([]);
});

test("what was told before does not change", async () => {
  answers({
    "session.search": [{ hits: [{ session_id: "s", excerpt: "", matches: 1 }], cursor: "c" }, { hits: [{ session_id: "t", excerpt: "", matches: 1 }] }],
  });
  const told = await search();
  expect(told[0]?.found.size).toBe(1);
  expect(told.at(-1)?.found.size).toBe(2);
});

test("a session that the server runs is found in its own log alone", async () => {
  live.value = [{ session_id: "s", agent_session_id: "disk" }] as SessionSummary[];
  answers({ "history.search": [{ hits: [{ session: "disk", uuid: "u", excerpt: "" }, { session: "disk2", uuid: "v", excerpt: "" }] }] });
  expect([...((await search()).at(-1)?.found.keys() ?? [])]).toEqual(["disk2"]);
});

test("a place that does not answer has nothing", async () => {
  answers({ "session.search": [new Error("x")], "history.search": [new Error("x")] });
  const told = await search();
  expect(told.at(-1)).toEqual({ query: "q", found: new Map(), reading: false });
  expect(call).toHaveBeenCalledTimes(2);
});

test("at most ten pages of sessions on disk are read", async () => {
  answers({ "history.search": [{ hits: [], cursor: "more" }] });
  await search();
  expect(calls("history.search")).toHaveLength(10);
});

test("a search that is not wanted any more ends and tells nothing", async () => {
  answers({ "session.search": [{ hits: [{ session_id: "s", excerpt: "", matches: 1 }], cursor: "more" }], "history.search": [{ hits: [{ session: "x", uuid: "", excerpt: "" }], cursor: "more" }] });
  let wanted = true;
  const end = vi.fn(() => wanted);
  const told: Results[] = [];
  await searchAll("q", end, (r) => {
    told.push(r);
    wanted = false;
  });
  expect(told).toHaveLength(1);
  expect([calls("session.search").length, calls("history.search").length, calls("history.metadata").length]).toEqual([1, 1, 0]);
});

test("the names of sessions that no list has are asked for, at most forty, and kept once", async () => {
  const hits = Array.from({ length: 45 }, (_, i) => ({ session: `new${i}`, uuid: "", excerpt: "" }));
  answers({ "history.search": [{ hits: [{ session: "disk", uuid: "", excerpt: "" }, ...hits] }], "history.metadata": [undefined] });
  call.mockImplementation(async (method: string, p: { session: string }) => {
    if (method === "history.search") return { hits: [{ session: "disk", uuid: "", excerpt: "" }, ...hits] };
    if (method !== "history.metadata") return undefined;
    if (p.session === "new1") throw new Error("gone");
    // A list has it meanwhile.
    if (p.session === "new2") past.value = [...past.value, { session_id: "new2" } as HistoryInfo];
    return { info: { session_id: p.session } };
  });
  await search();
  expect(calls("history.metadata").map((p) => p.session)).toEqual(hits.slice(0, 40).map((h) => h.session));
  const kept = past.value.map((h) => h.session_id);
  expect(kept).toHaveLength(2 + 39);
  expect(new Set(kept).size).toBe(kept.length);
  expect(kept).not.toContain("new1");
});
