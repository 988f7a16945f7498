// Views of a conversation: its rows, its phase, its changes, and the prompt for another agent.
import { expect, test } from "vitest";
import { Fold } from "../fold";
import type { FoldedConversation, Item } from "../fold/conversation";
import type { RpcMessage } from "../rpc/messages";
import { carry, carryLimit } from "./carry";
import { lastTurnFiles, ofChange, reported, sessionFiles, sum, turnFiles } from "./changes";
import { lastMessage, taskName, tasksOf, thoughtTokens } from "./known";
import { Happened } from "./notices";
import { isBusy, longSilence, phaseOf } from "./phase";
import { costOf } from "./plan";
import { isPerson, isStop, Rows, rowsOf, threadOf } from "./rows";
import { SessionStore } from "./session";
import { Times } from "./times";
import { messageBefore, promptIndex } from "./versions";
import { en } from "./words.en";

type Of = FoldedConversation;
const block = (more: object) => ({ index: 0, type: "text", state: "complete", ...more });
const message = (role: string, blocks: object[], more: object = {}) =>
  ({ kind: "message", message: { role, state: "complete", blocks, ...more } }) as unknown as Item;
const said = (role: string, text: string, more: object = {}) => message(role, [block({ text })], more);
const result = (turnId?: string, more: object = {}) =>
  ({ kind: "result", result: { subtype: "success", ...more }, ...(turnId === undefined ? {} : { turnId }) }) as unknown as Item;
const unknown = (originalType: string, data: object) => ({ kind: "unknown", unknown: { originalType, data } }) as unknown as Item;
const thought = (n: number) => unknown("system/thinking_tokens", { estimated_tokens: n });
const edit = (id: string, path: string, more: object = {}) =>
  message("assistant", [
    block({ type: "tool_use", tool: { id, name: "Edit", toolType: "CLAUDE_EDIT", status: "success", input: { file_path: path, old_string: "x", new_string: "y\nz" }, ...more } }),
  ]);
const conversation = (items: Item[], more: object = {}) =>
  ({ threads: [{ parentToolUseId: "", items }], turns: [], tasks: [], prompts: [], queue: [], notices: [], totals: {}, ...more }) as unknown as Of;

// Carry

test("another agent gets what a person and the agent said, with the tools that ran by what they were about", () => {
  const tool = (input: object, name = "T") => block({ type: "tool_use", tool: { name, input } });
  const c = conversation([
    said("user", "one"),
    message("assistant", [block({ type: "thinking", text: "hidden" }), block({ text: "first" }), block({ text: " " }), tool({ command: "c", description: "d" }, "Bash")]),
    message("assistant", [tool({ description: "d", query: "q", url: "u", pattern: "p", path: "a", file_path: "f" })]),
    message("assistant", [tool({ description: "x".repeat(300) }), tool({ other: "o" })]),
    said("user", "fed", { user: { isSynthetic: true } }),
    said("system", "note"),
    message("assistant", []),
    result(),
    said("user", "> **Context**\n> - 📄 `a`\n\nwith a file"),
  ]);
  const { text, left } = carry(c, "claude");
  expect(left).toBe(0);
  expect(text).toMatch(/^This conversation was begun with another agent \(claude\)\./);
  expect(text.slice(text.indexOf("<conversation>"))).toBe(
    ["<conversation>", "Person:\none", "Agent:\nfirst\n[tool Bash: c]", "Agent:\n[tool T: f]", `Agent:\n[tool T: ${"x".repeat(200)}]\n[tool T: ]`, "Person:\nwith a file", "</conversation>"].join("\n\n"),
  );
});

