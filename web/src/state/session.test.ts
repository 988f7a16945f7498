import { expect, test, vi } from "vitest";
import { canonical, Fold } from "../fold";
import type { Envelope } from "../rpc/connection";
import { revertKey, SessionStore } from "./session";

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

/** Returns a session with frames and a clock that the test controls. */
function slow() {
  const frames: (() => void)[] = [];
  const clock = { now: 0, step: 0 };
  let gaps = 0;
  const s = new SessionStore(
    "s",
    () => gaps++,
    (f) => frames.push(f),
    () => (clock.now += clock.step),
  );
  return { s, frames, clock, gaps: () => gaps };
}
const keys = (s: SessionStore) => s.rows.get().map((r) => r.key);

test("what comes is folded with the next frame, once, for some milliseconds at a time", () => {
  const { s, frames, clock } = slow();
  s.reset({ epoch: "e", seq: 0 }, undefined);
  const version = s.version.value;
  for (let i = 1; i <= 40; i++) s.receive(env(i, user(`u${i}`)));
  expect([frames.length, keys(s).length, s.version.value]).toEqual([1, 0, version]);
  clock.step = 9; // each look at the clock is one budget later
  frames.shift()?.();
  expect([keys(s).length, frames.length, s.version.value]).toEqual([16, 1, version + 1]);
  clock.step = 0;
  frames.shift()?.();
  expect([keys(s).length, frames.length, s.version.value]).toEqual([40, 0, version + 2]);
  s.flush();
  expect(s.version.value).toBe(version + 2);
});

test("what came before the first snapshot waits for nobody; what came after its place goes on from it", () => {
  const { s, frames } = slow();
  s.receive(env(1, user("u1")));
  frames.shift()?.();
  expect([s.cursor, keys(s)]).toEqual([undefined, []]);
  for (const e of [env(2, user("u2")), env(3, user("u3")), { ...env(3, user("other")), epoch: "old" }]) s.receive(e);
  const cursor = { epoch: "e", seq: 2 };
  s.reset(cursor, undefined);
  frames.shift()?.();
  expect([keys(s), s.cursor]).toEqual([["u3"], { epoch: "e", seq: 3 }]);
  expect(cursor.seq).toBe(2);
});

test("a gap drops what came after it, until the session is followed again", () => {
  const { s, frames, gaps } = slow();
  s.reset({ epoch: "e", seq: 0 }, undefined);
  for (const e of [env(1, user("u1")), env(3, user("u3")), env(2, user("u2"))]) s.receive(e);
  frames.shift()?.();
  expect([keys(s), gaps(), frames.length]).toEqual([["u1"], 1, 0]);
  s.receive({ ...env(2, user("x")), epoch: "other" });
  frames.shift()?.();
  expect([keys(s), gaps()]).toEqual([["u1"], 2]);
  s.receive(env(2, user("u2")));
  frames.shift()?.();
  expect(keys(s)).toEqual(["u1", "u2"]);
});

test("a delta counts after its durable event alone, and only forward", () => {
  const s = store();
  s.receive(env(1, user("u1")));
  s.receive(env(1, start, 1));
  s.receive(env(1, block, 2));
  s.receive(env(1, text("a"), 4));
  s.receive(env(1, text("late"), 3));
  s.receive(env(1, text("twice"), 4));
  s.receive(env(2, text("other"), 5));
  expect([s.rows.get().at(-1)?.block?.text, s.cursor]).toEqual(["a", { epoch: "e", seq: 1, sub: 4 }]);
  s.receive(env(2, whole));
  expect(s.cursor).toEqual({ epoch: "e", seq: 2 });
  s.receive(env(2, start, 1));
  expect(s.cursor).toEqual({ epoch: "e", seq: 2, sub: 1 });
});

test("a delta changes the version alone, everything else what is settled too", () => {
  const s = store();
  const thinking = { type: "unknown", originalType: "system/thinking_tokens", data: {}, provider: "claude" };
  const progress = { type: "tool_progress", tool_use_id: "t", provider: "claude" };
  let at = [s.version.value, s.durable.value];
  for (const [msg, durable] of [
    [start, 0], [block, 0], [text("a"), 0], [thinking, 0], [progress, 0], [user("u"), 1], [{ ...thinking, originalType: "other" }, 1], [whole, 1], [text("b"), 0],
  ] as const) {
    s.receive(env((s.cursor?.seq ?? 0) + 1, msg));
    const now = [s.version.value, s.durable.value];
    expect([now[0] ?? 0, now[1] ?? 0], JSON.stringify(msg)).toEqual([(at[0] ?? 0) + 1, (at[1] ?? 0) + durable]);
    at = now;
  }
  const files = [s.files.value, s.reviews.value];
  s.reset({ epoch: "e", seq: 50 }, undefined);
  expect([s.version.value, s.durable.value, s.files.value, s.reviews.value]).toEqual([(at[0] ?? 0) + 1, (at[1] ?? 0) + 1, (files[0] ?? 0) + 1, (files[1] ?? 0) + 1]);
});

