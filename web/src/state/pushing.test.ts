import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallError } from "../rpc/connection";

const call = vi.fn();
const toast = vi.fn();
vi.mock("./app", async () => {
  const { signal } = await import("@preact/signals");
  return { call: (...args: unknown[]) => call(...args), toast: (...args: unknown[]) => toast(...args), lang: signal("en") };
});

const p = await import("./push");
const { notAnswered, noticeOf } = await import("./pushmessage");
const { reach } = await import("./words.reach");

/** The actions of the browser, in order. */
let did: string[];
let subscription: object | null;

const sub = (name: string) => ({
  endpoint: name,
  toJSON: () => ({ endpoint: name, keys: name === "bare" ? {} : { p256dh: "p", auth: "a" } }),
  unsubscribe: async () => {
    did.push(`unsubscribe ${name}`);
    subscription = null;
  },
});

/** A browser, with or without a subscription. */
function browser(o: { subscribed?: string; permission?: string; fresh?: string; secure?: boolean } = {}): void {
  subscription = o.subscribed === undefined ? null : sub(o.subscribed);
  const registration = {
    pushManager: {
      getSubscription: async () => subscription,
      subscribe: async (how: { userVisibleOnly: boolean; applicationServerKey: Uint8Array }) => {
        did.push(`subscribe ${how.userVisibleOnly} ${[...how.applicationServerKey]}`);
        return (subscription = sub(o.fresh ?? "fresh"));
      },
    },
  };
  const serviceWorker = {
    getRegistration: async (at: string) => (at === "https://x/tools/" ? registration : undefined),
    register: async (url: URL, how: { updateViaCache: string }) => void did.push(`register ${url.href} ${how.updateViaCache}`),
    ready: Promise.resolve(registration),
  };
  vi.stubGlobal("document", { baseURI: "https://x/tools/" });
  vi.stubGlobal("navigator", { serviceWorker, language: "en" });
  vi.stubGlobal("window", { isSecureContext: o.secure ?? true, PushManager: {} });
  vi.stubGlobal("Notification", { permission: o.permission ?? "granted", requestPermission: async () => o.permission ?? "granted" });
}

/** Installs a server with these answers by method. */
function server(by: Record<string, unknown> = {}): void {
  const all: Record<string, unknown> = { "push.key": { enabled: true, public_key: "BP-_" }, "push.get": { subscribed: true, events: ["failed"], allow: true }, ...by };
  call.mockReset().mockImplementation(async (method: string) => {
    if (all[method] instanceof Error) throw all[method];
    return all[method] ?? {};
  });
}
const calls = (method: string) => call.mock.calls.filter(([m]) => m === method).map(([, params]) => params);

beforeEach(() => {
  did = [];
  toast.mockReset();
  server();
  p.pushKept.value = undefined;
  p.pushState.value = "unknown";
});
afterEach(() => vi.unstubAllGlobals());

test("how things stand is looked up in the browser and on the server", async () => {
  for (const [o, by, state, kept] of [
    [{ subscribed: "e" }, {}, "on", { events: ["failed"], allow: true }],
    [{}, {}, "off", undefined],
    [{ subscribed: "e" }, { "push.get": { subscribed: false, events: ["failed"] } }, "on", undefined],
    [{ subscribed: "e" }, { "push.get": new Error("x") }, "on", undefined],
    [{ subscribed: "e", permission: "denied" }, {}, "blocked", { events: ["failed"], allow: true }],
    [{ subscribed: "e" }, { "push.key": { enabled: false, public_key: "k" } }, "disabled", { events: ["failed"], allow: true }],
    [{ subscribed: "e" }, { "push.key": new CallError("x", "unsupported") }, "disabled", { events: ["failed"], allow: true }],
    [{ secure: false }, {}, "insecure", undefined],
  ] as const) {
    browser(o);
    server(by);
    await p.refreshPush();
    expect([p.pushState.value, p.pushKept.value], JSON.stringify([o, by])).toEqual([state, kept]);
    expect(calls("push.get")).toEqual("subscribed" in o ? [{ endpoint: "e" }] : []);
  }
  vi.stubGlobal("navigator", { language: "en" });
  await p.refreshPush();
  expect(p.pushState.value).toBe("insecure");
  vi.stubGlobal("window", { isSecureContext: true });
  await p.refreshPush();
  expect([p.pushState.value, p.pushKept.value]).toEqual(["unsupported", undefined]);
});

test("turning on asks the person first, and subscribes anew", async () => {
  browser({ subscribed: "old" });
  await p.turnOnPush();
  expect(did).toEqual(["register https://x/tools/sw.js none", "unsubscribe old", "subscribe true 4,255,191"]);
  expect(calls("push.subscribe")).toEqual([{ endpoint: "fresh", keys: { p256dh: "p", auth: "a" } }]);
  expect([p.pushState.value, p.pushBusy.value, toast.mock.calls.length]).toEqual(["on", false, 0]);
});