test("as much of the end of a conversation goes along as fits, and what is left out is counted", () => {
  const head = "Person:\n".length;
  const of = (...sizes: number[]) => conversation(sizes.map((n) => said("user", "x".repeat(n - head))));
  const half = carryLimit / 2;
  for (const [sizes, left] of [[[half, half], 0], [[half, half + 1], 1], [[10, half, half], 1], [[10, 10, carryLimit], 2], [[10, carryLimit + 1], 1], [[carryLimit + 1], 0]] as const) {
    const r = carry(of(...sizes), "a");
    expect(r.left, sizes.join()).toBe(left);
    expect(r.text.includes(`(${left} earlier messages are left out.)`), sizes.join()).toBe(left > 0);
    expect(r.text.length).toBeLessThan(carryLimit + 400);
  }
  const long = carry(conversation([said("user", `${"a".repeat(carryLimit)}the end`)]), "a").text;
  expect(long).toContain("the end\n\n</conversation>");
  expect(carry(conversation([]), "a")).toMatchObject({ left: 0 });
  expect(carry({ threads: [] } as unknown as Of, "a").left).toBe(0);
});

// Changes

const change = (path: string, more: object = {}) => ({ path, kind: "update", hunks: [{ oldStart: 1, newStart: 1, lines: ["-a", "+b", "+c", " d"] }], ...more }) as never;
const at = (files: { path: string; added: number; removed: number; isNew: boolean }[]) => files.map((f) => `${f.path} +${f.added} -${f.removed}${f.isNew ? " new" : ""}`);

test("the files of a turn are those that it reports, else those of its tools", () => {
  const [r1, r2, r3] = [result("t1"), result("t2"), result("")];
  const items = [edit("a", "/w/a"), r1, edit("b", "/w/b"), edit("b2", "/w/b"), edit("c", "/out/c"), edit("f", "/w/f", { status: "error" }), r2, r3];
  const c = conversation(items, { cwd: "/w", turns: [{ id: "t1", changes: [change("/w/reported"), change("/w/reported"), change("/out/x")] }, { id: "t2", changes: [] }, { id: "", changes: [change("/w/no")] }] });
  expect(at(turnFiles(c, r1))).toEqual(["reported +4 -2"]);
  expect(at(turnFiles(c, r2))).toEqual(["b +4 -2"]);
  expect(at(turnFiles(c, r3))).toEqual([]);
  expect(turnFiles(c, r2)).toBe(turnFiles(c, r2));
  expect(at(sessionFiles(c))).toEqual(["reported +4 -2", "no +2 -1"]);
  expect(at(sessionFiles(conversation(items, { cwd: "/w" })))).toEqual(["a +2 -1", "b +4 -2"]);
});

test("the last turn is the one that runs, or that ended last", () => {
  const items = [edit("a", "/w/a"), result(), edit("b", "/w/b")];
  expect(at(lastTurnFiles(conversation(items, { cwd: "/w" })))).toEqual(["b +2 -1"]);
  expect(at(lastTurnFiles(conversation([...items, result()], { cwd: "/w" })))).toEqual(["b +2 -1"]);
  expect(at(lastTurnFiles(conversation([edit("a", "/w/a")], { cwd: "/w" })))).toEqual(["a +2 -1"]);
  expect(at(lastTurnFiles(conversation(items, { cwd: "/w", turns: [{ changes: [change("/w/old")] }, { changes: [change("/w/new")] }] })))).toEqual(["new +2 -1"]);
  expect(at(lastTurnFiles(conversation(items, { cwd: "/w", turns: [{ changes: [change("/w/old")] }, {}] })))).toEqual(["b +2 -1"]);
});

test("a reported change has its lines, and the name that the file has now", () => {
  expect(at([ofChange(change("a"))])).toEqual(["a +2 -1"]);
  expect(at([ofChange(change("a", { movedTo: "b", kind: "add" }))])).toEqual(["b +2 -1 new"]);
  expect(at([ofChange(change("a", { hunks: [], diff: "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n w" }))])).toEqual(["a +2 -1"]);
  expect(at([ofChange(change("a", { hunks: [] }))])).toEqual(["a +0 -0"]);
  expect(at(sum([{ path: "/w/a", added: 1, removed: 2, isNew: true }, { path: "b", added: 3, removed: 4, isNew: false }, { path: "/w/a", added: 5, removed: 6, isNew: false }], "/w"))).toEqual(["a +6 -8 new", "b +3 -4"]);
});

