// The route of the page, in the fragment of its address, so that it works below any path.

import { signal } from "@preact/signals";

export type Route =
  | { page: "new" }
  | { page: "home"; request?: string }
  | { page: "sessions" }
  | { page: "machines" }
  | { page: "usage" }
  | { page: "settings"; section?: string }
  | { page: "session"; ids: string[]; message?: string }
  | { page: "changes"; id: string; turn?: string }
  | { page: "history"; id: string; message?: string };

/** Parses a hash to a route. An unknown one is the page for a new session. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const asked = new URLSearchParams(query);
  const message = asked.get("m");
  const parts = path
    .split("/")
    .filter((p) => p !== "")
    .map(decode);
  switch (parts[0]) {
    case "inbox": // its name in older addresses
    case "home":
      return parts[1] ? { page: "home", request: parts[1] } : { page: "home" };
    case "sessions":
      return { page: "sessions" };
    case "s":
      if (parts.length < 2) return { page: "new" };
      return { page: "session", ids: [...new Set(parts.slice(1))].slice(0, 4), ...(message ? { message } : {}) };
    case "c": {
      const turn = asked.get("turn");
      return parts[1] ? { page: "changes", id: parts[1], ...(turn ? { turn } : {}) } : { page: "sessions" };
    }
    case "machines":
      return { page: "machines" };
    case "usage":
      return { page: "usage" };
    case "settings":
      return parts[1] ? { page: "settings", section: parts[1] } : { page: "settings" };
    case "h":
      return parts[1] ? { page: "history", id: parts[1], ...(message ? { message } : {}) } : { page: "sessions" };
    default:
      return { page: "new" };
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function search(name: string, value: string | undefined): string {
  return value ? `?${name}=${encodeURIComponent(value)}` : "";
}

export function formatRoute(r: Route): string {
  switch (r.page) {
    case "home":
      return r.request ? `#/home/${encodeURIComponent(r.request)}` : "#/home";
    case "sessions":
      return "#/sessions";
    case "session":
      return `#/s/${r.ids.map(encodeURIComponent).join("/")}${search("m", r.message)}`;
    case "changes":
      return `#/c/${encodeURIComponent(r.id)}${search("turn", r.turn)}`;
    case "settings":
      return r.section ? `#/settings/${encodeURIComponent(r.section)}` : "#/settings";
    case "machines":
      return "#/machines";
    case "usage":
      return "#/usage";
    case "history":
      return `#/h/${encodeURIComponent(r.id)}${search("m", r.message)}`;
    default:
      return "#/new";
  }
}

export const route = signal<Route>({ page: "new" });

/** The sessions that were shown last; a new one opens next to them. */
export const lastShown = signal<readonly string[]>([]);

function enter(r: Route): void {
  if (JSON.stringify(route.peek()) !== JSON.stringify(r)) route.value = r;
  if (r.page === "session") lastShown.value = r.ids;
}

/** Follows the address of the window. Call it once. */
export function followRoute(): void {
  const read = () => enter(parseRoute(location.hash));
  addEventListener("hashchange", read);
  read();
}

export function go(r: Route): void {
  location.hash = formatRoute(r);
  // The browser's event comes later; text typed before it belongs to the new route.
  enter(r);
}

/**
 * Returns a function that reports whether the page is still in the same place, so that a slow action does not navigate
 * a person away who has moved on.
 */
export function fromHere(): () => boolean {
  // The address changes before the browser's event.
  const address = () => globalThis.location?.hash ?? "";
  const [here, at] = [route.peek(), address()];
  return () => route.peek() === here && address() === at;
}

/** Returns the token in the fragment of the printed address; undefined for other addresses. */
export function takeToken(hash: string): string | undefined {
  return fragment(hash, "token");
}

/** The code in the fragment of an address for a phone. */
export function takeCode(hash: string): string | undefined {
  return fragment(hash, "pair");
}

function fragment(hash: string, name: string): string | undefined {
  const m = new RegExp(`^#(?:.*&)?${name}=([^&]+)`).exec(hash);
  return m?.[1] === undefined ? undefined : decode(m[1]);
}
