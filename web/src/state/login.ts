// Exchanges the token in the printed address for a cookie; the page does not store it.

import { signal } from "@preact/signals";

/** Exchanges a token for a cookie. False is a refusal. */
export async function signIn(token: string): Promise<boolean> {
  return token !== "" && (await post("v1/login", { token }))?.ok === true;
}

/** Whether the code of the address that was opened did not let this device in. */
export const codeRefused = signal(false);

/** Exchanges the code of an address for a cookie of a new token. */
export async function signInWithCode(code: string): Promise<void> {
  codeRefused.value = (await post("v1/pair", { code }))?.ok !== true;
}

function post(path: string, body: unknown): Promise<Response | undefined> {
  return fetch(new URL(path, document.baseURI), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    credentials: "same-origin",
  }).catch(() => undefined);
}

/**
 * Reports whether the server refuses this page: a browser gives no reason when a socket cannot be
 * opened.
 */
export async function isRefused(): Promise<boolean> {
  return (await post("v1/health", {}))?.status === 401;
}

/** The address of the WebSocket, below the path of the page. */
export function socketAddress(base: string): string {
  const url = new URL("v1/ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  url.search = "";
  return url.href;
}
