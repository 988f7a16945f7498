// The page's state: the connection, who we are, the sessions that are followed.

import { batch, effect, signal } from "@preact/signals";
import { canonical } from "../fold";
import { get, isObj, str } from "../fold/json";
import type { HelloResult, SettingsResult } from "../rpc/service";
import {
  CallError,
  Connection,
  type Envelope,
  type Method,
  type Params,
  type Result,
  type Status,
} from "../rpc/connection";
import { isRefused } from "./login";
import { lang } from "./prefs";
import { type Cursor, SessionStore } from "./session";
import { fetchWords, wordsOf } from "./words";
import { mw } from "./words.machines";

export const status = signal<Status>("connecting");
export const retryAt = signal(0);
export const hello = signal<HelloResult | undefined>(undefined);
export const settings = signal<SettingsResult | undefined>(undefined);
/**
 * The current time, updated every second while the page is connected; running items show their time
 * by it.
 */
export const now = signal(Date.now());
export const w = wordsOf(lang);
effect(() => {
  fetchWords(lang.value).catch((err) => toast(sayError(err), true));
});

const stores = new Map<string, SessionStore>();
const followers = new Map<string, number>();
let connection: Connection | undefined;

/** A short message that disappears by itself. */
export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run: () => void };
}
export const toasts = signal<readonly Toast[]>([]);
let toastId = 0;

