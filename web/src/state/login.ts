// The token of the printed address becomes a cookie; it is kept nowhere in the page.

/** Exchanges a token for a cookie. False is a refusal. */
export async function signIn(token: string): Promise<boolean> {
  if (token === "") return false;
  const r = await fetch(new URL("v1/login", document.baseURI), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
    credentials: "same-origin",
  }).catch(() => undefined);
  return r?.ok === true;
}

/** Whether the server refuses this page: a browser does not say why a socket was not opened. */
export async function isRefused(): Promise<boolean> {
  const r = await fetch(new URL("v1/health", document.baseURI), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
    credentials: "same-origin",
  }).catch(() => undefined);
  return r?.status === 401;
}

/** The address of the WebSocket, under the path that the page lies at. */
export function socketAddress(base: string): string {
  const url = new URL("v1/ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  url.search = "";
  return url.href;
}
