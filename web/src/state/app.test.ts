import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { canonical, Fold } from "../fold";
import type { Method } from "../rpc/connection";

/** A socket that a test plays the server of. */
class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onclose: ((e: { code: number }) => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  calls: { id: number; method: string; params: Record<string, unknown> }[] = [];
  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.calls.push(JSON.parse(text));
  }
  close(): void {
    this.readyState = 3;
  }
  say(m: unknown): void {
    this.onmessage?.({ data: JSON.stringify(m) });
  }
  methods(): string[] {
    return this.calls.map((c) => c.method);
  }
  /** Answers the oldest call of a method, and waits until that has its effect. */
  async answer(method: Method, result: unknown, reason?: string): Promise<Record<string, unknown>> {
    const i = this.calls.findIndex((c) => c.method === method);
    const c = this.calls[i];
    if (c === undefined) throw new Error(`no call of ${method} among ${this.methods().join(" ")}`);
    this.calls.splice(i, 1);
    this.say(reason === undefined ? { id: c.id, result } : { id: c.id, error: { message: "no", data: { reason } } });
    await vi.advanceTimersByTimeAsync(0);
    return c.params;
  }
}

let listeners: Map<string, () => void>;
let page: { hidden: boolean };
let offline: boolean | undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  vi.resetModules();
  FakeSocket.all = [];
  listeners = new Map();
  offline = undefined;
  page = { hidden: false };
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("window", { setTimeout: (f: () => void, ms: number) => setTimeout(f, ms) });
  vi.stubGlobal("addEventListener", (type: string, f: () => void) => listeners.set(type, f));
  vi.stubGlobal(
    "document",
    Object.assign(page, {
      addEventListener: (type: string, f: () => void) => listeners.set(type, f),
      documentElement: { classList: { toggle: (_: string, on: boolean) => (offline = on) } },
    }),
  );
  vi.stubGlobal("requestAnimationFrame", (f: () => void) => setTimeout(f, 0));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

type App = typeof import("./app");

/** The newest socket, opened and greeted. */
async function open(): Promise<FakeSocket> {
  const s = FakeSocket.all.at(-1) as FakeSocket;
  s.readyState = 1;
  s.onopen?.();
  await s.answer("hello", { server: "x" });
  await s.answer("settings.get", { theme: "y" });
  return s;
}

async function started(): Promise<{ app: App; socket: FakeSocket }> {
  const app = await import("./app");
  app.start("ws://x/v1/ws");
  return { app, socket: await open() };
}

test("a page that connects knows the server, and tells its state as it changes", async () => {
  const app = await import("./app");
  await expect(app.call("health", {})).rejects.toMatchObject({ reason: "not_connected" });
  app.start("ws://x/v1/ws");
  expect([FakeSocket.all.map((s) => s.url), app.status.value, offline]).toEqual([["ws://x/v1/ws"], "connecting", true]);
  const socket = FakeSocket.all[0] as FakeSocket;
  socket.readyState = 1;
  socket.onopen?.();
  expect(await socket.answer("hello", { server: "x" })).toEqual({
    client: { name: "parley-web" },
    capabilities: ["output_delta", "queue_updated"],
  });
  expect([app.hello.value, app.status.value]).toEqual([undefined, "connecting"]);
  await socket.answer("settings.get", undefined, "not_owner"); // a link to one session has no settings
  expect([app.hello.value, app.settings.value, app.status.value, offline]).toEqual([{ server: "x" }, undefined, "open", false]);
  socket.onclose?.({ code: 1006 });
  expect([app.status.value, app.retryAt.value, offline]).toEqual(["lost", 1_000_250, true]);
  expect(FakeSocket.all).toHaveLength(1);
  app.tryNow();
  expect([FakeSocket.all.length, app.status.value, app.retryAt.value]).toEqual([2, "connecting", 0]);
  await open();
  expect([app.settings.value, app.status.value]).toEqual([{ theme: "y" }, "open"]);
});

test("a socket that is given up or wanted at once by the browser is", async () => {
  const { app } = await started();
  listeners.get("offline")?.();
  expect(app.status.value).toBe("lost");
  listeners.get("online")?.();
  expect(FakeSocket.all).toHaveLength(2);
  await open();
  listeners.get("offline")?.();
  page.hidden = true;
  listeners.get("visibilitychange")?.();
  expect(FakeSocket.all).toHaveLength(2);
  page.hidden = false;
  listeners.get("visibilitychange")?.();
  expect(FakeSocket.all).toHaveLength(3);
});

