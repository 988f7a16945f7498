// The calls of the page to the server and the browser, with one table or scene for each small module.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallError } from "../rpc/connection";
import type { PendingPrompt } from "../rpc/service";

const call = vi.fn();
vi.mock("./app", async () => {
  const { signal } = await import("@preact/signals");
  return {
    refreshers: [],
    call: (...args: unknown[]) => call(...args),
    hello: signal({}),
    sayError: (err: Error) => `said ${err.message}`,
    w: signal((await import("./words.en")).en),
  };
});

beforeEach(() => void call.mockReset());
afterEach(() => vi.unstubAllGlobals());

test("a code for a phone is shown where the phone can reach the server, and ended where it cannot", async () => {
  const p = await import("./pairing");
  const made = { id: "i", code: "c", expires_at: "2026-01-01T00:00:10Z", loopback: true, addresses: null as string[] | null };
  for (const [host, r, want, calls] of [
    ["box.example", made, { state: "open", id: "i", code: "c", role: "viewer", expires: Date.parse(made.expires_at), addresses: [] }, 1],
    ["localhost", { ...made, loopback: false, addresses: ["https://b/"] }, { state: "open", id: "i", code: "c", role: "viewer", expires: Date.parse(made.expires_at), addresses: ["https://b/"] }, 1],
    ["localhost", made, { state: "loopback" }, 2],
    ["localhost", { ...made, loopback: false }, { state: "unknown" }, 2],
  ] as const) {
    vi.stubGlobal("location", { hostname: host });
    call.mockReset().mockResolvedValue(r);
    await p.startPairing("viewer", "phone");
    expect(p.pairing.value).toEqual(want);
    expect(call.mock.calls).toEqual([["pairing.create", { role: "viewer", name: "phone" }], ["pairing.cancel", { id: "i" }]].slice(0, calls));
  }
  call.mockReset();
  await p.endPairing();
  expect([p.pairing.value, call.mock.calls.length]).toEqual([undefined, 0]);
  p.pairing.value = { state: "open", id: "j", code: "c", role: "viewer", expires: 0, addresses: [] };
  call.mockRejectedValue(new Error("x"));
  const ended = p.endPairing();
  expect(p.pairing.value, "it is hidden before the server answers").toBeUndefined();
  await ended;
  expect(call.mock.calls).toEqual([["pairing.cancel", { id: "j" }]]);
});

test("a token and a code are exchanged for a cookie, and a refusal is known", async () => {
  const login = await import("./login");
  vi.stubGlobal("document", { baseURI: "https://x/tools/" });
  const asked: unknown[] = [];
  let status = 200;
  vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
    asked.push([url.href, init]);
    if (status === 0) throw new TypeError("no network");
    return new Response(null, { status });
  });
  expect(await login.signIn("t")).toBe(true);
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, credentials: "same-origin" };
  expect(asked).toEqual([["https://x/tools/v1/login", { ...request, body: '{"token":"t"}' }]]);
  expect(await login.signIn("")).toBe(false);
  expect(asked).toHaveLength(1);
  await login.signInWithCode("c");
  expect([asked[1], login.codeRefused.value]).toEqual([["https://x/tools/v1/pair", { ...request, body: '{"code":"c"}' }], false]);
  expect(await login.isRefused()).toBe(false);
  status = 401;
  expect(await login.signIn("t")).toBe(false);
  expect(await login.isRefused()).toBe(true);
  expect(asked.at(-1)).toEqual(["https://x/tools/v1/health", { ...request, body: "{}" }]);
  await login.signInWithCode("c");
  expect(login.codeRefused.value).toBe(true);
  status = 0;
  expect([await login.signIn("t"), await login.isRefused()]).toEqual([false, false]);
  expect([login.socketAddress("https://x/tools/?a=b#/home"), login.socketAddress("http://x:1/i.html")]).toEqual(["wss://x/tools/v1/ws", "ws://x:1/v1/ws"]);
});

test("what waits for a person is asked for, and stays the same where nothing changed", async () => {
  const { inbox, refreshInbox, waiting } = await import("./inbox");
  const { refreshers } = await import("./app");
  expect(refreshers).toContain(refreshInbox);
  const prompts = [{ session_id: "s", prompt: { request_id: "r" } }] as unknown as PendingPrompt[];
  call.mockResolvedValueOnce({ prompts }).mockResolvedValueOnce({ prompts: structuredClone(prompts) }).mockResolvedValueOnce({});
  await refreshInbox();
  expect([call.mock.calls[0], inbox.value, waiting.value]).toEqual([["permission.list", {}], prompts, 1]);
  await refreshInbox();
  expect(inbox.value).toBe(prompts);
  await refreshInbox();
  expect([inbox.value, waiting.value]).toEqual([[], 0]);
});

