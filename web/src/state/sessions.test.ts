import { expect, test } from "vitest";
import { entryOfLive, entryOfPast } from "./sessions";

test("a session that is open in a terminal is marked", () => {
  const past = { session_id: "s", live: "terminal" } as Parameters<typeof entryOfPast>[0];
  expect(entryOfPast(past).terminal).toBe(true);
  expect(entryOfPast({ ...past, live: "" }).terminal).toBe(false);
  const held = { session_id: "s", state: "idle", prompts: 0, queued: 0, viewers: 0, seq: 1 } as Parameters<
    typeof entryOfLive
  >[0];
  expect(entryOfLive({ ...held, live: "terminal" }, new Map()).terminal).toBe(true);
  expect(entryOfLive(held, new Map()).terminal).toBe(false);
});
