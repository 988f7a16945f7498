import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FoldedConversation } from "../fold/conversation";
import { CallError } from "../rpc/connection";
import type { PendingPrompt } from "../rpc/service";
import { SessionStore } from "./session";
import { en } from "./words.en";

const call = vi.fn();
const toast = vi.fn();
const refreshSoon = vi.fn();
const stores = new Map<string, SessionStore>();
const order: string[] = [];

vi.mock("./app", async () => {
  const { signal } = await import("@preact/signals");
  const { en } = await import("./words.en");
  return {
    refreshers: [],
    afterOpen: [],
    call: (...args: unknown[]) => call(...args),
    toast: (...args: unknown[]) => toast(...args),
    refreshSoon: () => refreshSoon(),
    sayError: (err: Error) => `said ${err.message}`,
    status: signal("open"),
    w: signal(en),
    whenOpen: async () => void order.push("open"),
    tryCall: (...args: unknown[]) => call(...args).catch(() => undefined),
    sessionStore: (id: string) => {
      if (!stores.has(id)) stores.set(id, new SessionStore(id, undefined, (f) => f()));
      return stores.get(id);
    },
  };
});
const a = await import("./actions");
const app = await import("./app");
const { lang } = await import("./prefs");
const { route } = await import("./route");
const { firstWords, live } = await import("./sessions");

beforeEach(() => {
  call.mockReset().mockResolvedValue({ seq: 1, session_id: "new" });
  toast.mockReset();
  refreshSoon.mockReset();
  stores.clear();
  order.length = 0;
  live.value = [];
  route.value = { page: "home" };
  app.status.value = "open";
  vi.stubGlobal("location", { hash: "" });
});
afterEach(() => vi.unstubAllGlobals());

const picture = { name: "p.png", type: "image/png", data: "QUJD", size: 3 };
const tick = async () => {
  for (let i = 0; i < 8; i++) await Promise.resolve();
};

test("a key is a random UUID of version 4, also without the function of the browser", () => {
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(a.newKey()).toMatch(form);
  for (const byte of [0, 0x0f, 0xf0, 0xff]) {
    vi.stubGlobal("crypto", { getRandomValues: (b: Uint8Array) => b.fill(byte) });
    expect(a.newKey()).toMatch(form);
  }
  vi.stubGlobal("crypto", { getRandomValues: (b: Uint8Array) => b.map((_, i, all) => (all[i] = i)) });
  expect(a.newKey()).toBe("00010203-0405-4607-8809-0a0b0c0d0e0f");
  vi.unstubAllGlobals();
});

test("a message is shown at once, sent under its own key, and has the place that the server gave it", async () => {
  let answer: (v: unknown) => void = () => {};
  call.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  a.send("s", { text: "hi", contexts: [], images: [] });
  const s = app.sessionStore("s");
  const [m] = s.sending.value;
  expect(m).toEqual({ id: m?.id, text: "hi", contexts: [], images: [], state: "sending" });
  expect(call.mock.calls).toEqual([["session.query", { session_id: "s", idempotency_key: m?.id, text: "hi" }]]);
  answer({ seq: 7 });
  await tick();
  expect(s.sending.value).toEqual([{ ...m, seq: 7 }]);
  a.send("s", { text: "two", contexts: [], images: [], priority: "next" });
  expect(s.sending.value.map((x) => x.text)).toEqual(["hi", "two"]);
  expect(call.mock.calls[1]?.[1]).toMatchObject({ priority: "next", text: "two" });
});

test("contexts go as names in the language of the page, their contents after the text, and pictures before it", async () => {
  lang.value = "zh";
  const context = { type: "TerminalReference", name: "n", content: "out" };
  a.send("s", { text: "see", contexts: [context], images: [] });
  expect(call.mock.calls[0]?.[1]).toMatchObject({
    contexts: [{ type: "TerminalReference", name: "n" }],
    language: "zh",
    text: "see\n\n💻 `n`:\n```\nout\n```",
  });
  a.send("s", { text: "look", contexts: [], images: [picture] });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } };
  expect(call.mock.calls[1]?.[0]).toBe("session.queryWithContent");
  expect(call.mock.calls[1]?.[1]).toMatchObject({ content: [image, { type: "text", text: "look" }] });
  a.send("s", { text: "", contexts: [], images: [picture] });
  expect(call.mock.calls[2]?.[1].content).toEqual([image]);
  for (const i of [1, 2]) {
    expect(call.mock.calls[i]?.[1]).not.toHaveProperty("contexts");
    expect(call.mock.calls[i]?.[1]).not.toHaveProperty("priority");
  }
  lang.value = "en";
});