test("machines are undefined until they are known", async () => {
  const { machines, refreshMachines } = await import("./machines");
  expect(machines.value).toBeUndefined();
  call.mockResolvedValueOnce({ machines: [{ name: "a" }] }).mockResolvedValueOnce({});
  await refreshMachines();
  expect([call.mock.calls[0], machines.value]).toEqual([["machines.list", {}], [{ name: "a" }]]);
  await refreshMachines();
  expect(machines.value).toEqual([]);
});

test("files are searched in a session, else in a folder, and nowhere without either", async () => {
  const { projectCommands, searchFiles } = await import("./where");
  call.mockResolvedValue({ files: [{ path: "a", is_dir: true }, { path: "b" }] });
  expect(await searchFiles({ session: "s", cwd: "/w" }, "q", 5)).toEqual([{ path: "a", is_dir: true }, { path: "b", is_dir: false }]);
  await searchFiles({ cwd: "/w" }, "q", 6);
  await searchFiles({ cwd: "/w", machine: "crane" }, "q", 6);
  expect(await searchFiles({ cwd: "" }, "q", 7)).toEqual([]);
  expect(call.mock.calls).toEqual([
    ["files.search", { session_id: "s", query: "q", limit: 5 }],
    ["files.search", { cwd: "/w", query: "q", limit: 6 }],
    ["files.search", { cwd: "/w", machine: "crane", query: "q", limit: 6 }],
  ]);
  const dir = ".claude/commands/";
  call.mockReset().mockResolvedValue({
    files: [{ path: `${dir}a.md` }, { path: `${dir}git/commit.md` }, { path: `${dir}d.md`, is_dir: true }, { path: `${dir}x.txt` }, { path: `sub/${dir}y.md` }],
  });
  expect(await projectCommands({ cwd: "/w", agent: "claude" })).toEqual(["a", "git:commit"]);
  expect(call.mock.calls).toEqual([["files.search", { cwd: "/w", query: dir, limit: 50 }]]);
  expect([await projectCommands({ cwd: "/w", agent: "codex" }), await projectCommands({ cwd: "", agent: "claude" }), await projectCommands({ agent: "claude" })]).toEqual([[], [], []]);
  expect(call).toHaveBeenCalledTimes(1);
  call.mockRejectedValue(new Error("x"));
  expect(await searchFiles({ session: "s" }, "q", 5)).toEqual([]);
});

test("a box is offered by its agent, chosen or always there, and sealed only without a way out", async () => {
  const { boxChosen, boxOffered, isSealed, sayBox } = await import("./box");
  const { providers } = await import("./providers");
  const { w } = await import("./app");
  const box = (network: string, credentials = false) => ({ network, credentials }) as never;
  providers.value = [{ name: "x", box: box("off") }, { name: "y", box: box("on"), boxed: true }, { name: "z" }] as never;
  expect([boxOffered("x"), boxOffered("y"), boxOffered("z"), boxOffered("none")]).toEqual([
    { box: box("off"), always: false }, { box: box("on"), always: true }, undefined, undefined,
  ]);
  expect([boxChosen("x", true), boxChosen("x", false), boxChosen("y", false), boxChosen("z", true)]).toEqual([box("off"), undefined, box("on"), undefined]);
  expect([box("off"), box("allow"), box("on"), box("off", true), box("allow", true), undefined].map((b) => isSealed(b))).toEqual([true, true, false, false, false, false]);
  const t = w.value.sandbox;
  expect([box("allow"), box("off"), box("on")].map((b) => sayBox(b))).toEqual([t.limited, t.offline, t.online]);
});