test("the changes of subagents and of other agents count, those that failed or only read do not", () => {
  const tool = (id: string, toolType: string, more: object = {}) =>
    message("assistant", [block({ type: "tool_use", tool: { id, toolType, status: "success", input: {}, ...more } })]);
  const diff = { type: "diff", path: "/w/own", oldText: "a", newText: "b" };
  const threads = [
    { parentToolUseId: "", items: [
      tool("task", "CLAUDE_TASK"), tool("agent", "CLAUDE_AGENT"), tool("gone", "CLAUDE_TASK"), tool("own", "OTHER", { content: [diff] }), tool("read", "CLAUDE_READ", { content: [diff], input: { file_path: "/w/r" } }),
      tool("made", "CLAUDE_WRITE", { input: { content: "1\n" }, toolUseResult: { type: "create", filePath: "/w/made", originalFile: "0\n" } }),
    ] },
    { parentToolUseId: "task", items: [edit("t", "/w/inner")] },
    { parentToolUseId: "agent", items: [edit("t", "/w/inner2")] },
  ];
  const c = { ...conversation([]), threads, cwd: "/w" } as unknown as Of;
  expect(at(sessionFiles(c))).toEqual(["inner +2 -1", "inner2 +2 -1", "own +1 -1", "made +1 -1 new"]);
});

test("the reported diffs are one for each file of the directory, at most a hundred", () => {
  const c = conversation([edit("a", "/w/a"), edit("a2", "/w/a"), result(), edit("o", "/out")], { cwd: "/w" });
  expect(reported(c, false).map((d) => [d.path, d.added, d.isNew, d.hunks.length])).toEqual([["a", 4, false, 2]]);
  expect(reported(c, true)).toEqual([]);
  const changed = conversation([edit("a", "/w/a")], { cwd: "/w", turns: [{ changes: [change("/w/x", { kind: "add" })] }, { changes: [change("/w/y", { movedTo: "/w/z", hunks: [], diff: "@@ -1 +1 @@\n-a\n+b" })] }] });
  expect(reported(changed, false).map((d) => [d.path, d.added, d.removed, d.isNew])).toEqual([["x", 2, 1, true], ["z", 1, 1, false]]);
  expect(reported(changed, true).map((d) => d.path)).toEqual(["z"]);
  const many = conversation([], { turns: [{ changes: Array.from({ length: 101 }, (_, i) => change(`f${i}`)) }] });
  expect([reported(many, false).length, reported(many, false)[0]?.path]).toEqual([100, "f1"]);
});

// Rows

test("only what a person wrote is a person's", () => {
  const m = (more: object, text = "hi") => ({ role: "user", blocks: [block({ text })], ...more }) as never;
  const stop = "[Request interrupted by user for tool use]";
  expect([m({}), m({ role: "assistant" }), m({ user: { isSynthetic: true } }), m({ user: { isMeta: true } }), m({}, "<local-command-stdout>x</local-command-stdout>"), m({}, stop), m({ user: { isPrompt: true } }, stop)].map((x) => isPerson(x))).toEqual([
    true, false, false, false, false, false, true,
  ]);
  expect([m({}, stop), m({ role: "assistant" }, stop), m({ blocks: [block({ text: stop }), block({})] }), m({}, `${stop} x`), m({ user: { isPrompt: true } }, stop)].map((x) => isStop(x))).toEqual([true, false, false, false, false]);
});

const keys = (items: Item[]) => rowsOf({ parentToolUseId: "", items }).map((r) => r.key);
const kinds = (items: Item[]) => rowsOf({ parentToolUseId: "", items }).map((r) => r.kind);

