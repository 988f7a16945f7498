import { expect, test, vi } from "vitest";
import { CallError, Connection, type Socket, silence, patience, type Status } from "./connection";

class Fake implements Socket {
  readyState = 0;
  sent: { id: number; method: string }[] = [];
  onopen: (() => void) | null = null;
  onclose: ((e: { code: number }) => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
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

async function setup(refused = false) {
  vi.useFakeTimers();
  const sockets: Fake[] = [];
  const states: Status[] = [];
  const got: unknown[] = [];
  const c = new Connection({
    open: () => {
      const s = new Fake();
      sockets.push(s);
      return s;
    },
    greet: async () => {},
    onStatus: (s) => states.push(s),
    onEnvelope: (e) => got.push(e.seq),
    refused: async () => refused,
    timers: {
      set: (f, ms) => setTimeout(f, ms) as unknown as number,
      clear: (id) => clearTimeout(id),
      now: () => Date.now(),
    },
  });
  c.connect();
  return { c, sockets, states, got };
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
