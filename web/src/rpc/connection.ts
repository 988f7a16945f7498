// The connection to the server: JSON-RPC 2.0 on one WebSocket, opened again when it is lost.

import type { Service } from "./service";

export type Methods = Service["methods"];
export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];

/** A message of a session's log with its place there. */
export interface Envelope {
  seq: number;
  sub?: number;
  epoch: string;
  session_id: string;
  ts: string;
  msg: unknown;
}

export type Status = "connecting" | "open" | "lost" | "refused";

/** The error of a failed request. */
export class CallError extends Error {
  constructor(
    message: string,
    readonly reason: string,
    readonly code = 0,
    /** Further data of the server about the error. */
    readonly data: unknown = undefined,
  ) {
    super(message);
  }
}

/** The part of WebSocket that is used, so that tests can give another. */
export interface Socket {
  readyState: number;
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: ((e: { code: number }) => void) | null;
  onmessage: ((e: { data: unknown }) => void) | null;
}

export interface Options {
  open: () => Socket;
  /** Runs after every opening, before waiting calls are sent: hello and attach. */
  greet: (call: Connection["call"]) => Promise<void>;
  onStatus: (status: Status, retryAt?: number) => void;
  onEnvelope: (e: Envelope) => void;
  onNotice?: (method: string, params: unknown) => void;
  /** Called if a socket did not open: reports whether the server refuses the page, so that retrying is useless. */
  refused?: () => Promise<boolean>;
  timers?: Timers;
}

export interface Timers {
  set(f: () => void, ms: number): number;
  clear(id: number): void;
  now(): number;
}

interface Waiting {
  resolve: (v: never) => void;
  reject: (e: Error) => void;
  timer: number;
}

/** How long a call waits for its answer. */
export const callTimeout = 30_000;
/** After this many ms without a message the server is asked for its health; patience limits the answer. */
export const silence = 10_000;
export const patience = 5_000;
/** Waits between attempts to connect: from 250 ms, doubled up to 5 s. */
export const firstRetry = 250;
export const lastRetry = 5_000;

const realTimers: Timers = {
  set: (f, ms) => setTimeout(f, ms) as unknown as number,
  clear: (id) => clearTimeout(id),
  now: () => Date.now(),
};

/** A connection that is opened again whenever it is lost, until close. */
export class Connection {
  private socket: Socket | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private readonly timers: Timers;
  private next = 1;
  private attempt = 0;
  private timer = 0;
  private watch = 0;
  private closed = false;
  private ready = false;

  constructor(private readonly options: Options) {
    this.timers = options.timers ?? realTimers;
  }

  connect(): void {
    if (this.closed || this.socket !== undefined) return;
    this.timers.clear(this.timer);
    this.options.onStatus("connecting");
    const socket = this.options.open();
    this.socket = socket;
    socket.onopen = () => void this.opened(socket);
    socket.onclose = (e) => this.lost(socket, e.code);
    socket.onmessage = (e) => this.receive(socket, e.data);
  }

  close(): void {
    this.closed = true;
    this.timers.clear(this.timer);
    const socket = this.socket;
    if (socket !== undefined) {
      this.lost(socket, 1000);
      socket.close();
    }
  }

  /** Drops the socket, as if it had been lost. */
  drop(): void {
    const socket = this.socket;
    if (socket === undefined) return;
    this.lost(socket, 1006);
    socket.close();
  }

  /** Connects immediately instead of waiting for the next attempt. */
  hurry(): void {
    this.attempt = 0;
    this.connect();
  }

  get isReady(): boolean {
    return this.ready;
  }

  readonly call = <M extends Method>(method: M, params: Params<M>, timeout = callTimeout): Promise<Result<M>> => {
    const socket = this.socket;
    if (socket === undefined || socket.readyState !== 1) {
      return Promise.reject(new CallError("not connected", "not_connected"));
    }
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const timer = this.timers.set(
        () => this.settle(id)?.reject(new CallError("no answer in time", "timeout")),
        timeout,
      );
      this.waiting.set(id, { resolve, reject, timer });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  };

  private settle(id: number): Waiting | undefined {
    const w = this.waiting.get(id);
    if (w === undefined) return undefined;
    this.waiting.delete(id);
    this.timers.clear(w.timer);
    return w;
  }

  private async opened(socket: Socket): Promise<void> {
    this.heard(socket);
    try {
      await this.options.greet(this.call);
    } catch (err) {
      if (this.socket !== socket) return;
      if (err instanceof CallError && err.reason === "auth_failed") return this.refuse(socket);
      return this.drop();
    }
    if (this.socket !== socket) return;
    this.ready = true;
    this.attempt = 0;
    this.options.onStatus("open");
  }

  private refuse(socket: Socket): void {
    this.closed = true;
    this.lost(socket, 4401);
    socket.close();
    this.options.onStatus("refused");
  }

  private lost(socket: Socket, code: number): void {
    if (this.socket !== socket) return;
    const opened = this.ready;
    this.socket = undefined;
    this.ready = false;
    this.timers.clear(this.watch);
    for (const id of [...this.waiting.keys()]) {
      this.settle(id)?.reject(new CallError("the connection was lost", "not_connected", code));
    }
    if (this.closed) return;
    const wait = Math.min(firstRetry * 2 ** this.attempt++, lastRetry);
    this.options.onStatus("lost", this.timers.now() + wait);
    this.timer = this.timers.set(() => this.connect(), wait);
    if (!opened) void this.ask();
  }

  private async ask(): Promise<void> {
    if ((await this.options.refused?.()) !== true || this.closed || this.ready) return;
    this.close();
    this.options.onStatus("refused");
  }

  /** Records that the peer is alive; it is pinged after the next silence. */
  private heard(socket: Socket): void {
    this.timers.clear(this.watch);
    this.watch = this.timers.set(() => {
      this.call("health", {}, patience).catch((err: unknown) => {
        if (this.socket === socket && err instanceof CallError && err.reason === "timeout") this.drop();
      });
    }, silence);
  }

  private receive(socket: Socket, data: unknown): void {
    if (this.socket !== socket || typeof data !== "string") return;
    this.heard(socket);
    let m: Incoming;
    try {
      m = JSON.parse(data) as Incoming;
    } catch {
      return;
    }
    if (typeof m !== "object" || m === null) return;
    if (isEnvelope(m)) return this.options.onEnvelope(m);
    if (typeof m.method === "string") {
      if (isEnvelope(m.params)) this.options.onEnvelope(m.params);
      else this.options.onNotice?.(m.method, m.params);
      return;
    }
    if (typeof m.id !== "number") return;
    const w = this.settle(m.id);
    if (w === undefined) return;
    const e = m.error;
    if (e) w.reject(new CallError(e.message ?? "", e.data?.reason ?? "", e.code ?? 0, e.data));
    else w.resolve(m.result as never);
  }
}

interface Incoming {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { message?: string; code?: number; data?: { reason?: string } };
}

function isEnvelope(v: unknown): v is Envelope {
  return typeof v === "object" && v !== null && "seq" in v && "session_id" in v && "msg" in v;
}
