import { expect, test, vi } from "vitest";
import {
  CallError,
  Connection,
  callTimeout,
  firstRetry,
  lastRetry,
  type Options,
  patience,
  type Socket,
  type Status,
  silence,
} from "./connection";

class Fake implements Socket {
  readyState = 0;
  sent: { jsonrpc: string; id: number; method: string; params: unknown }[] = [];
  closed = 0;
  onopen: (() => void) | null = null;
  onclose: ((e: { code: number }) => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.closed++;
    this.readyState = 3;
    this.onclose?.({ code: 1006 });
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  say(v: unknown): void {
    this.onmessage?.({ data: JSON.stringify(v) });
  }
}

async function setup(refused = false, more: Partial<Options> = {}) {
  vi.useFakeTimers();
  const sockets: Fake[] = [];
  const states: Status[] = [];
  const got: unknown[] = [];
  const retries: (number | undefined)[] = [];
  const c = new Connection({
    open: () => {
      const s = new Fake();
      sockets.push(s);
      return s;
    },
    greet: async () => {},
    onStatus: (s, at) => {
      states.push(s);
      retries.push(at);
    },
    onEnvelope: (e) => got.push(e.seq),
    refused: async () => refused,
    timers: {
      set: (f, ms) => setTimeout(f, ms) as unknown as number,
      clear: (id) => clearTimeout(id),
      now: () => Date.now(),
    },
    ...more,
  });
  c.connect();
  return { c, sockets, states, got, retries };
}

test("calls are answered, and fail when the connection is lost", async () => {
  const { c, sockets, states, got } = await setup();
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  const good = c.call("health", {});
  const bad = c.call("health", {});
  const never = c.call("health", {});
  sockets[0]?.say({ id: 1, result: { status: "ok" } });
  sockets[0]?.say({ id: 2, error: { code: -1, message: "no", data: { reason: "conflict" } } });
  sockets[0]?.say({
    jsonrpc: "2.0",
    method: "event",
    params: { seq: 7, session_id: "s", epoch: "e", ts: "", msg: {} },
  });
  sockets[0]?.say("nonsense");
  expect(await good).toEqual({ status: "ok" });
  await expect(bad).rejects.toMatchObject({ reason: "conflict" });
  expect(got).toEqual([7]);
  const lost = expect(never).rejects.toMatchObject({ reason: "not_connected" });
  sockets[0]?.close();
  await lost;
  expect(states).toEqual(["connecting", "open", "lost"]);
  await vi.advanceTimersByTimeAsync(300);
  expect(sockets).toHaveLength(2);
  await expect(c.call("health", {})).rejects.toBeInstanceOf(CallError);
  c.close();
});

test("silence is noticed", async () => {
  const { c, sockets, states } = await setup();
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(silence + 1);
  expect(sockets[0]?.sent.map((m) => m.method)).toEqual(["health"]);
  await vi.advanceTimersByTimeAsync(patience + 1);
  expect(states.at(-1)).toBe("lost");
  c.close();
});

test("a server that refuses is not asked again", async () => {
  const { sockets, states } = await setup(true);
  sockets[0]?.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("refused");
  expect(sockets).toHaveLength(1);
});

test("attempts to connect come after waits that double, and begin anew after one that worked", async () => {
  const { c, sockets, retries } = await setup();
  const waits: number[] = [];
  const fail = async () => {
    const before = Date.now();
    sockets.at(-1)?.close();
    const at = retries.at(-1) ?? 0;
    waits.push(at - before);
    const n = sockets.length;
    await vi.advanceTimersByTimeAsync(at - before - 1);
    expect(sockets).toHaveLength(n);
    await vi.advanceTimersByTimeAsync(1);
    expect(sockets).toHaveLength(n + 1);
  };
  for (let i = 0; i < 7; i++) await fail();
  expect(waits).toEqual([
    firstRetry,
    2 * firstRetry,
    4 * firstRetry,
    8 * firstRetry,
    16 * firstRetry,
    lastRetry,
    lastRetry,
  ]);
  sockets.at(-1)?.open();
  await vi.advanceTimersByTimeAsync(0);
  await fail();
  expect(waits.at(-1)).toBe(firstRetry);
  c.close();
});

test("hurry connects at once, and only where there is no connection", async () => {
  const { c, sockets, states } = await setup();
  c.hurry();
  expect(sockets).toHaveLength(1);
  for (let i = 0; i < 3; i++) {
    sockets.at(-1)?.close();
    await vi.advanceTimersByTimeAsync(lastRetry);
  }
  sockets.at(-1)?.close();
  const n = sockets.length;
  c.hurry();
  expect(sockets).toHaveLength(n + 1);
  await vi.advanceTimersByTimeAsync(lastRetry);
  expect(sockets).toHaveLength(n + 1); // the wait is over
  sockets.at(-1)?.close();
  await vi.advanceTimersByTimeAsync(firstRetry);
  expect(sockets).toHaveLength(n + 2); // the first wait again
  c.close();
  const last = states.length;
  c.connect();
  c.hurry();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sockets).toHaveLength(n + 2);
  expect(states).toHaveLength(last);
});