test("a row is named after its message, and after its place where that has no name", () => {
  expect(keys([
    said("assistant", "a", { id: "m" }), said("assistant", "a", { id: "m", restart: 2 }), said("user", "u", { uuid: "u" }), said("user", "u"), { ...result(), result: { uuid: "r", is_error: true } } as never,
    { kind: "compaction", compaction: { uuid: "c" } } as never, { kind: "tool_result", toolResult: { uuid: "t" } } as never, { kind: "error", error: {} } as never, said("assistant", "a", { id: "m" }),
  ])).toEqual(["m/0", "m#2/0", "u", "message-3", "r", "c", "t", "error-7", "m/0~1"]);
});

test("each block is a row of its kind, an empty one none but while it streams", () => {
  const all = [
    message("assistant", [
      block({ text: "a", index: 0 }), block({ text: " ", index: 1 }), block({ text: "", state: "streaming", index: 2 }), block({ type: "thinking", text: "t", index: 3 }), block({ type: "thinking", text: "", index: 4 }),
      block({ type: "thinking", text: "", state: "streaming", index: 5 }), block({ type: "tool_use", tool: {}, index: 6 }), block({ type: "image", index: 7 }), block({ type: "thinking", text: " ", index: 8 }),
    ], { id: "m" }),
    message("user", []),
    message("assistant", [block({ text: "API error" }), block({ type: "tool_use", tool: {}, index: 1 })], { id: "e", line: { error: "overloaded" } }),
  ];
  expect(rowsOf({ parentToolUseId: "", items: all }).map((r) => `${r.key} ${r.kind}`)).toEqual([
    "m/0 text", "m/2 text", "m/3 thinking", "m/5 thinking", "m/6 tool", "m/7 block", "m/8 thinking", "e/1 tool", "e/error notice",
  ]);
  expect(rowsOf(undefined)).toEqual([]);
});

test("the line of a turn goes on to its last row", () => {
  const more = (items: Item[]) => rowsOf({ parentToolUseId: "", items }).map((r) => `${r.kind} ${r.more}`);
  expect(more([said("user", "u"), said("assistant", "a"), said("assistant", "b"), result(), said("user", "v"), said("assistant", "c"), said("user", "w")])).toEqual([
    "user false", "text true", "text true", "result false", "user false", "text false", "user false",
  ]);
  expect(more([said("assistant", "a")])).toEqual(["text false"]);
});

test("a text that ends where nobody stopped it is cut", () => {
  const cut = message("assistant", [block({ text: "a", state: "incomplete" })]);
  const of = (...after: Item[]) => rowsOf({ parentToolUseId: "", items: [cut, ...after] })[0]?.cut;
  expect([of(), of(result()), of(said("user", "[Request interrupted by user]")), of(result("", { terminal_reason: "aborted_streaming" })), of(result("", { subtype: "interrupted" }))]).toEqual([true, true, undefined, undefined, undefined]);
  expect(rowsOf({ parentToolUseId: "", items: [said("assistant", "a")] })[0]?.cut).toBeUndefined();
});

test("thought is counted at the last thinking of its turn, before or after it is complete", () => {
  const thinking = (more: object = {}) => message("assistant", [block({ type: "thinking", text: "t" })], more);
  const tokens = (...items: Item[]) => rowsOf({ parentToolUseId: "", items }).map((r) => `${r.kind} ${r.tokens ?? ""}`.trim());
  expect(tokens(thinking(), thought(3), thought(5))).toEqual(["thinking 5"]);
  expect(tokens(thought(3), thought(4), unknown("other", {}), thinking())).toEqual(["thinking 4"]);
  expect(tokens(thought(3), said("assistant", "a"), thinking())).toEqual(["text", "thinking"]);
  expect(tokens(thinking(), said("assistant", "a"), thought(5))).toEqual(["thinking 5", "text"]);
  for (const between of [said("user", "u"), result("", { is_error: true })]) expect(tokens(thinking(), between, thought(5))[0]).toBe("thinking");
  expect([thought(0), thought(-1), unknown("other", { estimated_tokens: 3 })].map((i) => thoughtTokens(i))).toEqual([undefined, undefined, undefined]);
});

