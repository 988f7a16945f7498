// Push messages without a push service.

import { eventually } from "./driver.mjs";

/** Simulates the push service of the browser: the subscription is made up, the rest is real. */
export function pretend() {
  let mine = null;
  const bytes = (n) => btoa(String.fromCharCode(...n)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
  PushManager.prototype.getSubscription = async () => mine;
  PushManager.prototype.subscribe = async (options) => {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    const keys = { p256dh: bytes(point), auth: bytes(crypto.getRandomValues(new Uint8Array(16))) };
    const endpoint = "https://push.example.net/send/1";
    window.subscribed = { ...options, length: options.applicationServerKey.length };
    const unsubscribe = async () => {
      mine = null;
      return true;
    };
    mine = { endpoint, toJSON: () => ({ endpoint, keys }), unsubscribe };
    return mine;
  };
}

/** Delivers a message to the worker of a page as a push service does, and returns the notice that it shows. */
export async function deliver(page, base, message) {
  const cdp = await page.context().newCDPSession(page);
  const registration = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the worker is not listed")), 30_000).unref();
    cdp.on("ServiceWorker.workerRegistrationUpdated", (e) => {
      const r = e.registrations.find((x) => x.scopeURL === base && !x.isDeleted);
      if (r) resolve(r.registrationId);
    });
  });
  await cdp.send("ServiceWorker.enable");
  const push = { origin: new URL(base).origin, registrationId: await registration, data: JSON.stringify(message) };
  for (let tries = 1; ; tries++) {
    // A browser may drop a message to a worker that is just starting; a repeated one is shown once.
    await cdp.send("ServiceWorker.deliverPushMessage", push);
    try {
      return await eventually(
        page,
        async (title) => {
          const all = await (await navigator.serviceWorker.ready).getNotifications();
          const n = all.find((x) => x.title === title);
          return n && { title: n.title, body: n.body, tag: n.tag, data: n.data, actions: n.actions.map((a) => a.action) };
        },
        message.title,
        10_000,
      );
    } catch (err) {
      if (tries === 4) throw err;
    }
  }
}