test("a message that was lost on the way is kept, one that was refused has failed with the reason", async () => {
  const s = app.sessionStore("s");
  for (const [err, want] of [
    [new CallError("x", "not_connected"), { state: "kept" }],
    [new CallError("x", "timeout"), { state: "kept" }],
    [new CallError("x", "limit_reached"), { state: "failed", error: "said x", reason: "limit_reached" }],
    [new Error("odd"), { state: "failed", error: "said odd", reason: "" }],
  ] as const) {
    s.sending.value = [];
    call.mockRejectedValueOnce(err);
    a.send("s", { text: "hi", contexts: [], images: [] });
    await tick();
    expect(s.sending.value).toMatchObject([want]);
    if (want.state === "kept") expect(s.sending.value[0]?.error).toBeUndefined();
  }
});

test("what was kept goes out again under its key when the connection is back, and only for sessions on the page", async () => {
  app.status.value = "lost";
  call.mockRejectedValue(new CallError("x", "not_connected"));
  const [s, other] = [app.sessionStore("s"), app.sessionStore("other")];
  const end = a.keep(s);
  a.send("s", { text: "kept", contexts: [], images: [] });
  a.send("other", { text: "other", contexts: [], images: [] });
  expect(s.sending.value[0]?.state).toBe("kept");
  await tick();
  s.sending.value = [...s.sending.value, { id: "f", text: "failed", contexts: [], images: [], state: "failed" }];
  call.mockReset().mockResolvedValue({ seq: 3 });
  app.status.value = "open";
  for (const f of app.afterOpen) f();
  await tick();
  expect(call.mock.calls.map(([, p]) => p)).toEqual([{ session_id: "s", idempotency_key: s.sending.value[0]?.id, text: "kept" }]);
  expect(s.sending.value.map((m) => m.state)).toEqual(["sending", "failed"]);
  expect(other.sending.value[0]?.state).toBe("kept");
  a.sendAgain(s, "f");
  a.sendAgain(s, "none");
  await tick();
  expect(call.mock.calls.slice(1).map(([, p]) => p.idempotency_key)).toEqual(["f"]);
  end();
  s.sending.value = s.sending.value.map((m) => ({ ...m, state: "kept" }));
  for (const f of app.afterOpen) f();
  expect(call).toHaveBeenCalledTimes(2);
});

test("an agent goes on, or makes its conversation shorter, by a message", () => {
  a.goOn("s");
  a.compact("s");
  expect(call.mock.calls.map(([, p]) => p.text)).toEqual([en.goOnPrompt, "/compact"]);
  const c = (slash_commands?: string[]) => ({ init: { slash_commands } }) as unknown as FoldedConversation;
  expect([a.canCompact(c(["help", "compact"])), a.canCompact(c(["help"])), a.canCompact(c()), a.canCompact({} as never)]).toEqual([
    true, false, false, false,
  ]);
});

test("an interrupt says how many prompts it dropped", async () => {
  for (const [r, want] of [
    [{ dropped: ["a", "b"] }, [[en.dropped(2)]]],
    [{ dropped: [] }, []],
    [{}, []],
    [undefined, []],
  ] as const) {
    toast.mockReset();
    call.mockReset().mockResolvedValue(r);
    await a.interrupt("s");
    expect(call.mock.calls).toEqual([["session.interrupt", { session_id: "s" }]]);
    expect(toast.mock.calls).toEqual(want);
  }
});

