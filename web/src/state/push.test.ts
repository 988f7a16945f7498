import { expect, test } from "vitest";
import { keyBytes, paramsOf, type PushFacts, stateOf } from "./push";
import { clickTarget, notificationOf } from "./pushmessage";

test("the state of push messages says what is in the way first", () => {
  const all: PushFacts = { secure: true, supported: true, permission: "granted", enabled: true, subscribed: true };
  expect(stateOf(all)).toBe("on");
  expect(stateOf({ ...all, secure: false })).toBe("insecure");
  expect(stateOf({ ...all, supported: false })).toBe("unsupported");
  expect(stateOf({ ...all, enabled: false })).toBe("disabled");
  expect(stateOf({ ...all, permission: "denied" })).toBe("blocked");
  expect(stateOf({ ...all, permission: "default" })).toBe("off");
  expect(stateOf({ ...all, subscribed: false })).toBe("off");
});

test("a key is read from base64url", () => {
  expect([...keyBytes("BP-_")]).toEqual([4, 255, 191]);
});

test("a subscription without keys is not sent", () => {
  expect(paramsOf({ endpoint: "https://x", keys: { p256dh: "a", auth: "b" } })).toEqual({
    endpoint: "https://x",
    keys: { p256dh: "a", auth: "b" },
  });
  expect(paramsOf({ endpoint: "https://x", keys: { p256dh: "a" } })).toBeUndefined();
  expect(paramsOf({})).toBeUndefined();
});

test("what comes becomes a notification, whatever it is", () => {
  const n = notificationOf('{"kind":"needs_answer","session_id":"s-1","title":"Fix \\u202eit"}', "en");
  expect(n).toEqual({ title: "Fix U+202eit", body: "The agent waits for an answer.", tag: "s-1", session: "s-1" });
  expect(notificationOf('{"kind":"turn_done","session_id":"s-1"}', "zh").body).toBe("一轮已结束。");
  for (const odd of ["", "null", "[]", "{}", '{"kind":1,"title":{}}', '{"kind":"newer","session_id":7}'])
    expect(notificationOf(odd, "en")).toEqual({ title: "Parley", body: "Something happened.", tag: "parley", session: "" });
});

test("a click leads to a session of this page and nowhere else", () => {
  expect(clickTarget("s-1", "https://x/tools/")).toBe("https://x/tools/#/s/s-1");
  expect(clickTarget("a/../b?c#d", "https://x/")).toBe("https://x/#/s/a%2F..%2Fb%3Fc%23d");
  expect(clickTarget("", "https://x/")).toBe("https://x/");
});
