// The messages of a session: a stream of server-sent events that is opened again where it ended.

import { CallError, type Envelope, firstRetry, lastRetry } from "../../src/rpc/connection";
import type { FoldedConversation } from "../../src/fold/conversation";
import { parse } from "./sse";

export interface Cursor {
  epoch: string;
  seq: number;
  sub?: number;
}

/**
 * A message; a restart from a snapshot, if any; a lost connection; or a connection that continues where the lost one
 * ended.
 */
export type Update =
  | { kind: "event"; envelope: Envelope }
  | { kind: "resumed" }
  | { kind: "reset"; cursor: Cursor; snapshot?: FoldedConversation }
  | { kind: "lost"; error: Error; wait: number };

export interface EventsOptions {
  signal?: AbortSignal;
  /** The cursor to begin after, of an earlier message. Without it the iterator begins with a snapshot. */
  after?: Cursor;
  /** How long the stream may be silent before it is opened again, in milliseconds (60,000). The server's heartbeat has to be shorter. */
  silence?: number;
}

type Request = (path: string, init: RequestInit) => Promise<Response>;

interface Attached {
  cursor: Cursor;
  snapshot?: FoldedConversation;
  resync?: boolean;
}

/** Reasons for which a retry cannot help. */
const final = new Set(["auth_failed", "invalid_params", "session_expired", "unsupported"]);

export async function* follow(request: Request, session: string, options: EventsOptions): AsyncGenerator<Update, void> {
  const { signal, silence = 60_000 } = options;
  let at = options.after;
  let attempt = 0;
  while (!signal?.aborted) {
    const stream = new AbortController();
    const end = () => stream.abort();
    signal?.addEventListener("abort", end);
    const watchdog = new Watchdog(silence, end);
    try {
      const response = await request(eventsPath(session, at), { signal: stream.signal });
      for await (const e of parse(response, watchdog)) {
        attempt = 0;
        const update = read(e, at);
        if (update === undefined) continue;
        if (update.kind === "event") at = after(update.envelope);
        else if (update.kind === "reset") at = update.cursor;
        yield update;
      }
      throw new CallError("the server ended the stream", "not_connected");
    } catch (err) {
      if (signal?.aborted) return;
      if (err instanceof CallError && final.has(err.reason)) throw err;
      const wait = Math.min(firstRetry * 2 ** attempt++, lastRetry);
      yield { kind: "lost", error: err instanceof Error ? err : new Error(String(err)), wait };
      await pause(wait, signal);
    } finally {
      signal?.removeEventListener("abort", end);
      watchdog.stop();
      stream.abort();
    }
  }
}

function eventsPath(session: string, at: Cursor | undefined): string {
  const after = at ? `&after=${encodeURIComponent(`${at.epoch}:${at.seq}.${at.sub ?? 0}`)}` : "";
  return `/v1/sessions/${encodeURIComponent(session)}/events?output_delta=1&queue_updated=1${after}`;
}

function after(e: Envelope): Cursor {
  return { epoch: e.epoch, seq: e.seq, ...(e.sub ? { sub: e.sub } : {}) };
}

/** Reads an event of the stream. Events of unknown types are skipped. */
function read(e: { name: string; data: string }, at: Cursor | undefined): Exclude<Update, { kind: "lost" }> | undefined {
  if (e.name === "") return { kind: "event", envelope: JSON.parse(e.data) as Envelope };
  if (e.name !== "attached" && e.name !== "resync") return undefined;
  const a = JSON.parse(e.data) as Attached;
  if (at !== undefined && a.snapshot === undefined && a.resync !== true && e.name === "attached") return { kind: "resumed" };
  return { kind: "reset", cursor: a.cursor, ...(a.snapshot ? { snapshot: a.snapshot } : {}) };
}

/** Calls a function if feed is not called for some time. */
export class Watchdog {
  private timer: ReturnType<typeof setTimeout>;

  constructor(
    private readonly ms: number,
    private readonly bark: () => void,
  ) {
    this.timer = setTimeout(bark, ms);
  }

  feed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.bark, this.ms);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}