export function toast(text: string, bad = false, action?: Toast["action"]): void {
  const id = ++toastId;
  toasts.value = [...toasts.peek().slice(-3), { id, text, bad, ...(action ? { action } : {}) }];
  setTimeout(() => dismiss(id), bad ? 10_000 : 5_000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((t) => t.id !== id);
}

/** Calls a method of the server. */
export function call<M extends Method>(method: M, params: Params<M>, timeout?: number): Promise<Result<M>> {
  if (connection === undefined) return Promise.reject(new CallError("not connected", "not_connected"));
  return connection.call(method, params, timeout);
}

/** Connects now instead of waiting for the next attempt. */
export function tryNow(): void {
  connection?.hurry();
}

/** Waits until the page is connected, at most half a minute. */
export function whenOpen(): Promise<void> {
  if (status.peek() === "open") return Promise.resolve();
  return new Promise((resolve) => {
    let stop = () => {};
    const end = setTimeout(() => {
      stop();
      resolve();
    }, 30_000);
    stop = status.subscribe((s) => {
      if (s !== "open") return;
      clearTimeout(end);
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Calls a method and shows its error. It returns undefined if the call failed. */
export async function tryCall<M extends Method>(method: M, params: Params<M>): Promise<Result<M> | undefined> {
  try {
    return await call(method, params);
  } catch (err) {
    toast(sayError(err), true);
    return undefined;
  }
}

/** Returns the text of an error for a person. */
export function sayError(err: unknown): string {
  const t = w.peek();
  // The page is connected, but a machine is not.
  if (err instanceof CallError && err.reason === "not_connected" && status.peek() === "open") return mw.peek().cannotAnswer;
  if (err instanceof CallError) return t.reasons[err.reason] ?? err.message;
  return err instanceof Error ? err.message : String(err);
}

/** The session with this id, created on first use. */
export function sessionStore(id: string): SessionStore {
  let s = stores.get(id);
  if (s === undefined) {
    s = new SessionStore(id, (store) => void attach(store));
    stores.set(id, s);
  }
  return s;
}

/** Follows a session until the returned function is called. */
export function follow(id: string): () => void {
  followers.set(id, (followers.get(id) ?? 0) + 1);
  const s = sessionStore(id);
  if (followers.get(id) === 1 && connection?.isReady) void attach(s);
  return () => {
    const n = (followers.get(id) ?? 1) - 1;
    followers.set(id, n);
    if (n > 0) return;
    followers.delete(id);
    // The store is kept, so that following it again continues from its cursor. The server keeps this order.
    call("session.detach", { session_id: id }).catch(() => {});
    if (stores.size > 12) stores.delete(id);
  };
}

async function attach(s: SessionStore): Promise<void> {
  const after = s.cursor;
  try {
    const r = await call("session.attach", {
      session_id: s.id,
      ...(after ? { after } : {}),
    } as Params<"session.attach">);
    if (after === undefined || r.resync || r.snapshot !== undefined) s.reset(r.cursor, r.snapshot);
    s.phase.value = "live";
    s.flush();
  } catch (err) {
    if (err instanceof CallError && err.reason === "not_connected") return;
    s.phase.value = "gone";
  }
}

function receive(e: Envelope): void {
  sessionStore(e.session_id).receive(e);
  const type = typeof e.msg === "object" && e.msg !== null && "type" in e.msg ? e.msg.type : "";
  if (typeof type === "string" && /^(permission_|question_|session_|result|user|turn_)/.test(type)) refreshSoon();
}

/** Handles a notification of the server: a session is reset, or is no longer followed. */
function notice(method: string, params: unknown): void {
  const id = str(get(params, "session_id"));
  const s = stores.get(id);
  if (s && (method === "resync" || method === "attached")) {
    const cursor = get(params, "cursor");
    if (isObj(cursor) && get(params, "snapshot") !== undefined)
      s.reset(cursor as unknown as Cursor, get(params, "snapshot"));
  } else if (s && method === "detached" && followers.has(id)) void attach(s);
  refreshSoon();
}

let soon = 0;
/** Loads the lists again, once for many events. */
export function refreshSoon(): void {
  if (soon !== 0) return;
  soon = window.setTimeout(() => {
    soon = 0;
    void refresh();
  }, 120);
}

/** Functions that load lists again when the server reports a change; each list adds one. */
export const refreshers: (() => Promise<void>)[] = [];

async function refresh(): Promise<void> {
  if (!connection?.isReady) return;
  await Promise.allSettled(refreshers.map((f) => f()));
}

async function greet(c: Connection["call"]): Promise<void> {
  const r = await c("hello", { client: { name: "parley-web" }, capabilities: ["output_delta", "queue_updated"] });
  const s = await c("settings.get", {}).catch(() => undefined);
  batch(() => {
    hello.value = r;
    settings.value = s;
  });
}

async function resume(): Promise<void> {
  await Promise.allSettled([...followers.keys()].map((id) => attach(sessionStore(id))));
  for (const f of afterOpen) f();
  void refresh();
}

/** Functions that run whenever the connection is open again. */
export const afterOpen: (() => void)[] = [];

/** Connects and stays connected. Call it once. */
export function start(url: string): Connection {
  const c = new Connection({
    open: () => new WebSocket(url) as never,
    greet,
    onStatus: (s, at) => {
      batch(() => {
        status.value = s;
        retryAt.value = at ?? 0;
      });
      // Spinners stop while the connection is lost.
      document.documentElement.classList.toggle("offline", s !== "open");
      if (s === "open") void resume();
    },
    onEnvelope: receive,
    onNotice: notice,
    refused: isRefused,
  });
  connection = c;
  hook();
  addEventListener("offline", () => c.drop());
  addEventListener("online", () => c.hurry());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) c.hurry();
  });
  setInterval(() => {
    if (status.peek() === "open") now.value = Date.now();
  }, 1000);
  // Changes in sessions that are not followed have to be polled.
  setInterval(() => {
    if (!document.hidden || notifying()) void refresh();
  }, 3000);
  c.connect();
  return c;
}

/**
 * Passes the folded state to a function that a browser test installs before the page loads, so that
 * it can compare it with the server's. Without that function it has no effect.
 */
function hook(): void {
  const take: unknown = Reflect.get(window, "parleyTest");
  if (typeof take !== "function") return;
  take({
    state: (id: string) => canonical(sessionStore(id).fold.conversation),
    history: async (id: string) => {
      await whenOpen();
      return canonical((await call("session.getHistory", { session_id: id })).conversation);
    },
    drop: () => connection?.drop(),
    toast: (text: string) => toast(text),
    call: async (method: Method, params: never) => {
      await whenOpen();
      return call(method, params);
    },
  });
}

function notifying(): boolean {
  return typeof Notification !== "undefined" && Notification.permission === "granted";
}
