import { afterEach, describe, expect, it, vi } from "vitest";
import { allEvents, costsOf, eventsOf, mostEvents, readLog, turnCosts } from "./log";
import { SessionStore } from "./session";

const event = (seq: number, msg: unknown) => ({ seq, epoch: "e", session_id: "s", ts: "", msg });

describe("the log", () => {
  it("is read piece by piece up to where the page is", async () => {
    const store = new SessionStore("s", undefined, (f) => f());
    store.reset({ epoch: "e", seq: 5 }, undefined);
    const asked: string[] = [];
    const part = await readLog(
      store,
      (_, text) => text.includes("wanted"),
      async (path) => {
        asked.push(decodeURIComponent(path.split("after=")[1] ?? ""));
        const from = Number(asked[asked.length - 1]?.split(":")[1]?.split(".")[0]) + 1;
        return {
          cursor: { epoch: "e", seq: from + 1 },
          events: [event(from, { type: "notice", text: "wanted" }), event(from + 1, { type: "other" }), "not an event"],
        };
      },
    );
    expect(asked).toEqual(["e:0.0", "e:2.0", "e:4.0"]);
    expect(part.events.map((e) => e.seq)).toEqual([1, 3, 5]);
  });

  it("ends where the server has nothing more, or begins anew", async () => {
    const store = new SessionStore("s", undefined, (f) => f());
    store.reset({ epoch: "e", seq: 5 }, undefined);
    for (const answer of [{ cursor: { epoch: "e", seq: 0 }, events: [] }, { resync: true, cursor: { seq: 9 } }, null])
      expect(
        (
          await readLog(
            store,
            () => true,
            async () => answer,
          )
        ).events,
      ).toEqual([]);
  });

  it("has the cost of each turn from totals, also after the agent was started again", () => {
    const costs = costsOf([0.25, 0.75, undefined, 0.5].map((total_cost_usd) => ({ type: "result", total_cost_usd })));
    expect(costs).toEqual([0.25, 0.5, 0, 0.5]);
  });
});

describe("what is kept of a log", () => {
  /** Returns a session and its requests; its log has these messages, in pages of two. */
  function session(msgs: unknown[]): { store: SessionStore; asked: string[] } {
    const store = new SessionStore("s/1", undefined, (f) => f());
    store.reset({ epoch: "e", seq: msgs.length }, undefined);
    const asked: string[] = [];
    vi.stubGlobal("document", { baseURI: "https://x/tools/" });
    vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
      asked.push(`${url.pathname}${url.search} ${init.credentials}`);
      const from = Number(url.searchParams.get("after")?.split(":")[1]?.split(".")[0]);
      const events = msgs.slice(from, from + 2).map((msg, i) => event(from + i + 1, msg));
      return new Response(JSON.stringify({ events, cursor: { epoch: "e", seq: from + events.length } }));
    });
    return { store, asked };
  }
  afterEach(() => vi.unstubAllGlobals());

  it("is asked for with the cookie, page by page", async () => {
    const { store, asked } = session([{ type: "a" }, { type: "b" }, { type: "c" }]);
    expect((await allEvents(store)).events.map((e) => e.seq)).toEqual([1, 2, 3]);
    expect(asked).toEqual([
      "/tools/v1/sessions/s%2F1/events?wait=5&after=e%3A0.0 same-origin",
      "/tools/v1/sessions/s%2F1/events?wait=5&after=e%3A2.0 same-origin",
    ]);
    vi.stubGlobal("fetch", async () => new Response("no", { status: 403, statusText: "Forbidden" }));
    await expect(allEvents(store)).rejects.toThrow("403 Forbidden");
  });

  it("are the events from the first to the last that name an id", async () => {
    const { store } = session([{ id: "z" }, { id: "a" }, { other: "" }, { ref: "b" }, { id: "ab" }, { id: "y" }]);
    const seqs = async (...ids: string[]) => (await eventsOf(store, ids)).events.map((e) => e.seq);
    expect(await seqs("a", "b")).toEqual([2, 3, 4]);
    expect(await seqs("b", "")).toEqual([4]);
    expect(await seqs("", "none")).toEqual([]);
    expect((await eventsOf(store, ["a"])).cut).toBe(false);
  });

  it("has the cost of each turn", async () => {
    const result = (total_cost_usd: number) => ({ type: "result", total_cost_usd });
    const { store } = session([result(1), { type: "user" }, result(3)]);
    expect(await turnCosts(store)).toEqual({ costs: [1, 2], cut: false });
  });

  it("ends at the most that is read at once, whatever was wanted of it", async () => {
    const store = new SessionStore("s", undefined, (f) => f());
    store.reset({ epoch: "e", seq: 3 * mostEvents }, undefined);
    let pages = 0;
    const part = await readLog(
      store,
      (e) => e.seq === 7,
      async () => {
        const from = (pages++ * mostEvents) / 2;
        return {
          cursor: { epoch: "e", seq: from + mostEvents / 2 },
          events: Array.from({ length: mostEvents / 2 }, (_, i) => event(from + i + 1, 0)),
        };
      },
    );
    expect([pages, part.cut, part.events.map((e) => e.seq)]).toEqual([2, true, [7]]);
  });

  it("is nothing for a session that is not followed, and has no deltas nor what comes after the page's place", async () => {
    const none = new SessionStore("s", undefined, (f) => f());
    const never = async () => expect.unreachable("nothing is asked for");
    expect(await readLog(none, () => true, never)).toEqual({ events: [], cut: false });
    const store = new SessionStore("s", undefined, (f) => f());
    store.reset({ epoch: "e", seq: 1 }, undefined);
    const events = [event(1, {}), { ...event(1, {}), sub: 1 }, { ...event(1, {}), sub: 0 }, event(2, {}), { ...event(1, {}), msg: undefined }, { ...event(1, {}), seq: "1" }];
    const part = await readLog(store, () => true, async () => ({ events, cursor: { epoch: "e", seq: 2 } }));
    expect(part.events).toEqual([events[0], events[2]]);
  });
});