test("an answer goes to its request, and it is said whose counted", async () => {
  const p = { session_id: "s", prompt: { request_id: "r" } } as unknown as PendingPrompt;
  const after = vi.fn();
  a.afterAnswer.push(after);
  const permission = { behavior: "allow", updated_input: { a: 1 }, reason: "why", choice: "once" } as const;
  const ways = [
    [() => a.answerPermission(p, permission), "permission.respond", permission],
    [() => a.answerQuestion(p, "accept", { q: "a" }), "question.respond", { action: "accept", answers: { q: "a" } }],
    [() => a.answerQuestion(p, "decline"), "question.respond", { action: "decline" }],
  ] as const;
  for (const [send, method, params] of ways) {
    for (const [r, counted, toasts] of [
      [{ accepted: true }, true, []],
      [{ accepted: false, by: "phone" }, false, [[en.answeredBy("phone")]]],
      [{ accepted: false }, false, [[en.answeredBy("")]]],
    ] as const) {
      for (const f of [call, toast, after, refreshSoon]) f.mockReset();
      call.mockResolvedValue(r);
      expect(await send()).toBe(counted);
      const [[name, sent] = []] = call.mock.calls;
      const { idempotency_key, ...rest } = sent;
      expect([name, rest]).toEqual([method, { session_id: "s", request_id: "r", ...params }]);
      expect(idempotency_key).toMatch(/^[0-9a-f-]{36}$/);
      expect([toast.mock.calls, after.mock.calls, refreshSoon.mock.calls.length]).toEqual([toasts, [[p]], 1]);
    }
    for (const f of [call, after, refreshSoon]) f.mockReset();
    call.mockRejectedValue(new Error("x"));
    expect(await send()).toBe(false);
    expect([after.mock.calls.length, refreshSoon.mock.calls.length]).toEqual([0, 1]);
  }
});