test("close ends the socket and the waits, and says nothing more", async () => {
  const { c, sockets, states } = await setup();
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  const pending = expect(c.call("health", {})).rejects.toMatchObject({ reason: "not_connected", code: 1000 });
  expect(c.isReady).toBe(true);
  c.close();
  await pending;
  expect(c.isReady).toBe(false);
  expect(sockets[0]?.closed).toBe(1);
  sockets[0]?.say({ seq: 1, session_id: "s", msg: {} });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states).toEqual(["connecting", "open"]);
  expect(vi.getTimerCount()).toBe(0);
  c.close();
});

test("drop gives the socket up, and what comes from it later is ignored", async () => {
  const { c, sockets, states, got } = await setup();
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  c.drop();
  expect(sockets[0]?.closed).toBe(1);
  c.drop(); // no socket is open
  expect(states).toEqual(["connecting", "open", "lost"]);
  await vi.advanceTimersByTimeAsync(firstRetry);
  sockets[1]?.open();
  await vi.advanceTimersByTimeAsync(0);
  sockets[0]?.say({ seq: 1, session_id: "s", msg: {} });
  sockets[0]?.onclose?.({ code: 1 });
  expect(got).toEqual([]);
  expect(states).toEqual(["connecting", "open", "lost", "connecting", "open"]);
  c.close();
});

