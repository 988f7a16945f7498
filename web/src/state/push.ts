// Push messages to this browser: whether they are available, and turning them on and off.

import { signal } from "@preact/signals";
import { call, toast } from "./app";
import { reach } from "./words.reach";

export type PushState = "unknown" | "unsupported" | "insecure" | "disabled" | "blocked" | "off" | "on";

export const pushState = signal<PushState>("unknown");
export const pushBusy = signal(false);

/** The events that a notice can be about; "needs_answer" is a request. */
export const pushEvents = ["needs_answer", "turn_done", "failed"] as const;
export type PushEvent = (typeof pushEvents)[number];

/** The notices that this device gets, and whether they may offer to allow. */
export interface PushKept {
  events: readonly PushEvent[];
  allow: boolean;
}
export const pushKept = signal<PushKept | undefined>(undefined);

/** Without a list, all events are sent. */
export function keptOf(r: { events?: readonly string[] | null; allow?: boolean }): PushKept {
  const some = r.events ?? [];
  return { events: pushEvents.filter((e) => some.length === 0 || some.includes(e)), allow: r.allow === true };
}

/** Facts about the browser and the server, in order of precedence. */
export interface PushFacts {
  secure: boolean;
  supported: boolean;
  permission: NotificationPermission;
  enabled: boolean;
  subscribed: boolean;
}

export function stateOf(f: PushFacts): PushState {
  if (!f.secure) return "insecure";
  if (!f.supported) return "unsupported";
  if (!f.enabled) return "disabled";
  if (f.permission === "denied") return "blocked";
  return f.subscribed && f.permission === "granted" ? "on" : "off";
}

/** The bytes of a key in base64url, as browsers take it. */
export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}

/** Returns the parameters of a subscription for the server; undefined if it has no keys. */
export function paramsOf(
  s: PushSubscriptionJSON,
): { endpoint: string; keys: { p256dh: string; auth: string } } | undefined {
  const p256dh = s.keys?.["p256dh"];
  const auth = s.keys?.["auth"];
  return s.endpoint && p256dh && auth ? { endpoint: s.endpoint, keys: { p256dh, auth } } : undefined;
}

function supported(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window && typeof Notification !== "undefined";
}

/** The page's own registration; its scope is the path of the page. */
async function registered(): Promise<ServiceWorkerRegistration | undefined> {
  return supported() ? navigator.serviceWorker.getRegistration(document.baseURI) : undefined;
}

async function serverKey(): Promise<string | undefined> {
  try {
    const r = await call("push.key", {});
    return r.enabled ? r.public_key : undefined;
  } catch {
    return undefined; // an older server, or a link to one session
  }
}

/** Reads the state of notifications again. */
export async function refreshPush(): Promise<void> {
  const [key, registration] = await Promise.all([serverKey(), registered().catch(() => undefined)]);
  const subscription = await registration?.pushManager.getSubscription().catch(() => null);
  const endpoint = subscription?.endpoint;
  const kept = endpoint ? await call("push.get", { endpoint }).catch(() => undefined) : undefined;
  pushKept.value = kept?.subscribed ? keptOf(kept) : undefined;
  pushState.value = stateOf({
    secure: window.isSecureContext,
    supported: supported(),
    permission: supported() ? Notification.permission : "denied",
    enabled: key !== undefined,
    subscribed: subscription !== null && subscription !== undefined,
  });
}

/** Registers the service worker, which keeps the page for use without the server. Call it once, after the page is drawn. */
export function registerWorker(): void {
  if (!window.isSecureContext || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register(new URL("sw.js", document.baseURI), { updateViaCache: "none" }).catch(() => {});
}

/** Changes the notices of this device. */
export async function changePush(change: Partial<PushKept>): Promise<void> {
  await busy(async () => {
    const kept = pushKept.peek();
    if (!kept) return;
    const next = { ...kept, ...change };
    pushKept.value = next; // before the first wait, or the switch would flip back; a failure resets it
    const subscription = await (await registered())?.pushManager.getSubscription();
    const params = subscription && paramsOf(subscription.toJSON());
    if (!params) return;
    if (next.events.length === 0) {
      await subscription.unsubscribe();
      await call("push.unsubscribe", { endpoint: params.endpoint });
      return;
    }
    const all = next.events.length === pushEvents.length;
    await call("push.subscribe", { ...params, allow: next.allow, ...(all ? {} : { events: [...next.events] }) });
  });
}

/** Subscribes this browser. Call it from a click, because the browser asks for permission first. */
export async function turnOnPush(): Promise<void> {
  await busy(async () => {
    if ((await Notification.requestPermission()) !== "granted") return;
    const key = await serverKey();
    if (key === undefined) return;
    await navigator.serviceWorker.register(new URL("sw.js", document.baseURI), { updateViaCache: "none" });
    const registration = await navigator.serviceWorker.ready;
    const old = await registration.pushManager.getSubscription();
    await old?.unsubscribe(); // it may be for another key
    const fresh = await registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: keyBytes(key),
    });
    const params = paramsOf(fresh.toJSON());
    if (params === undefined) throw new Error("a subscription without keys");
    try {
      await call("push.subscribe", params);
    } catch (err) {
      await fresh.unsubscribe();
      throw err;
    }
  });
}

/** Ends the subscription of this browser, here and on the server. */
export async function turnOffPush(): Promise<void> {
  await busy(async () => {
    const subscription = await (await registered())?.pushManager.getSubscription();
    if (!subscription) return;
    await subscription.unsubscribe();
    await call("push.unsubscribe", { endpoint: subscription.endpoint });
  });
}

/** Sends a message to this browser. */
export async function testPush(): Promise<void> {
  await busy(async () => {
    const subscription = await (await registered())?.pushManager.getSubscription();
    if (!subscription) return;
    const r = await call("push.test", { endpoint: subscription.endpoint });
    toast(r.error ?? reach.peek().pushSent, r.error !== undefined);
  });
}

async function busy(f: () => Promise<void>): Promise<void> {
  if (pushBusy.peek()) return;
  pushBusy.value = true;
  try {
    await f();
  } catch (err) {
    toast(`${reach.peek().pushFailed} ${err instanceof Error ? err.message : ""}`, true);
  } finally {
    await refreshPush();
    pushBusy.value = false;
  }
}
