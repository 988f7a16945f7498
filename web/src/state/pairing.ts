// Pairing a phone: a code for one use, which the phone exchanges for its own token.

import { signal } from "@preact/signals";
import { call } from "./app";

export const roles = ["viewer", "operator", "admin"] as const;

export type Paired =
  | { state: "open"; id: string; code: string; role: string; expires: number; addresses: readonly string[] }
  /** No other device can reach the server, or no address of it is known. */
  | { state: "loopback" | "unknown" }
  | { state: "used"; name: string };

export const pairing = signal<Paired | undefined>(undefined);

/** Whether a host name means the local machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);
}

/** Reports whether a phone can reach the server at an address that is known. */
export function reachOf(
  host: string,
  r: { loopback: boolean; addresses?: readonly string[] | null },
): "open" | "loopback" | "unknown" {
  if (!isLoopback(host)) return "open"; // the page itself came over the network
  if (r.loopback) return "loopback";
  return (r.addresses ?? []).length > 0 ? "open" : "unknown";
}

export async function startPairing(role: string, name: string): Promise<void> {
  const r = await call("pairing.create", { role, name });
  const state = reachOf(location.hostname, r);
  if (state !== "open") {
    await call("pairing.cancel", { id: r.id });
    pairing.value = { state };
    return;
  }
  const expires = Date.parse(r.expires_at);
  pairing.value = { state, id: r.id, code: r.code, role, expires, addresses: r.addresses ?? [] };
}

/** Hides the code and ends it. */
export async function endPairing(): Promise<void> {
  const p = pairing.peek();
  pairing.value = undefined;
  if (p?.state === "open") await call("pairing.cancel", { id: p.id }).catch(() => {});
}

/** The address for the phone. The code is in its fragment, which no server and no log sees. */
export function pairingUrl(p: { code: string; addresses: readonly string[] }, base: string): string {
  const own = new URL(base);
  const url = isLoopback(own.hostname) ? new URL(p.addresses[0] ?? base) : own;
  url.search = "";
  url.hash = `pair=${p.code}`;
  return url.href;
}

export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