test("the end of a turn that says nothing is a row only after something else", () => {
  expect(kinds([result(), result(), result("", { result: "text" }), result("", { is_error: true }), said("user", "u"), result()])).toEqual(["result", "result", "result", "user", "result"]);
});

test("rows after any delta are the rows of everything, also with notices between them", () => {
  const fold = new Fold();
  const happened = new Happened();
  const rows = new Rows(happened);
  let seed = 7;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const stream = (event: object) => ({ type: "stream_event", uuid: "e", session_id: "s", event, provider: "claude" }) as unknown as RpcMessage;
  let id = 0;
  const take = (m: RpcMessage, delta: boolean) => {
    fold.apply(m);
    happened.note(m, fold.conversation);
    if (delta) rows.extend(fold.conversation);
    else rows.rebuild(fold.conversation);
  };
  rows.rebuild(fold.conversation);
  for (let i = 0; i < 300; i++) {
    const before = rows.get();
    switch (random(7)) {
      case 0:
        take({ type: "user", uuid: `u${random(20)}`, message: { content: [{ type: "text", text: "u" }] }, provider: "claude" } as RpcMessage, false);
        break;
      case 1:
        take(stream({ type: "message_start", message: { id: `m${id++}`, content: [] } }), true);
        take(stream({ type: "content_block_start", index: 0, content_block: { type: random(2) === 0 ? "text" : "thinking", text: "a", thinking: "b" } }), true);
        break;
      case 2:
        take({ type: "notice", severity: "info", text: "n", provider: "claude" } as RpcMessage, false);
        break;
      case 3:
        take({ type: "unknown", originalType: "system/thinking_tokens", data: { estimated_tokens: i + 1 }, provider: "claude" } as RpcMessage, true);
        break;
      default:
        take(stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } }), true);
    }
    const shown = rows.get().map((r) => ({ ...r }));
    const all = new Rows(happened);
    expect(shown, `step ${i}`).toEqual(all.rebuild(fold.conversation));
    expect(rows.get().slice(0, rows.same).map((r) => r.key)).toEqual(before.slice(0, rows.same).map((r) => r.key));
  }
});

test("a thread is found by the call that it belongs to", () => {
  const c = { threads: [{ parentToolUseId: "" }, { parentToolUseId: "a" }] } as unknown as Of;
  expect([threadOf(c, "a"), threadOf(c, "b")]).toEqual([c.threads[1], undefined]);
});

// Notices

test("a notice of a snapshot is before the end of its turn", () => {
  const items = [said("user", "u"), result("t1"), said("user", "v"), result("t2"), said("user", "w")];
  const row = (text: string, turnId?: string) => ({ notice: { type: "notice", text }, ...(turnId ? { turnId } : {}) });
  const h = new Happened();
  h.reset(conversation(items, { turns: [{ id: "t3" }], notices: [row("none"), row("second", "t2"), row("first", "t1"), row("runs", "t3"), row("gone", "t0"), row("again", "t1"), { notice: { type: "notice", text: "live", code: "live" } }] }));
  expect(h.between(0, 99).map((e) => `${e.at} ${e.notice?.text}`)).toEqual(["0 gone", "1 first", "1 again", "3 second", "5 none", "5 runs"]);
  expect([h.between(1, 3).length, h.between(1, 4).length, h.between(2, 3).length, new Happened().between(0, 9)]).toEqual([2, 3, 0, []]);
  h.reset(conversation([]));
  expect(h.between(0, 99)).toEqual([]);
});

