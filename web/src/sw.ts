// The service worker. It shows push messages as notifications and leads a click on one to its
// session. It takes no requests of the page: there is no fetch handler, and nothing is kept.

import { clickTarget, notificationOf } from "./state/pushmessage";

// The compiler knows windows here; this is what of a worker is used.
interface Client {
  url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface WorkerEvent extends Event {
  waitUntil(p: Promise<unknown>): void;
  data?: { text(): string } | null;
  notification?: Notification;
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

worker.addEventListener("install", (e) => e.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (e) => e.waitUntil(worker.clients.claim()));

worker.addEventListener("push", (e) => {
  const n = notificationOf(e.data?.text() ?? "", lang);
  e.waitUntil(
    worker.registration.showNotification(n.title, { body: n.body, tag: n.tag, data: { session: n.session } }),
  );
});

worker.addEventListener("notificationclick", (e) => {
  const data: unknown = e.notification?.data;
  const session = typeof data === "object" && data !== null && "session" in data ? data.session : "";
  e.notification?.close();
  e.waitUntil(show(clickTarget(typeof session === "string" ? session : "", worker.registration.scope)));
});

/** Shows an address in a window of the page, or in a new one. */
async function show(url: string): Promise<void> {
  const all = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const window = all.find((c) => c.url.startsWith(worker.registration.scope));
  if (window === undefined) {
    await worker.clients.openWindow(url);
    return;
  }
  await window.focus().catch(() => {}); // it may not be allowed, and the address still counts
  await window.navigate(url).catch(() => worker.clients.openWindow(url));
}