test("the usage of a period is asked for part by part, with the time before it", async () => {
  const { loadUsage, dayStart } = await import("./usage");
  const now = new Date(2026, 3, 10, 12).getTime();
  const row = (group: string, cost_usd: number, n = 1) => ({
    group, cost_usd, input_tokens: n, output_tokens: 2 * n, cache_creation_input_tokens: 3 * n, cache_read_input_tokens: 4 * n,
  });
  call.mockImplementation(async (_: string, p: { group_by: string; until?: string }) => {
    if (p.until !== undefined) return { rows: [row("e", 1), { ...row("f", 2), cost_usd: undefined }] };
    return { rows: p.group_by === "block" ? undefined : [row(`${p.group_by}a`, 1), row(`${p.group_by}b`, 2), row(`${p.group_by}c`, 1, 5)] };
  });
  const u = await loadUsage("7", now);
  const at = (back: number) => new Date(dayStart(now, back)).toISOString();
  expect(call.mock.calls).toEqual(
    [
      { group_by: "day", since: at(6) }, { group_by: "block", since: at(2) }, { group_by: "model", since: at(6) }, { group_by: "project", since: at(6) },
      { group_by: "day", since: at(13), until: at(6) },
    ].map((p) => ["usage.summary", p]),
  );
  if (typeof u !== "object") throw new Error("no usage");
  expect(u.days.map((d) => d.group)).toEqual(["daya", "dayb", "dayc"]);
  expect([u.models, u.projects].map((l) => l.map((d) => d.group.slice(-1)))).toEqual([["b", "c", "a"], ["b", "c", "a"]]);
  expect([u.blocks, u.before]).toEqual([[], { group: "", cost: 1, unpriced: true, in: 2, out: 4, write: 6, read: 8 }]);
  call.mockClear();
  await loadUsage("all", now);
  expect(call.mock.calls.map(([, p]) => p)).toEqual([{ group_by: "day" }, { group_by: "block", since: at(2) }, { group_by: "model" }, { group_by: "project" }]);
  call.mockReset().mockRejectedValueOnce(new CallError("x", "unsupported")).mockRejectedValueOnce(new Error("x"));
  expect([await loadUsage("7", now), await loadUsage("7", now)]).toEqual([undefined, "said x"]);
});

test("the address of the window is followed, and told at once where the page goes", async () => {
  const { followRoute, go, lastShown, route } = await import("./route");
  let changed = () => {};
  const location = { hash: "#/s/a/b" };
  vi.stubGlobal("location", location);
  vi.stubGlobal("addEventListener", (type: string, f: () => void) => {
    if (type === "hashchange") changed = f;
  });
  followRoute();
  expect([route.value, lastShown.value]).toEqual([{ page: "session", ids: ["a", "b"] }, ["a", "b"]]);
  const same = route.value;
  changed();
  expect(route.value).toBe(same);
  location.hash = "#/usage";
  changed();
  expect([route.value, lastShown.value]).toEqual([{ page: "usage" }, ["a", "b"]]);
  go({ page: "session", ids: ["c"] });
  expect([location.hash, route.value, lastShown.value]).toEqual(["#/s/c", { page: "session", ids: ["c"] }, ["c"]]);
});

test("every place has an address, which is read back", async () => {
  const { formatRoute, parseRoute, takeCode, takeToken } = await import("./route");
  for (const [hash, want] of [
    ["#/inbox/r", { page: "home", request: "r" }], ["#/home", { page: "home" }], ["#/s", { page: "new" }], ["#/s/a/a/b/c/d/e?m=1", { page: "session", ids: ["a", "b", "c", "d"], message: "1" }],
    ["#/c/x?turn=t", { page: "changes", id: "x", turn: "t" }], ["#/c", { page: "sessions" }], ["#/h", { page: "sessions" }], ["#/h/x?m=1", { page: "history", id: "x", message: "1" }],
    ["#/settings", { page: "settings" }], ["#/settings/mcp", { page: "settings", section: "mcp" }], ["#/machines", { page: "machines" }], ["#/usage", { page: "usage" }],
    ["", { page: "new" }], ["#s/a", { page: "session", ids: ["a"] }], ["#/c/x?m=1", { page: "changes", id: "x" }],
  ] as const)
    expect(parseRoute(hash), hash).toEqual(want);
  for (const r of [
    { page: "new" }, { page: "home" }, { page: "home", request: "a/b" }, { page: "sessions" }, { page: "machines" }, { page: "usage" }, { page: "settings" }, { page: "settings", section: "a/b" },
    { page: "session", ids: ["a/b", "c"] }, { page: "session", ids: ["a"], message: "m&x" }, { page: "changes", id: "a/b" }, { page: "changes", id: "a", turn: "t" },
    { page: "history", id: "a/b" }, { page: "history", id: "a", message: "m" },
  ] as const)
    expect(parseRoute(formatRoute(r as never)), JSON.stringify(r)).toEqual(r);
  expect(formatRoute({ page: "session", ids: ["a/b", "c"], message: "m" })).toBe("#/s/a%2Fb/c?m=m");
  expect([takeToken("#a=b&token=t%20u&x"), takeToken("#token=%E0%A4%A"), takeToken("#pair=c"), takeCode("#pair=c"), takeCode("#token=t"), takeToken("#xtoken=t")]).toEqual([
    "t u", "%E0%A4%A", undefined, "c", undefined, undefined,
  ]);
});