test("the tries of one request are one line, those of another their own, and two hundred are kept", () => {
  const h = new Happened();
  const note = (items: number, attempt: number | undefined, type = "retry") =>
    h.note({ type, text: "n" } as never, conversation(Array(items).fill(said("user", "u")), attempt === undefined ? {} : { retry: { attempt } }));
  note(1, 1);
  note(1, 2);
  note(1, 2);
  note(2, 3);
  note(2, undefined);
  note(2, 4, "notice");
  note(2, 5);
  expect(h.between(0, 9).map((e) => `${e.at} ${e.retry?.attempt ?? "notice"}`)).toEqual(["1 2", "1 2", "2 3", "2 notice", "2 5"]);
  h.note({ type: "notice", text: "n", data: { resets_at: "2027" } } as never, conversation([]));
  expect(h.between(0, 1)[0]).toMatchObject({ resetsAt: "2027", at: 0 });
  for (let i = 0; i < 300; i++) note(3, 9, "notice");
  const all = h.between(0, 9);
  expect([all.length, new Set(all.map((e) => e.id)).size]).toEqual([200, 200]);
});

// Known messages

test("the last message is before what the page does not know, with what was thought since", () => {
  const last = said("assistant", "a");
  const of = (...items: Item[]) => lastMessage(conversation(items));
  expect(of(said("user", "u"), last, thought(1), thought(2), unknown("other", {}))).toEqual({ message: last.message, tokens: 2 });
  expect(of(thought(3))).toEqual({ message: undefined, tokens: 3 });
  expect(of(last, result(), thought(3))).toEqual({ message: undefined, tokens: 3 });
  expect(lastMessage({ threads: [] } as unknown as Of)).toEqual({ message: undefined, tokens: undefined });
});

test("a task is named by itself, else by the call that started it", () => {
  const tool = (id: string, input: object) => message("assistant", [block({ tool: { id: "x" } }), block({ tool: { id, input } })]);
  const c = conversation([said("user", "u"), tool("a", { description: "d", command: "c" }), tool("b", { command: "c" }), tool("e", {})]);
  const name = (more: object) => taskName(c, { id: "t", ...more } as never);
  const started = (tool_use_id: string) => ({ started: { tool_use_id } });
  expect([name({ started: { tool_use_id: "a", description: "own" } as never }), name(started("a")), name(started("b")), name(started("e")), name(started("none")), name({})]).toEqual(["own", "d", "c", "", "", ""]);
});

test("the tasks that run in the background are those of the newest list", () => {
  const listed = (...tasks: object[]) => unknown("system/background_tasks_changed", { tasks });
  const tasks = [{ id: "a", status: "running", description: "A" }, { id: "b", status: "running", description: "B" }];
  const c = conversation([listed({ task_id: "b" }), listed({ task_id: "a" }, { task_id: "c", description: "C" }, { task_id: "d", ambient: true }), said("user", "u")], { tasks });
  expect(tasksOf(c)).toEqual([{ ...tasks[0], isBackgrounded: true }, tasks[1], { id: "c", status: "running", description: "C", isBackgrounded: true }]);
  expect(tasksOf(conversation([said("user", "u")], { tasks }))).toEqual(tasks);
});

// Phase

function phase(c: Of, times: Partial<{ turn: number; last: number }> = {}, now = 1_000_000): string {
  const s = new SessionStore("s", undefined, (f) => f());
  s.fold = { conversation: c } as never;
  s.times.turn = times.turn;
  s.times.last = times.last ?? 0;
  const { kind, text, detail, since } = phaseOf(s, now, en);
  return [kind, text, detail, since ?? ""].join("|");
}