test("nothing is subscribed without the right, a key of the server, or keys of the browser; and what the server does not take is ended", async () => {
  for (const [o, by, browserDid, toasts] of [
    [{ permission: "denied" }, {}, [], 0],
    [{}, { "push.key": { enabled: false } }, [], 0],
    [{ fresh: "bare" }, {}, ["register https://x/tools/sw.js none", "subscribe true 4,255,191"], 1],
    [{}, { "push.subscribe": new Error("full") }, ["register https://x/tools/sw.js none", "subscribe true 4,255,191", "unsubscribe fresh"], 1],
  ] as const) {
    did = [];
    toast.mockReset();
    browser(o);
    server(by);
    await p.turnOnPush();
    expect([did, toast.mock.calls.length, p.pushBusy.value], JSON.stringify([o, by])).toEqual([browserDid, toasts, false]);
  }
  expect(toast.mock.calls).toEqual([[`${reach.value.pushFailed} full`, true]]);
});

test("turning off ends the subscription here and on the server", async () => {
  browser({ subscribed: "e" });
  await p.turnOffPush();
  expect([did, calls("push.unsubscribe"), p.pushState.value]).toEqual([["unsubscribe e"], [{ endpoint: "e" }], "off"]);
  call.mockClear();
  await p.turnOffPush();
  expect([calls("push.unsubscribe"), toast.mock.calls]).toEqual([[], []]);
});

test("a change of what a device gets is sent whole, and none of all events ends it", async () => {
  const keys = { endpoint: "e", keys: { p256dh: "p", auth: "a" } };
  for (const [change, subscribed, unsubscribed] of [
    [{ allow: false }, [{ ...keys, allow: false, events: ["failed"] }], []],
    [{ events: ["needs_answer", "turn_done", "failed"] }, [{ ...keys, allow: true }], []],
    [{ events: ["turn_done"] }, [{ ...keys, allow: true, events: ["turn_done"] }], []],
    [{ events: [] }, [], [{ endpoint: "e" }]],
  ] as const) {
    browser({ subscribed: "e" });
    server();
    did = [];
    await p.refreshPush();
    const changed = p.changePush(change);
    await changed;
    expect([calls("push.subscribe"), calls("push.unsubscribe"), did]).toEqual([subscribed, unsubscribed, unsubscribed.length > 0 ? ["unsubscribe e"] : []]);
  }
  browser();
  p.pushKept.value = { events: ["failed"], allow: true };
  server();
  await p.changePush({ allow: false });
  expect(calls("push.subscribe")).toEqual([]);
});

test("a change is shown at once, and put back where it fails; meanwhile there is no other", async () => {
  browser({ subscribed: "e" });
  await p.refreshPush();
  let refuse: (err: Error) => void = () => {};
  server({ "push.subscribe": new Promise((_, reject) => (refuse = reject)) });
  const changed = p.changePush({ allow: false });
  expect([p.pushBusy.value, p.pushKept.value?.allow]).toEqual([true, false]);
  await p.turnOffPush();
  expect(calls("push.unsubscribe")).toEqual([]);
  refuse(new Error("no"));
  await changed;
  expect([p.pushKept.value?.allow, p.pushBusy.value, toast.mock.calls.length]).toEqual([true, false, 1]);
});

test("a test message says whether it was sent", async () => {
  browser({ subscribed: "e" });
  await p.testPush();
  expect([calls("push.test"), toast.mock.calls]).toEqual([[{ endpoint: "e" }], [[reach.value.pushSent, false]]]);
  server({ "push.test": { error: "gone" } });
  await p.testPush();
  expect(toast.mock.calls.at(-1)).toEqual(["gone", true]);
  browser();
  server();
  await p.testPush();
  expect(calls("push.test")).toEqual([]);
});

test("the worker is registered where the browser can", async () => {
  browser();
  p.registerWorker();
  expect(did).toEqual(["register https://x/tools/sw.js none"]);
  browser({ secure: false });
  p.registerWorker();
  browser();
  vi.stubGlobal("navigator", { language: "en" });
  p.registerWorker();
  expect(did).toHaveLength(1);
});

test("an answer that did not count is told, and leads to its session", () => {
  const n = notAnswered("s", "en");
  expect([n.tag, n.data, n.title !== notAnswered("s", "zh").title, notAnswered("", "en").tag]).toEqual(["s", { session: "s" }, true, "parley"]);
  const full = noticeOf(JSON.stringify({ kind: "failed", session_id: "s", nonce: "n", command: "ls" }), "zh", 2);
  expect([full.data, full.tag, full.actions?.map((a) => a.action)]).toEqual([{ session: "s", nonce: "n" }, "s", ["allow", "deny"]]);
});
