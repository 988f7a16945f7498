// Calls of a server's methods over HTTP.

import { CallError, callTimeout, type Method, type Params, type Result } from "../../src/rpc/connection";
import { type EventsOptions, follow, type Update } from "./events";
import { Watch, type WatchOptions } from "./watch";

export interface Options {
  /** The address of the server, with the path prefix if it has one. */
  url: string | URL;
  /** The token, or a function that returns the current one. Without a token requests carry the page's cookie. */
  token?: string | (() => string | Promise<string>);
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** How long the call waits for the response, in milliseconds (30,000). */
  timeout?: number;
}

/** A client of one server. It keeps no connection open between calls. */
export class Client {
  private readonly base: string;

  constructor(private readonly options: Options) {
    this.base = String(options.url).replace(/[#?].*$/, "").replace(/\/+$/, "");
  }

  /** Calls a method. It throws a CallError if the server refuses or cannot be reached. */
  async call<M extends Method>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const timeout = AbortSignal.timeout(options.timeout ?? callTimeout);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    try {
      const response = await this.request(`/v1/${encodeURIComponent(method)}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(params),
        signal,
      });
      return (await response.json()) as Result<M>;
    } catch (err) {
      if (timeout.aborted && !options.signal?.aborted) throw new CallError("no answer in time", "timeout");
      throw err;
    }
  }

  /** Iterates over the messages of a session, and connects again whenever the connection is lost, until the signal aborts. */
  events(session: string, options: EventsOptions = {}): AsyncGenerator<Update, void> {
    return follow((path, init) => this.request(path, init), session, options);
  }

  /** Follows a session and folds its messages, until close. */
  watch(session: string, options: WatchOptions = {}): Watch {
    return new Watch((signal) => this.events(session, { signal }), options);
  }

  private async request(path: string, init: RequestInit): Promise<Response> {
    const { token } = this.options;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${typeof token === "function" ? await token() : token}`);
    let response: Response;
    try {
      response = await (this.options.fetch ?? fetch)(this.base + path, {
        ...init,
        headers,
        credentials: token === undefined ? "same-origin" : "omit",
      });
    } catch (err) {
      if (init.signal?.aborted) throw err;
      throw new CallError(`the server cannot be reached: ${err instanceof Error ? err.message : err}`, "not_connected");
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

interface ErrorBody {
  error?: { message?: string; code?: number; data?: { reason?: string } };
}

async function refusal(response: Response): Promise<CallError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody | null;
  const e = body?.error;
  const message = e?.message ?? `the server answered with status ${response.status}`;
  return new CallError(message, e?.data?.reason ?? "", e?.code ?? response.status, e?.data);
}