test("what happens now is told by what is in the way first", () => {
  const run = { state: "running" };
  const prompts = (n: number) => ({ ...run, prompts: Array(n).fill({}) });
  expect([phase(conversation([], prompts(1))), phase(conversation([], prompts(2)))]).toEqual([`waits|${en.waitsForYou}||`, `waits|${en.waitsForYou}|${en.requests(2)}|`]);
  for (const [state, want] of [
    ["failed", `failed|${en.states["failed"]}||`], ["lost_host", `failed|${en.states["lost_host"]}||`], ["ended", `ended|${en.states["ended"]}||`], ["starting", `starting|${en.states["starting"]}||`],
    ["idle", "idle|||"], ["running", `api|${en.waitsForApi}||`], ["requires_action", `api|${en.waitsForApi}||`], ["draining", `api|${en.waitsForApi}||`],
  ] as const)
    expect(phase(conversation([], { state })), state).toBe(want);
  expect(["running", "starting", "requires_action", "draining", "idle", "ended"].map((state) => isBusy({ state } as Of))).toEqual([true, true, true, true, false, false]);
  const [status] = Object.keys(en.statuses);
  expect(phase(conversation([], { ...run, status }), { turn: 5 })).toBe(`api|${en.statuses[status ?? ""]}||5`);
  expect(phase(conversation([], { ...run, status: "newer" }))).toBe(`api|${en.waitsForApi}||`);
});

test("silence is told after three minutes of it", () => {
  const c = conversation([], { state: "running" });
  const now = 10_000_000;
  expect(phase(c, { last: now - longSilence, turn: 7 }, now)).toBe(`api|${en.waitsForApi}||7`);
  expect(phase(c, { last: now - longSilence - 1, turn: 7 }, now)).toBe(`silent|${en.silent(3)}||7`);
  expect(phase(c, { last: 0 }, now)).toBe(`api|${en.waitsForApi}||`);
});

test("a tool runs until it has its result, since it began, without the time that a person took", () => {
  const tool = (more: object, state = "complete") => message("assistant", [block({ state, tool: { id: "t", name: "Bash", toolType: "CLAUDE_BASH", status: "in_progress", input: { command: "ls" }, ...more } }), block({ text: "after" })]);
  const is = (...items: Item[]) => phase(conversation(items, { state: "running" })).split("|")[0];
  const running = `running|${en.running(en.tool.bash)}|ls|`;
  expect(phase(conversation([tool({})], { state: "running" }))).toBe(running);
  expect([is(tool({ status: "success" })), is(tool({}, "streaming")), is(tool({}), result()), is(tool({}), thought(1), unknown("x", {}))]).toEqual(["api", "api", "api", "running"]);
  const user = said("user", "u");
  expect([is(tool({}), ...Array(6).fill(user)), is(tool({}), ...Array(7).fill(user))]).toEqual(["running", "api"]);
  const s = new SessionStore("s", undefined, (f) => f());
  s.fold = { conversation: conversation([tool({})], { state: "running" }) } as never;
  const note = (t: number, m: object) => s.times.note(m as never, new Date(t).toISOString());
  note(1000, { type: "assistant", message: { content: [{ id: "t" }] } });
  note(2000, { type: "permission_request", request_id: "r", tool_use_id: "t" });
  note(5000, { type: "permission_resolved", request_id: "r" });
  expect(phaseOf(s, 6000, en).since).toBe(4000);
});

test("the model thinks or writes while a block streams, or tells how much it thinks", () => {
  const streams = (type: string, role = "assistant") => message(role, [block({ text: "done" }), block({ type, state: "streaming" })]);
  const is = (...items: Item[]) => phase(conversation(items, { state: "running" }), { turn: 3 });
  const thinking = (detail: string) => `thinking|${en.thinking}|${detail}|3`;
  expect([is(streams("thinking")), is(streams("thinking"), thought(12)), is(streams("text")), is(said("user", "u"), thought(12)), is(said("user", "u")), is(said("assistant", "a"), thought(12)), is(streams("text", "user"))]).toEqual([
    thinking(""), thinking(en.tokens("12")), `writing|${en.writing}||3`, thinking(en.tokens("12")), `api|${en.waitsForApi}||3`, `api|${en.waitsForApi}||3`, `api|${en.waitsForApi}||3`,
  ]);
});