test("a session is started when the page is connected, opened, and gets its first message", async () => {
  const first = { text: "Fix the\nbug", contexts: [], images: [] };
  expect(await a.startSession({ provider: "x" }, first)).toBe("new");
  expect(order).toEqual(["open"]);
  expect(call.mock.calls[0]).toEqual(["session.connect", { provider: "x", idempotency_key: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  expect(call.mock.calls[1]).toMatchObject(["session.query", { session_id: "new", text: first.text }]);
  expect([firstWords.value.get("new"), route.value]).toEqual(["Fix the bug", { page: "session", ids: ["new"] }]);
  expect(refreshSoon).toHaveBeenCalledTimes(1);
  for (const [first, calls] of [
    [undefined, 1],
    [{ text: "", contexts: [], images: [] }, 1],
    [{ text: "", contexts: [], images: [picture] }, 2],
  ] as const) {
    call.mockReset().mockResolvedValue({ session_id: "t" });
    await a.startSession({}, first as never);
    expect(call).toHaveBeenCalledTimes(calls);
    expect(firstWords.value.has("t")).toBe(false);
  }
  expect(await a.startSession({ idempotency_key: "mine" })).toBe("t");
  expect(call.mock.calls.at(-1)?.[1]).toEqual({ idempotency_key: "mine" });
});

test("a session that was not started is not opened", async () => {
  call.mockRejectedValue(new Error("x"));
  expect(await a.startSession({}, { text: "x", contexts: [], images: [] })).toBeUndefined();
  await a.fork("s");
  const s = conversation();
  await a.resendAsVersion(s, "u2", { text: "x", contexts: [], images: [] });
  expect([route.value, refreshSoon.mock.calls.length]).toEqual([{ page: "home" }, 0]);
});

test("a fork is opened, and says what it goes on from", async () => {
  await a.fork("s", "m1");
  await a.fork("s");
  expect(call.mock.calls).toEqual([
    ["session.fork", { session_id: "s", at: "m1", metadata: { fork_of: "s" } }],
    ["session.fork", { session_id: "s", metadata: { fork_of: "s" } }],
  ]);
  expect([route.value, refreshSoon.mock.calls.length]).toEqual([{ page: "session", ids: ["new"] }, 2]);
});

/** A session with two prompts, u1 and u2, and an answer a1 between them. */
function conversation(): SessionStore {
  const s = new SessionStore("s", undefined, (f) => f());
  s.reset({ epoch: "e", seq: 0 }, undefined);
  const user = (uuid: string) => ({ type: "user", uuid, isPrompt: true, message: { content: [{ type: "text", text: uuid }] }, provider: "x" });
  const answer = { type: "assistant", id: "m", uuid: "a1", message: { content: [{ type: "text", text: "answer" }] }, provider: "x" };
  for (const m of [user("u1"), answer, user("u2")]) s.fold.apply(m as never);
  return s;
}

test("an edited prompt goes on from the message before it; the first one begins anew with what the session has", async () => {
  const s = conversation();
  const d = { text: "edited", contexts: [], images: [] };
  await a.resendAsVersion(s, "u2", d);
  expect(call.mock.calls[0]).toEqual([
    "session.fork",
    { session_id: "s", at: "a1", metadata: { version_of: "s", version_prompt: "1", version: "1" } },
  ]);
  expect(call.mock.calls[1]).toMatchObject(["session.query", { session_id: "new", text: "edited" }]);
  expect([route.value, refreshSoon.mock.calls.length]).toEqual([{ page: "session", ids: ["new"] }, 1]);
  const me = { session_id: "s", provider: "x", cwd: "/w", permission_mode: "plan" };
  const version = { session_id: "v", metadata: { version_of: "s", version_prompt: "0", version: "2" } };
  for (const [sessions, want] of [
    [[me, version], { provider: "x", cwd: "/w", permission_mode: "plan", metadata: { version_of: "s", version_prompt: "0", version: "3" } }],
    [[{ session_id: "s" }], { metadata: { version_of: "s", version_prompt: "0", version: "2" } }],
  ] as const) {
    call.mockClear();
    live.value = sessions as never;
    await a.resendAsVersion(s, "u1", d);
    const { idempotency_key, ...rest } = call.mock.calls[0]?.[1] ?? {};
    expect([call.mock.calls[0]?.[0], rest]).toEqual(["session.connect", want]);
    expect(call.mock.calls[1]).toMatchObject(["session.query", { session_id: "new", text: "edited" }]);
  }
});

test("another agent goes on with what was said, in the same folder", async () => {
  const c = conversation().fold.conversation;
  await a.continueWith(c, "/w", "x", "y");
  await a.continueWith(c, "", "x", "y");
  const connects = call.mock.calls.filter(([m]) => m === "session.connect").map(([, { idempotency_key, ...rest }]) => rest);
  expect(connects).toEqual([{ provider: "y", cwd: "/w" }, { provider: "y" }]);
  const text = call.mock.calls.find(([m]) => m === "session.query")?.[1].text;
  expect(text).toContain("another agent (x)");
  expect(text).toContain("Person:\nu1\n\nAgent:\nanswer\n\nPerson:\nu2");
});

test("a text is copied, and it is said where the browser forbids it", async () => {
  const writeText = vi.fn().mockResolvedValue(undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  vi.stubGlobal("document", { baseURI: "https://x/tools/" });
  await a.copyLink({ page: "session", ids: ["s"], message: "m" });
  expect([writeText.mock.calls, toast.mock.calls]).toEqual([[["https://x/tools/#/s/s?m=m"]], [[en.copied]]]);
  writeText.mockRejectedValue(new Error("no"));
  await a.copyText("t");
  expect(toast.mock.calls.at(-1)).toEqual([en.notCopied, true]);
});

test("an export is a file, and nothing where the server made none", async () => {
  vi.useFakeTimers();
  const clicked: object[] = [];
  const made: Blob[] = [];
  vi.stubGlobal("document", {
    createElement: () => {
      const link = { href: "", download: "", click: () => clicked.push({ href: link.href, download: link.download }) };
      return link;
    },
  });
  const revoked: string[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((b) => `blob:${made.push(b as Blob)}`);
  vi.spyOn(URL, "revokeObjectURL").mockImplementation((u) => void revoked.push(u));
  call.mockResolvedValueOnce({ name: "a.md", media_type: "text/markdown", text: "# A" });
  await a.exportSession("s", "md");
  expect(call.mock.calls).toEqual([["history.export", { session: "s", format: "md" }]]);
  expect([clicked, made[0]?.type, await made[0]?.text()]).toEqual([[{ href: "blob:1", download: "a.md" }], "text/markdown", "# A"]);
  expect(revoked).toEqual([]);
  vi.advanceTimersByTime(10_000);
  expect(revoked).toEqual(["blob:1"]);
  call.mockRejectedValueOnce(new Error("x"));
  await a.exportSession("s", "md");
  expect(clicked).toHaveLength(1);
  vi.useRealTimers();
  vi.restoreAllMocks();
});