test("who answered is known by request", () => {
  const s = store();
  const say = (msg: unknown) => s.receive(env((s.cursor?.seq ?? 0) + 1, msg));
  say({ type: "permission_resolved", request_id: "p", behavior: "deny", by: "phone", provider: "x" });
  say({ type: "question_resolved", request_id: "q", action: "decline", provider: "x" });
  expect([...s.answers]).toEqual([["p", { by: "phone", behavior: "deny" }], ["q", { by: "", behavior: "decline" }]]);
});

test("what was taken back is known until it is put back, and files have changed with each but the beginning of a turn", () => {
  const s = store();
  const say = (workspace: object | undefined, more: object = {}) => {
    const before = s.files.value;
    s.receive(env((s.cursor?.seq ?? 0) + 1, { type: "session_info", ...(workspace ? { workspace } : {}), ...more, provider: "x" }));
    return s.files.value - before;
  };
  const one = { turn_id: "t", file: "f", hunk: "h" };
  expect([say({ event: "reverted", ...one }), [...s.reverted]]).toEqual([1, [revertKey("t", "f", "h")]]);
  expect([say({ event: "reverted", turn_id: "t", file: "g" }), [...s.reverted]]).toEqual([1, [revertKey("t", "f", "h"), revertKey("t", "g", "")]]);
  expect([say({ event: "restored", ...one }), [...s.reverted]]).toEqual([1, [revertKey("t", "g", "")]]);
  expect([say({ event: "turn_started" }), say({ event: "committed" }), say(undefined, { title: "x" })]).toEqual([0, 1, 0]);
  expect([...s.reverted]).toEqual([revertKey("t", "g", "")]);
});

test("what a tool gave back may have changed files: they count as changed once in a second", () => {
  vi.useFakeTimers();
  const s = store();
  const files = s.files.value;
  const tool = { type: "user", uuid: "t", message: { content: [{ type: "tool_result", tool_use_id: "x" }] }, provider: "x" };
  for (let i = 1; i <= 3; i++) s.receive(env(i, tool));
  s.receive(env(4, user("prompt")));
  vi.advanceTimersByTime(999);
  expect(s.files.value).toBe(files);
  vi.advanceTimersByTime(1);
  expect(s.files.value).toBe(files + 1);
  vi.advanceTimersByTime(5000);
  expect(s.files.value).toBe(files + 1);
  s.receive(env(5, user("prompt 2")));
  vi.advanceTimersByTime(5000);
  expect(s.files.value).toBe(files + 1);
  s.receive(env(6, tool));
  vi.advanceTimersByTime(1000);
  expect(s.files.value).toBe(files + 2);
  vi.useRealTimers();
});

test("an own message is in the log by its id or its place, among the last fifty items", () => {
  const mine = { id: "key", text: "hi", contexts: [], images: [], state: "sending" as const };
  const s = store();
  s.receive(env(1, user("key")));
  for (let i = 2; i <= 49; i++) s.receive(env(i, user(`u${i}`)));
  const left = () => {
    s.sending.value = [mine];
    s.setSending("other", {});
    return s.sending.value.length;
  };
  expect(left()).toBe(0);
  s.receive(env(50, user("u50")));
  expect(left(), "the forty-ninth from the end").toBe(1);
  s.sending.value = [{ ...mine, seq: 51 }];
  s.setSending("key", { state: "kept" });
  expect(s.sending.value).toEqual([{ ...mine, seq: 51, state: "kept" }]);
  s.receive(env(51, user("u51")));
  expect(s.sending.value).toEqual([]);
  s.sending.value = [{ ...mine, id: "a" }, { ...mine, id: "b" }];
  const before = s.sending.value;
  s.receive(env(52, user("u52")));
  expect(s.sending.value).toBe(before);
  s.drop("a");
  expect(s.sending.value.map((m) => m.id)).toEqual(["b"]);
});

test("a hidden page folds slowly, a seen one with its frames", () => {
  vi.useFakeTimers();
  const page = { hidden: true };
  vi.stubGlobal("document", page);
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (f: () => void) => frames.push(f));
  const s = new SessionStore("s");
  s.reset({ epoch: "e", seq: 0 }, undefined);
  s.receive(env(1, user("u1")));
  vi.advanceTimersByTime(99);
  expect([keys(s), frames.length]).toEqual([[], 0]);
  vi.advanceTimersByTime(1);
  expect(keys(s)).toEqual(["u1"]);
  page.hidden = false;
  s.receive(env(2, user("u2")));
  vi.advanceTimersByTime(1000);
  expect([keys(s), frames.length]).toEqual([["u1"], 1]);
  frames[0]?.();
  expect(keys(s)).toEqual(["u1", "u2"]);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