test("a call has its own number, and one without an answer fails in time", async () => {
  const { c, sockets } = await setup();
  await expect(c.call("health", {})).rejects.toMatchObject({ reason: "not_connected", message: "not connected" });
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  const late = c.call("health", {}).catch((e: unknown) => e);
  const short = c.call("session.detach", { session_id: "s" }, 100).catch((e: unknown) => e);
  expect(sockets[0]?.sent).toEqual([
    { jsonrpc: "2.0", id: 1, method: "health", params: {} },
    { jsonrpc: "2.0", id: 2, method: "session.detach", params: { session_id: "s" } },
  ]);
  await vi.advanceTimersByTimeAsync(100);
  expect(await short).toMatchObject({ reason: "timeout", message: "no answer in time" });
  sockets[0]?.say({ id: 2, result: {} }); // too late
  for (let passed = 100; passed < callTimeout; passed += 5_000) {
    sockets[0]?.say({ method: "x" }); // it is there
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(await late).toMatchObject({ reason: "timeout" });
  c.close();
});

test("an answer stops the clock of its call", async () => {
  const { c, sockets } = await setup();
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  const timers = vi.getTimerCount();
  const call = c.call("health", {});
  expect(vi.getTimerCount()).toBe(timers + 1);
  sockets[0]?.say({ id: 1, error: { message: "no", code: 7, data: { reason: "conflict", more: 1 } } });
  await expect(call).rejects.toMatchObject({
    message: "no",
    code: 7,
    reason: "conflict",
    data: { reason: "conflict", more: 1 },
  });
  expect(vi.getTimerCount()).toBe(timers);
  const bare = c.call("health", {});
  sockets[0]?.say({ id: 2, error: {} });
  await expect(bare).rejects.toMatchObject({ message: "", code: 0, reason: "" });
  c.close();
});

test("messages go where they belong, and nonsense goes nowhere", async () => {
  const notices: unknown[] = [];
  const { c, sockets, got } = await setup(false, { onNotice: (method, params) => notices.push([method, params]) });
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  const call = c.call("health", {});
  const socket = sockets[0];
  for (const v of [
    null,
    1,
    "x",
    [],
    {},
    { id: "1", result: 1 },
    { id: 9, result: 1 },
    { seq: 1 },
    { seq: 1, msg: {} },
    { session_id: "s", msg: {} },
  ])
    socket?.say(v);
  socket?.onmessage?.({ data: "{" });
  socket?.onmessage?.({ data: new Uint8Array(2) });
  socket?.say({ seq: 3, session_id: "s", msg: {} });
  socket?.say({ method: "event", params: { seq: 4, session_id: "s", msg: {} } });
  socket?.say({ method: "resync", params: { seq: 5 } });
  socket?.say({ method: "resync" });
  socket?.say({ id: 1, result: "answer" });
  expect(await call).toBe("answer");
  expect(got).toEqual([3, 4]);
  expect(notices).toEqual([
    ["resync", { seq: 5 }],
    ["resync", undefined],
  ]);
  c.close();
});

test("a server that answers pings and one that speaks are kept", async () => {
  const { c, sockets, states } = await setup();
  const socket = sockets[0];
  socket?.open();
  await vi.advanceTimersByTimeAsync(silence - 1);
  socket?.say({ method: "x" });
  await vi.advanceTimersByTimeAsync(silence - 1);
  expect(socket?.sent).toEqual([]); // it was not silent for so long
  for (let i = 1; i <= 3; i++) {
    await vi.advanceTimersByTimeAsync(i === 1 ? 1 : silence);
    expect(socket?.sent).toHaveLength(i);
    await vi.advanceTimersByTimeAsync(patience - 1);
    socket?.say({ id: i, error: { message: "no", data: { reason: "conflict" } } }); // it is there
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(states).toEqual(["connecting", "open"]);
  c.close();
});

test.each([
  ["auth_failed", "refused"],
  ["draining", "lost"],
])("a greeting that fails with %s leaves the connection %s", async (reason, status) => {
  let greeted = 0;
  const { c, sockets, states } = await setup(false, {
    greet: async () => {
      greeted++;
      throw new CallError("no", reason);
    },
  });
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(greeted).toBe(1);
  expect(c.isReady).toBe(false);
  expect(sockets[0]?.closed).toBe(1);
  expect(states).toEqual(["connecting", status]);
  await vi.advanceTimersByTimeAsync(firstRetry);
  expect(sockets).toHaveLength(status === "lost" ? 2 : 1);
  c.close();
});

test.each([true, false])(
  "a greeting that ends after its socket was lost changes nothing (fails: %s)",
  async (fails) => {
    const ends: (() => void)[] = [];
    const { c, sockets, states } = await setup(false, {
      greet: () =>
        new Promise((resolve, reject) =>
          ends.push(() => (fails ? reject(new CallError("no", "auth_failed")) : resolve())),
        ),
    });
    sockets[0]?.open();
    sockets[0]?.close();
    await vi.advanceTimersByTimeAsync(firstRetry);
    sockets[1]?.open();
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(states).toEqual(["connecting", "lost", "connecting"]);
    expect(c.isReady).toBe(false);
    expect(sockets[1]?.closed).toBe(0);
    c.close();
  },
);

test("only a socket that did not open asks whether the server refuses", async () => {
  let asked = 0;
  const refused = async () => {
    asked++;
    return asked > 1;
  };
  const { c, sockets, states } = await setup(false, { refused });
  sockets[0]?.open();
  await vi.advanceTimersByTimeAsync(0);
  sockets[0]?.close();
  expect(asked).toBe(0);
  await vi.advanceTimersByTimeAsync(firstRetry);
  sockets[1]?.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toBe(1);
  expect(states.at(-1)).toBe("lost");
  await vi.advanceTimersByTimeAsync(2 * firstRetry);
  sockets[2]?.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)).toBe("refused");
  expect(sockets).toHaveLength(3);
  c.close();
});
