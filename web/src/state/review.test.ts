import { beforeEach, expect, test, vi } from "vitest";
import { CallError } from "../rpc/connection";
import { en } from "./words.en";

const call = vi.fn();
const toast = vi.fn();
vi.mock("./app", async () => ({
  refreshers: [],
  afterOpen: [],
  call: (...args: unknown[]) => call(...args),
  toast: (...args: unknown[]) => toast(...args),
  sayError: (err: Error) => `said ${err.message}`,
  w: (await import("@preact/signals")).signal((await import("./words.en")).en),
}));

const { Review, reviewOf } = await import("./review");

const comment = (id: string, state = "open") => ({ id, state }) as never;
const hunks = [{ id: "h", lines: ["+x"] }];
const conflict = new CallError("the lines have changed", "conflict", 0, { hunks: [...hunks, "odd"] });
const key = expect.stringMatching(/^[0-9a-f-]{36}$/);

beforeEach(() => {
  call.mockReset();
  toast.mockReset();
});

/** A review with these comments. */
async function review(...comments: unknown[]) {
  const r = new Review("s");
  call.mockResolvedValueOnce({ comments });
  await r.load();
  call.mockClear();
  return r;
}

test("the remarks are those of the server; a lost connection leaves them, another failure does not", async () => {
  const r = new Review("s");
  call.mockResolvedValueOnce({ comments: [comment("a")] });
  await r.load();
  expect([call.mock.calls, r.comments.value]).toEqual([[["review.list", { session_id: "s" }]], [comment("a")]]);
  call.mockRejectedValueOnce(new CallError("x", "not_connected"));
  await r.load();
  expect(r.comments.value).toEqual([comment("a")]);
  call.mockRejectedValueOnce(new CallError("x", "unsupported"));
  await r.load();
  expect(r.comments.value).toEqual([]);
  call.mockResolvedValueOnce({ comments: null });
  await r.load();
  expect(r.comments.value).toEqual([]);
});

test("a remark is added under a key, or it is said what is in its place", async () => {
  const r = await review();
  const p = { file: "f", from: 1, to: 2, side: "new", hunk: "h", text: "why?", turn: "t" } as const;
  call.mockResolvedValueOnce({}).mockResolvedValueOnce({ comments: [comment("a")] });
  expect(await r.add(p)).toEqual({ ok: true });
  expect(call.mock.calls).toEqual([
    ["review.comment", { session_id: "s", idempotency_key: key, ...p }],
    ["review.list", { session_id: "s" }],
  ]);
  expect(r.comments.value).toEqual([comment("a")]);
  call.mockRejectedValueOnce(conflict);
  expect(await r.add(p)).toEqual({ ok: false, text: "the lines have changed", hunks });
  call.mockRejectedValueOnce(new Error("x"));
  expect(await r.add(p)).toEqual({ ok: false, text: "said x" });
});

test("a remark is changed or taken away, and a failure is said", async () => {
  const r = await review(comment("a"), comment("b"));
  for (const [act, method, params] of [
    [() => r.change("a", { text: "new" }), "review.update", { id: "a", text: "new" }],
    [() => r.change("a", { state: "resolved" }), "review.update", { id: "a", state: "resolved" }],
    [() => r.remove("a"), "review.remove", { id: "a" }],
  ] as const) {
    call.mockReset().mockResolvedValueOnce({ comments: [comment(method)] });
    expect(await act()).toBe(true);
    expect([call.mock.calls, r.comments.value]).toEqual([[[method, { session_id: "s", ...params }]], [comment(method)]]);
    call.mockRejectedValueOnce(conflict);
    expect(await act()).toBe(false);
    expect([toast.mock.calls.at(-1), r.comments.value]).toEqual([["the lines have changed", true], [comment(method)]]);
  }
});

test("the open remarks are sent as one message; those whose lines have changed stay with what is there", async () => {
  const r = await review(comment("a"), comment("b"));
  call.mockResolvedValueOnce({ sent: ["a"], stale: [{ id: "b", hunks }] }).mockResolvedValueOnce({ comments: [comment("b")] });
  expect(await r.send("please")).toBe(true);
  expect(call.mock.calls).toEqual([
    ["review.send", { session_id: "s", idempotency_key: key, text: "please" }],
    ["review.list", { session_id: "s" }],
  ]);
  expect([toast.mock.calls, [...r.stale.value], r.comments.value]).toEqual([[[en.review_.sent(1, 1)]], [["b", hunks]], [comment("b")]]);
  call.mockResolvedValueOnce({ sent: ["b"] }).mockResolvedValueOnce({ comments: [] });
  expect(await r.send("")).toBe(true);
  expect(call.mock.calls[2]).toEqual(["review.send", { session_id: "s", idempotency_key: key }]);
  expect([toast.mock.calls.at(-1), r.stale.value.size]).toEqual([[en.review_.sent(1, 0)], 0]);
});

test("what is stale goes with its remark", async () => {
  const r = await review(comment("a"), comment("b"));
  r.stale.value = new Map([["a", []], ["b", []]]);
  call.mockResolvedValueOnce({ comments: [comment("b")] });
  await r.load();
  expect([...r.stale.value.keys()]).toEqual(["b"]);
});

test("a message that was refused tells of all open remarks, and of the lines where there is one", async () => {
  for (const [comments, err, stale] of [
    [[comment("a"), comment("z", "sent")], conflict, [["a", hunks]]],
    [[comment("a"), comment("b"), comment("z", "sent")], conflict, [["a", []], ["b", []]]],
    [[comment("a")], new Error("x"), []],
    [[comment("a")], new CallError("x", "conflict"), []],
  ] as const) {
    const r = await review(...comments);
    call.mockRejectedValueOnce(err);
    expect(await r.send("")).toBe(false);
    expect([...r.stale.value]).toEqual(stale);
    expect(toast.mock.calls.at(-1)?.[1]).toBe(true);
    expect(call).toHaveBeenCalledTimes(1);
  }
});

test("a session has one review", () => {
  const r = reviewOf({ id: "s" } as never);
  expect(r.session).toBe("s");
  expect(reviewOf({ id: "s" } as never)).toBe(r);
  expect(reviewOf({ id: "t" } as never)).not.toBe(r);
});
