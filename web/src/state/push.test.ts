import { expect, test } from "vitest";
import { keptOf, keyBytes, paramsOf, type PushFacts, stateOf } from "./push";
import { clickTarget, noticeOf } from "./pushmessage";

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

test("what comes becomes a notice, whatever it is", () => {
  const n = noticeOf('{"kind":"needs_answer","session_id":"s-1","title":"Fix \\u202eit"}', "en", 2);
  expect(n).toEqual({ title: "Fix U+202eit", body: "The agent waits for an answer.", tag: "s-1", data: { session: "s-1" } });
  expect(noticeOf('{"kind":"turn_done","session_id":"s-1"}', "zh", 2).body).toBe("一轮已结束。");
  for (const odd of ["", "null", "[]", "{}", '{"kind":1,"title":{},"nonce":[]}', '{"kind":"newer","session_id":7}'])
    expect(noticeOf(odd, "en", 2)).toEqual({
      title: "Parley",
      body: "Something happened.",
      tag: "parley",
      data: { session: "" },
    });
});

test("a notice offers Open and Deny, Allow with the whole command alone, and nothing where actions are not shown", () => {
  const message = { kind: "needs_answer", session_id: "s-1", title: "Fix it", nonce: "n" };
  const actions = (m: object, most: number) => noticeOf(JSON.stringify(m), "en", most).actions?.map((a) => a.action);
  expect(actions(message, 2)).toEqual(["open", "deny"]);
  expect(actions({ ...message, command: "go test ./..." }, 2)).toEqual(["allow", "deny"]);
  expect(noticeOf(JSON.stringify({ ...message, command: "ls" }), "en", 2).body).toBe("Run this command?\nls");
  expect(actions({ ...message, command: "ls \u202e" }, 2)).toEqual(["open", "deny"]);
  expect(actions({ ...message, command: "ls" }, 0)).toBeUndefined();
  expect(noticeOf(JSON.stringify({ ...message, command: "ls" }), "en", 1).data).toEqual({ session: "s-1" });
  expect(actions({ ...message, nonce: "", command: "ls" }, 2)).toBeUndefined();
});

test("no list of events is all of them", () => {
  expect(keptOf({})).toEqual({ events: ["needs_answer", "turn_done", "failed"], allow: false });
  expect(keptOf({ events: ["failed", "newer"], allow: true })).toEqual({ events: ["failed"], allow: true });
});

test("a click leads to a session of this page and nowhere else", () => {
  expect(clickTarget("s-1", "https://x/tools/")).toBe("https://x/tools/#/s/s-1");
  expect(clickTarget("a/../b?c#d", "https://x/")).toBe("https://x/#/s/a%2F..%2Fb%3Fc%23d");
  expect(clickTarget("", "https://x/")).toBe("https://x/");
});
