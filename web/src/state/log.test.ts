import { describe, expect, it } from "vitest";
import { costsOf, readLog } from "./log";
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
