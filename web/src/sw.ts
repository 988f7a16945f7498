// The service worker. It shows push messages as notifications, answers a request from one where that is offered, and keeps the files
// of the page, which then opens without a server too. Methods and streams never pass through it.

import { clickTarget, noticeOf, notAnswered } from "./state/pushmessage";
import { assetsOf, kindOf, mostKept } from "./state/shell";

// The compiler has the types of windows; these are the used parts of a worker.
interface Client {
  url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface WorkerEvent extends Event {
  waitUntil(p: Promise<unknown>): void;
  respondWith(r: Promise<Response>): void;
  data?: { text(): string } | null;
  notification?: Notification;
  action?: string;
  request: Request;
}
interface Worker {
  registration: ServiceWorkerRegistration;
  clients: {
    claim(): Promise<void>;
    matchAll(o: { type: "window"; includeUncontrolled: boolean }): Promise<Client[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, f: (e: WorkerEvent) => void): void;
}

const worker = self as unknown as Worker;
const lang = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
const shell = "parley-shell";
/** The time after which a server counts as unreachable. */
const patience = 5000;

worker.addEventListener("install", (e) => e.waitUntil(install()));
worker.addEventListener("activate", (e) => e.waitUntil(worker.clients.claim()));

async function install(): Promise<void> {
  // Without a network there is no shell yet; messages work all the same.
  await fetch(worker.registration.scope)
    .then(keep)
    .catch(() => {});
  await worker.skipWaiting();
}

worker.addEventListener("fetch", (e) => {
  const kind = kindOf(e.request.method, e.request.url, e.request.mode === "navigate", worker.registration.scope);
  if (kind === "page") e.respondWith(page(e));
  else if (kind === "asset") e.respondWith(asset(e.request));
});

/** The page of the server, or the cached one if the server does not answer. */
async function page(e: WorkerEvent): Promise<Response> {
  const { scope } = worker.registration;
  try {
    const r = await fetch(scope, { signal: AbortSignal.timeout(patience) });
    if (r.ok) e.waitUntil(keep(r.clone()).catch(() => {}));
    return r;
  } catch (err) {
    const kept = await (await caches.open(shell)).match(scope);
    if (kept) return kept;
    throw err;
  }
}

async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(shell);
  const kept = await cache.match(request);
  if (kept) return kept;
  const r = await fetch(request);
  if (r.ok) await cache.put(request, r.clone()).catch(() => {}); // a full disk is not an error of the page
  return r;
}

/** Keeps a page with the files that it names. */
async function keep(r: Response): Promise<void> {
  if (!r.ok) return;
  const { scope } = worker.registration;
  const cache = await caches.open(shell);
  const names = assetsOf(await r.clone().text()).map((name) => new URL(name, scope).href);
  for (const url of names) if (!(await cache.match(url))) await cache.add(url);
  await cache.put(scope, r); // last, so that the files that it names are cached
  const old = (await cache.keys()).filter((k) => k.url !== scope && !names.includes(k.url));
  for (const k of old.slice(0, Math.max(0, old.length - mostKept))) await cache.delete(k);
}

worker.addEventListener("push", (e) => {
  const most = (Notification as { maxActions?: number }).maxActions ?? 0;
  const { title, ...options } = noticeOf(e.data?.text() ?? "", lang, most);
  e.waitUntil(worker.registration.showNotification(title, options as NotificationOptions));
});

worker.addEventListener("notificationclick", (e) => {
  const data: unknown = e.notification?.data;
  const text = (name: string) => {
    const v: unknown = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined;
    return typeof v === "string" ? v : "";
  };
  e.notification?.close();
  if ((e.action === "allow" || e.action === "deny") && text("nonce") !== "")
    e.waitUntil(answer(text("nonce"), e.action, text("session")));
  else e.waitUntil(show(clickTarget(text("session"), worker.registration.scope)));
});

/** Answers a request. If that fails, a notice leads to the session. */
async function answer(nonce: string, behavior: string, session: string): Promise<void> {
  const r = await fetch(new URL("v1/push.answer", worker.registration.scope), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ nonce, behavior }),
    credentials: "same-origin",
  }).catch(() => undefined);
  const accepted = r?.ok === true && ((await r.json().catch(() => ({}))) as { accepted?: boolean }).accepted === true;
  if (accepted) return;
  const { title, ...options } = notAnswered(session, lang);
  await worker.registration.showNotification(title, options);
}

/** Shows an address in a window of the page, or in a new one. */
async function show(url: string): Promise<void> {
  const all = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const window = all.find((c) => c.url.startsWith(worker.registration.scope));
  if (window === undefined) {
    await worker.clients.openWindow(url);
    return;
  }
  await window.focus().catch(() => {}); // it may be forbidden; the address still applies
  await window.navigate(url).catch(() => worker.clients.openWindow(url));
}
