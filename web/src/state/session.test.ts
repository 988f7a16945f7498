import { expect, test } from "vitest";
import { canonical, Fold } from "../fold";
import type { Envelope } from "../rpc/connection";
import { SessionStore } from "./session";

const env = (seq: number, msg: unknown, sub?: number): Envelope => ({
  seq,
  ...(sub === undefined ? {} : { sub }),
  epoch: "e",
  session_id: "s",
  ts: "2026-01-01T00:00:00Z",
  msg,
});
const user = (uuid: string) => ({
  type: "user",
  uuid,
  isPrompt: true,
  message: { content: [{ type: "text", text: uuid }] },
  provider: "claude",
});
const start = {
  type: "stream_event",
  uuid: "e1",
  session_id: "p",
  event: { type: "message_start", message: { id: "m", content: [] } },
  provider: "claude",
};
const block = {
  type: "stream_event",
  uuid: "e2",
  session_id: "p",
  event: { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  provider: "claude",
};
const text = (t: string) => ({
  type: "stream_event",
  uuid: "e3",
  session_id: "p",
  event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: t } },
  provider: "claude",
});
const whole = {
  type: "assistant",
  id: "m",
  uuid: "a",
  session_id: "p",
  message: { content: [{ type: "text", text: "one two" }] },
  provider: "claude",
};

function store(onGap = () => {}) {
  const s = new SessionStore("s", onGap, (f) => f());
  s.reset({ epoch: "e", seq: 0 }, undefined);
  return s;
}

test("doubles, deltas of the past and gaps", () => {
  let gaps = 0;
  const s = store(() => gaps++);
  s.receive(env(1, user("u1")));
  s.receive(env(1, user("u1")));
  s.receive(env(1, start, 1));
  s.receive(env(1, block, 2));
  s.receive(env(1, text("one "), 3));
  s.receive(env(1, text("one "), 3));
  s.receive(env(1, text("two"), 4));
  expect(s.rows.get().map((r) => r.block?.text ?? r.kind)).toEqual(["user", "one two"]);
  s.receive(env(2, whole));
  s.receive(env(1, text("late"), 5));
  expect(s.rows.get().map((r) => r.block?.text ?? r.kind)).toEqual(["user", "one two"]);
  s.receive(env(5, user("u5")));
  expect(gaps).toBe(1);
  expect(s.cursor).toEqual({ epoch: "e", seq: 2 });
  s.receive({ ...env(3, user("u3")), epoch: "other" });
  expect(gaps).toBe(2);
});

test("a reconnect in the middle of deltas ends where an undisturbed page ends", () => {
  const calm = store();
  const cut = store();
  for (const e of [
    env(1, user("u1")),
    env(1, start, 1),
    env(1, block, 2),
    env(1, text("one "), 3),
    env(1, text("two"), 4),
    env(2, whole),
  ])
    calm.receive(e);
  for (const e of [env(1, user("u1")), env(1, start, 1), env(1, block, 2), env(1, text("one "), 3)]) cut.receive(e);
  for (const e of [env(2, whole)]) cut.receive(e);
  expect(canonical(cut.conversation)).toBe(canonical(calm.conversation));
});

test("a snapshot begins again, and what follows it goes on", () => {
  const s = store();
  s.receive(env(1, user("u1")));
  const fold = new Fold();
  fold.apply(user("x1") as never);
  s.reset({ epoch: "e", seq: 9 }, JSON.parse(JSON.stringify(fold.conversation)));
  s.receive(env(9, user("old")));
  s.receive(env(10, user("x2")));
  expect(s.rows.get().map((r) => r.key)).toEqual(["x1", "x2"]);
});

test("an own message is shown until the log has it", () => {
  const s = store();
  const mine = { id: "key", text: "hi", contexts: [], images: [], state: "sending" as const };
  s.sending.value = [mine, { ...mine, id: "two" }];
  s.receive(env(1, user("key")));
  expect(s.sending.value.map((m) => m.id)).toEqual(["two"]);
  s.setSending("two", { seq: 2 });
  expect(s.sending.value).toHaveLength(1);
  s.receive(env(2, { type: "queue_changed", items: [{ id: "two" }], provider: "claude" }));
  expect(s.sending.value).toEqual([]);
});