test("the present goes on while the page is connected", async () => {
  const { app, socket } = await started();
  await vi.advanceTimersByTimeAsync(1000);
  expect(app.now.value).toBe(1_001_000);
  socket.onclose?.({ code: 1006 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(app.now.value).toBe(1_001_000);
});

test("whoever waits for the connection goes on with it, at once where it is there, and after half a minute at last", async () => {
  const app = await import("./app");
  const done: string[] = [];
  void app.whenOpen().then(() => done.push("early"));
  await vi.advanceTimersByTimeAsync(29_999);
  expect(done).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual(["early"]);
  void app.whenOpen().then(() => done.push("second"));
  const timers = vi.getTimerCount();
  app.status.value = "lost";
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["early"]);
  app.status.value = "open";
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["early", "second"]);
  expect(vi.getTimerCount()).toBe(timers - 1);
  void app.whenOpen().then(() => done.push("third"));
  await Promise.resolve();
  await Promise.resolve();
  expect(done).toEqual(["early", "second", "third"]);
  expect(vi.getTimerCount()).toBe(timers - 1);
});

test("a message goes away by itself, a bad one later, and at most four are there", async () => {
  const app = await import("./app");
  const run = () => {};
  app.toast("good");
  app.toast("bad", true, { label: "Again", run });
  const [good, bad] = app.toasts.value;
  expect(good).toEqual({ id: good?.id, text: "good", bad: false });
  expect(bad).toEqual({ id: bad?.id, text: "bad", bad: true, action: { label: "Again", run } });
  await vi.advanceTimersByTimeAsync(4999);
  expect(app.toasts.value).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(app.toasts.value.map((t) => t.text)).toEqual(["bad"]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(app.toasts.value).toEqual([]);
  for (const text of ["a", "b", "c", "d", "e"]) app.toast(text);
  expect(app.toasts.value.map((t) => t.text)).toEqual(["b", "c", "d", "e"]);
  app.dismiss(app.toasts.value[1]?.id ?? 0);
  expect(app.toasts.value.map((t) => t.text)).toEqual(["b", "d", "e"]);
});

test("an error is said in words of the page where it has some", async () => {
  const app = await import("./app");
  // The class of the modules that were loaded again.
  const { CallError: Err } = await import("../rpc/connection");
  expect([
    app.sayError(new Err("raw", "not_connected")),
    app.sayError(new Err("raw", "something_new")),
    app.sayError(new Error("plain")),
    app.sayError("text"),
  ]).toEqual([app.w.value.reasons["not_connected"], "raw", "plain", "text"]);
  expect(await app.tryCall("health", {})).toBeUndefined();
  expect(app.toasts.value.map((t) => [t.text, t.bad])).toEqual([[app.w.value.reasons["not_connected"], true]]);
});

test("a call that is answered has no message", async () => {
  const { app, socket } = await started();
  const r = app.tryCall("health", {});
  await socket.answer("health", { ok: true });
  expect(await r).toEqual({ ok: true });
  expect(app.toasts.value).toEqual([]);
  const late = app.call("health", {}, 100).catch((err: unknown) => err);
  await vi.advanceTimersByTimeAsync(100);
  expect(await late).toMatchObject({ reason: "timeout" });
});

const cursor = (seq: number) => ({ epoch: "e", seq });
const envelope = (seq: number, msg: unknown, session_id = "s") => ({ seq, epoch: "e", session_id, ts: "2026-01-01T00:00:00Z", msg });
const prompt = (uuid: string) => ({ type: "user", uuid, isPrompt: true, message: { content: [{ type: "text", text: uuid }] }, provider: "claude" });

test("a session is followed once, whoever looks at it, and from its cursor after a lost connection", async () => {
  const { app, socket } = await started();
  const one = app.follow("s");
  const two = app.follow("s");
  expect(socket.methods().filter((m) => m === "session.attach")).toHaveLength(1);
  expect(await socket.answer("session.attach", { cursor: cursor(0) })).toEqual({ session_id: "s" });
  const s = app.sessionStore("s");
  expect([s.phase.value, s.cursor]).toEqual(["live", cursor(0)]);
  socket.say(envelope(1, prompt("u1")));
  await vi.advanceTimersByTimeAsync(0);
  expect(s.cursor).toEqual(cursor(1));
  one();
  expect(socket.methods()).not.toContain("session.detach");
  socket.onclose?.({ code: 1006 });
  app.tryNow();
  const again = await open();
  expect(await again.answer("session.attach", { cursor: cursor(1) })).toEqual({ session_id: "s", after: cursor(1) });
  // The rows stay, because the server had no others.
  expect(s.rows.get().map((r) => r.key)).toEqual(["u1"]);
  two();
  expect(await again.answer("session.detach", {})).toEqual({ session_id: "s" });
  again.onclose?.({ code: 1006 });
  app.tryNow();
  expect((await open()).methods()).not.toContain("session.attach");
  expect(app.sessionStore("s")).toBe(s);
});

test("a session is followed when the connection comes, and begins again where the server says so", async () => {
  const app = await import("./app");
  const fold = new Fold();
  fold.apply(prompt("snap") as never);
  const snapshot = JSON.parse(JSON.stringify(fold.conversation));
  app.follow("a");
  app.follow("gone");
  app.start("ws://x");
  const socket = await open();
  expect(socket.methods().filter((m) => m === "session.attach")).toHaveLength(2);
  await socket.answer("session.attach", { cursor: cursor(4), snapshot });
  await socket.answer("session.attach", undefined, "session_expired");
  const a = app.sessionStore("a");
  expect([a.cursor, a.rows.get().map((r) => r.key), a.phase.value]).toEqual([cursor(4), ["snap"], "live"]);
  expect(app.sessionStore("gone").phase.value).toBe("gone");
  for (const [answer, rows] of [
    [{ cursor: cursor(9), resync: true }, []],
    [{ cursor: cursor(12), snapshot }, ["snap"]],
  ] as const) {
    socket.say({ method: "detached", params: { session_id: "a" } });
    await socket.answer("session.attach", answer);
    expect([a.cursor, a.rows.get().map((r) => r.key)]).toEqual([answer.cursor, rows]);
  }
  socket.say({ method: "detached", params: { session_id: "unknown" } });
  app.sessionStore("other");
  socket.say({ method: "detached", params: { session_id: "other" } });
  expect(socket.methods()).not.toContain("session.attach");
});

test("a session that was lost with the connection is not gone", async () => {
  const { app, socket } = await started();
  app.follow("s");
  socket.onclose?.({ code: 1006 });
  await vi.advanceTimersByTimeAsync(0);
  expect(app.sessionStore("s").phase.value).toBe("loading");
});

test("a session begins again by a notice with a snapshot, and by no other", async () => {
  const { app, socket } = await started();
  app.follow("s");
  await socket.answer("session.attach", { cursor: cursor(3) });
  const s = app.sessionStore("s");
  const fold = new Fold();
  fold.apply(prompt("snap") as never);
  const snapshot = JSON.parse(JSON.stringify(fold.conversation));
  socket.say({ method: "resync", params: { session_id: "s", cursor: cursor(5) } });
  socket.say({ method: "resync", params: { session_id: "s", snapshot } });
  socket.say({ method: "other", params: { session_id: "s", cursor: cursor(6), snapshot } });
  socket.say({ method: "resync", params: { session_id: "t", cursor: cursor(6), snapshot } });
  expect(s.cursor).toEqual(cursor(3));
  for (const [seq, method] of [[7, "resync"], [8, "attached"]] as const) {
    socket.say({ method, params: { session_id: "s", cursor: cursor(seq), snapshot } });
    expect([s.cursor, s.rows.get().map((r) => r.key)]).toEqual([cursor(seq), ["snap"]]);
  }
});

test("a gap in what comes is followed by another attach", async () => {
  const { app, socket } = await started();
  app.follow("s");
  await socket.answer("session.attach", { cursor: cursor(1) });
  socket.say(envelope(5, prompt("u5")));
  await vi.advanceTimersByTimeAsync(0);
  expect(await socket.answer("session.attach", { cursor: cursor(5), resync: true })).toEqual({ session_id: "s", after: cursor(1) });
  expect(app.sessionStore("s").cursor).toEqual(cursor(5));
});

test("at most twelve sessions that nobody looks at are kept", async () => {
  const { app } = await started();
  const stores = Array.from({ length: 13 }, (_, i) => app.sessionStore(`s${i}`));
  app.follow("s0")();
  expect(app.sessionStore("s0")).not.toBe(stores[0]);
  expect(app.sessionStore("s1")).toBe(stores[1]);
  const few = Array.from({ length: 3 }, (_, i) => app.sessionStore(`s${i + 1}`));
  expect(few).toEqual(stores.slice(1, 4));
});

test("a session that nobody looks at stays where there are few", async () => {
  const { app } = await started();
  const s = app.sessionStore("s0");
  app.follow("s0")();
  expect(app.sessionStore("s0")).toBe(s);
});

test("lists are asked for again soon, once for many events that change them", async () => {
  const { app, socket } = await started();
  let times = 0;
  app.refreshers.push(async () => {
    times++;
  });
  await vi.advanceTimersByTimeAsync(200);
  times = 0;
  for (const [type, want] of [
    ["stream_event", 0], ["assistant", 0], ["notice", 0], ["permission_request", 1], ["question_request", 1], ["session_info", 1], ["result", 1], ["user", 1], ["turn_started", 1],
  ] as const) {
    times = 0;
    socket.say(envelope(1, { type, provider: "claude" }, "other"));
    socket.say(envelope(2, { type, provider: "claude" }, "other"));
    await vi.advanceTimersByTimeAsync(119);
    expect(times, type).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(times, type).toBe(want);
  }
  for (const msg of ["user", null, { type: 7 }]) socket.say({ seq: 1, epoch: "e", session_id: "o", ts: "", msg });
  times = 0;
  socket.say({ method: "anything", params: {} });
  await vi.advanceTimersByTimeAsync(120);
  expect(times).toBe(1);
  app.refreshSoon();
  app.refreshSoon();
  await vi.advanceTimersByTimeAsync(300);
  expect(times).toBe(2);
  app.refreshSoon();
  socket.onclose?.({ code: 1006 });
  await vi.advanceTimersByTimeAsync(120);
  expect(times, "without a connection").toBe(2);
});

test("lists are asked for every three seconds by a page that is seen, or that notifies", async () => {
  const { app } = await started();
  let times = 0;
  app.refreshers.push(async () => {
    times++;
    throw new Error("one list that fails");
  });
  app.refreshers.push(async () => {
    times += 10;
  });
  await vi.advanceTimersByTimeAsync(3000);
  expect(times).toBe(11);
  page.hidden = true;
  await vi.advanceTimersByTimeAsync(3000);
  expect(times).toBe(11);
  vi.stubGlobal("Notification", { permission: "denied" });
  await vi.advanceTimersByTimeAsync(3000);
  expect(times).toBe(11);
  vi.stubGlobal("Notification", { permission: "granted" });
  await vi.advanceTimersByTimeAsync(3000);
  expect(times).toBe(22);
});

test("what waits for the connection runs with each", async () => {
  const app = await import("./app");
  let times = 0;
  app.afterOpen.push(() => times++);
  app.start("ws://x");
  await open();
  expect(times).toBe(1);
  (FakeSocket.all[0] as FakeSocket).onclose?.({ code: 1006 });
  app.tryNow();
  await open();
  expect(times).toBe(2);
});

test("only a browser that a test drives gets the state", async () => {
  let given: Record<string, (...args: never[]) => unknown> | undefined;
  vi.stubGlobal("window", { setTimeout, parleyTest: (o: typeof given) => (given = o) });
  const { app, socket } = await started();
  expect(given?.["state"]?.("s" as never)).toBe(canonical(app.sessionStore("s").fold.conversation));
  const history = given?.["history"]?.("s" as never) as Promise<string>;
  await vi.advanceTimersByTimeAsync(0);
  const { conversation } = new Fold();
  expect(await socket.answer("session.getHistory", { conversation })).toEqual({ session_id: "s" });
  expect(await history).toBe(canonical(conversation));
  const called = given?.["call"]?.("health" as never, { a: 1 } as never) as Promise<unknown>;
  await vi.advanceTimersByTimeAsync(0);
  expect(await socket.answer("health", "fine")).toEqual({ a: 1 });
  expect(await called).toBe("fine");
  given?.["drop"]?.();
  expect(app.status.value).toBe("lost");
});