test("what a session cost is its total, else what its agent tells", () => {
  expect([{ totals: { costUsd: 0 }, usage: { cost_usd: 3 } }, { totals: {}, usage: { cost_usd: 3 } }, { totals: {} }].map((c) => costOf(c as unknown as Of))).toEqual([0, 3, undefined]);
});

// Times

test("a turn's time is without the time in which at least one request waits", () => {
  const t = new Times();
  const note = (s: number, m: object) => t.note(m as never, new Date(s * 1000).toISOString());
  note(1, { type: "user", message: { content: [] } });
  expect(t.turn).toBeUndefined();
  note(2, { type: "user", isPrompt: true, message: { content: [] } });
  note(10, { type: "permission_request", request_id: "a" });
  note(11, { type: "question_request", request_id: "b" });
  note(15, { type: "permission_resolved", request_id: "a" });
  expect(t.turn).toBe(2000);
  note(20, { type: "question_resolved", request_id: "b" });
  expect(t.turn).toBe(12_000);
  note(25, { type: "question_resolved", request_id: "b" });
  expect(t.turn).toBe(12_000);
  note(26, { type: "permission_request", request_id: "c", tool_use_id: "x" });
  note(27, { type: "result" });
  note(28, { type: "user", isPrompt: true, message: { content: [] } });
  note(30, { type: "permission_resolved", request_id: "c" });
  expect([t.turn, t.tool("x")?.waited]).toEqual([28_000, 4000]);
});

test("a thought belongs to its message and thread, and a request to its call also where only its answer names it", () => {
  const t = new Times();
  const note = (s: number, m: object) => t.note(m as never, new Date(s * 1000).toISOString());
  const event = (s: number, event: object, parent_tool_use_id?: string) => note(s, { type: "stream_event", event, ...(parent_tool_use_id ? { parent_tool_use_id } : {}) });
  event(1, { type: "message_start", message: { id: "m" } }, "p");
  event(2, { type: "content_block_start", index: 1, content_block: { type: "thinking" } }, "p");
  event(3, { type: "content_block_delta", index: 1 }, "p");
  event(4, { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "u" } }, "p");
  event(5, { type: "content_block_stop", index: 1 }, "p");
  event(6, { type: "content_block_stop", index: 2 }, "p");
  expect([t.thought("pm", 1), t.thought("m", 1), t.thought("pm", 2), t.tool("u")?.start]).toEqual([3000, undefined, undefined, 4000]);
  expect([t.ran("u", 9000), t.ran("u", 1000), t.tool("")]).toEqual([5000, 0, undefined]);
  note(10, { type: "permission_request", request_id: "r" });
  note(12, { type: "permission_resolved", request_id: "r", tool_use_id: "u" });
  expect(t.tool("u")).toEqual({ start: 4000, waited: 0 });
});

// Versions

test("a prompt goes on from the last line before it, of an answer or of a tool", () => {
  const tool = (resultUuid?: string) => message("assistant", [block({ uuid: "b1" }), block({ uuid: "b2", tool: { ...(resultUuid ? { resultUuid } : {}) } })], { uuid: "line" });
  const before = (...items: Item[]) => messageBefore(conversation([...items, said("user", "u", { uuid: "me" })]), "me");
  expect([before(tool("r1")), before(tool()), before(tool("r1"), { kind: "tool_result", toolResult: { uuid: "t" } } as never), before(said("assistant", "a", { uuid: "own" })), before(tool("r1"), result()), before()]).toEqual([
    "r1", "b2", "t", "own", "r1", undefined,
  ]);
  const fed = said("user", "x", { uuid: "me", user: { isSynthetic: true } });
  expect([messageBefore(conversation([said("assistant", "a", { uuid: "own" }), fed]), "me"), promptIndex(conversation([fed, said("user", "u", { uuid: "you" })]), "you")]).toEqual([undefined, 0]);
});
