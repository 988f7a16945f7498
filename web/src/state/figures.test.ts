import { expect, test } from "vitest";
import type { FoldedConversation, Prompt, ToolCall } from "../fold/conversation";
import type { RpcMessage } from "../rpc/messages";
import type { PendingPrompt } from "../rpc/service";
import { branchName } from "./choices";
import { fitsCard, fresh, promptKey, windowTitle } from "./inbox";
import { contextShare, planDone, planNow, planSteps } from "./plan";
import { age, bytes, clock, dateTime, duration, isToday, money, shortDate, tokens } from "./time";
import { Times } from "./times";
import {
  basename,
  commandOf,
  exitCode,
  inputOf,
  metaOf,
  promptTitle,
  promptType,
  resultImages,
  resultText,
  shortPath,
  titleOf,
  todoSteps,
} from "./tools";
import { en } from "./words.en";

test("figures change their unit at the bounds, and never above them", () => {
  expect([-1, 0, 999, 1000, 59_999, 60_000, 3_599_999, 3_600_000, 36_005_000].map(clock)).toEqual([
    "0:00",
    "0:00",
    "0:00",
    "0:01",
    "0:59",
    "1:00",
    "59:59",
    "1:00:00",
    "10:00:05",
  ]);
  expect(
    [0, 40, 949, 950, 99_400, 99_500, 5_940_000, 5_969_999, 5_970_000, 7_500_000].map((n) => duration(n, en)),
  ).toEqual(["0.1 s", "0.1 s", "0.9 s", "1 s", "99 s", "2 min", "99 min", "1 h 40 min", "1 h 40 min", "2 h 5 min"]);
  expect([0, 999.4, 1000, 1099, 9999, 10_000, 999_999, 1_000_000, 1_250_000].map(tokens)).toEqual([
    "0",
    "999",
    "1.0k",
    "1.0k",
    "9.9k",
    "10k",
    "999k",
    "1.0M",
    "1.2M",
  ]);
  expect([0, 0.001, 0.0099, 0.01, 1.5].map(money)).toEqual(["$0.00", "<$0.01", "<$0.01", "$0.01", "$1.50"]);
  expect([0, 1023, 1024, 1025, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1536].map(bytes)).toEqual([
    "0 B",
    "1023 B",
    "1 KB",
    "2 KB",
    "1024 KB",
    "1.0 MB",
    "1.5 MB",
  ]);
});

test("the age of something is told from seconds to dates", () => {
  const now = new Date(2026, 10, 18, 12, 0, 0).getTime();
  const ago = (s: number) => age(new Date(now - s * 1000).toISOString(), now, en, "en");
  expect([0, 4, 5, 59, 60, 3599, 3600, 86_400, 6 * 86_400 - 1, 6 * 86_400].map(ago)).toEqual([
    en.now,
    en.now,
    "5 s",
    "59 s",
    "1 min",
    "60 min",
    "11:00",
    "Tue",
    "Thu",
    "Nov 12",
  ]);
  expect([age(undefined, now, en, "en"), age("x", now, en, "en")]).toEqual(["", ""]);
  const at = (d: Date) => isToday(d.toISOString(), now);
  expect([
    at(new Date(2026, 10, 18, 0, 0)),
    at(new Date(2026, 10, 17, 23, 59)),
    isToday(undefined, now),
    isToday("x", now),
  ]).toEqual([true, false, false, false]);
  expect([
    dateTime("x", "en"),
    dateTime(new Date(2020, 0, 2, 3, 4).toISOString(), "en"),
    dateTime(new Date().toISOString(), "en").length,
  ]).toEqual(["", "Jan 2 03:04", 5]);
  expect([shortDate("2026-11-15", "en"), shortDate("2026-11", "en"), shortDate("today", "en")]).toEqual([
    "Nov 15",
    "2026-11",
    "today",
  ]);
});

test("a tool's time is without what a person took", () => {
  const t = new Times();
  const at = (s: number) => new Date(s * 1000).toISOString();
  const note = (s: number, msg: unknown) => t.note(msg as RpcMessage, at(s));
  const event = (s: number, e: unknown) => note(s, { type: "stream_event", event: e });
  note(1, { type: "user", isPrompt: true, message: { content: [] } });
  expect(t.turn).toBe(1000);
  event(2, { type: "message_start", message: { id: "m" } });
  event(3, { type: "content_block_start", index: 0, content_block: { type: "thinking" } });
  event(4, { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "a" } });
  expect(t.thought("m", 0)).toBeUndefined();
  event(7, { type: "content_block_stop", index: 0 });
  expect([t.thought("m", 0), t.thought("m", 1)]).toEqual([4000, undefined]);
  note(5, { type: "permission_request", request_id: "r", tool_use_id: "a" });
  expect([t.ran("a", 9000), t.ran("b", 9000), t.tool("a")?.asked]).toEqual([1000, undefined, 5000]);
  note(8, { type: "permission_resolved", request_id: "r" });
  note(9, { type: "permission_resolved", request_id: "r" });
  expect([t.ran("a", 9000), t.tool("a")?.waited, t.tool("a")?.asked]).toEqual([2000, 3000, undefined]);
  note(10, { type: "user", message: { content: [{ tool_use_id: "a" }, { tool_use_id: "b" }] } });
  note(12, { type: "user", message: { content: [{ tool_use_id: "a" }] } });
  expect([t.ran("a", 99_000), t.turn, t.last]).toEqual([3000, 4000, 12_000]);
  note(13, { type: "assistant", message: { content: [{ id: "a" }, { id: "c" }] } });
  note(14, { type: "question_request", request_id: "q", tool_use_id: "c" });
  note(15, { type: "question_resolved", request_id: "q" });
  expect([t.tool("a")?.start, t.tool("c")]).toEqual([4000, { start: 13_000, waited: 1000 }]);
  note(16, { type: "result" });
  t.note({ type: "result" } as RpcMessage, "never");
  expect([t.turn, t.last]).toEqual([undefined, 16_000]);
});

test("every tool has a title", () => {
  const title = (name: string, type: string, input: unknown) => {
    const { icon, verb, object, mono, shape } = titleOf(name, type, input, en, "/d");
    return [icon, verb, object, mono, shape].join("|");
  };
  const path = { file_path: "/d/sub/a.ts" };
  expect(title("Bash", "CLAUDE_BASH", { command: "ls", description: "Lists" })).toBe(
    `terminal|${en.tool.bash}|Lists|false|bash`,
  );
  expect(title("x", "CODEX_COMMAND_EXECUTION", { command: ["ls", "-l"] })).toBe(
    `terminal|${en.tool.bash}|ls -l|false|bash`,
  );
  expect(title("x", "CLAUDE_BASH_OUTPUT", { bash_id: "b" })).toBe(`terminal|${en.tool.bashOutput}||true|row`);
  expect(title("x", "CLAUDE_KILL_SHELL", { shell_id: "b" })).toBe(`square|${en.tool.killShell}||true|row`);
  expect(title("TaskOutput", "CLAUDE_TASK_OUTPUT", { task_id: "b" })).toBe(`terminal|${en.tool.bashOutput}||true|row`);
  expect(title("own", "OTHER", { item_id: "b", sessionId: "c", name: "n" })).toBe("wrench|own|n|true|row");
  expect(title("x", "CLAUDE_READ", path)).toBe(`eye|${en.tool.read}|sub/a.ts|true|row`);
  expect(title("x", "CLAUDE_WRITE", path)).toBe(`filePlus|${en.tool.write}|sub/a.ts|true|diff`);
  for (const type of ["CLAUDE_EDIT", "CLAUDE_MULTI_EDIT", "CLAUDE_NOTEBOOK_EDIT", "OWN_CHANGE", "CODEX_FILE_CHANGE"])
    expect(title("x", type, { changes: [{ path: "/d/b" }] })).toBe(`pencil|${en.tool.edit}|b|true|diff`);
  expect(title("x", "CLAUDE_GLOB", { pattern: "*.ts", path: "/d/sub" })).toBe(
    `search|${en.tool.glob}|*.ts sub|true|row`,
  );
  expect(title("x", "CLAUDE_GREP", { pattern: "y", glob: "*.ts" })).toBe(`search|${en.tool.grep}|y *.ts|true|row`);
  expect(title("x", "CLAUDE_WEB_FETCH", { url: "https://x" })).toBe(`globe|${en.tool.fetch}|https://x|true|row`);
  expect(title("x", "CODEX_WEB_SEARCH", { query: "q" })).toBe(`globe|${en.tool.webSearch}|q|false|row`);
  expect(title("x", "CLAUDE_TODO_WRITE", { todos: [1, 2] })).toBe(`list|${en.tool.todo}|${en.steps(2)}|false|row`);
  expect(title("x", "CLAUDE_TASK", { subagent_type: "s", description: "d" })).toBe("bot|s|d|false|task");
  expect(title("x", "CLAUDE_AGENT", {})).toBe(`bot|${en.tool.task}||false|task`);
  expect(title("x", "CLAUDE_EXIT_PLAN_MODE", { plan: "# First\nthen" })).toBe(`list|${en.tool.plan}|First|false|row`);
  expect(title("x", "CLAUDE_ENTER_PLAN_MODE", {})).toBe(`list|${en.tool.enterPlan}||false|row`);
  expect(title("x", "CLAUDE_ASK_USER_QUESTION", { questions: [{ question: "Why?" }] })).toBe(
    `help|${en.tool.ask}|Why?|false|row`,
  );
  expect(title("x", "CLAUDE_SKILL", { skill: "s" })).toBe(`zap|${en.tool.skill}|s|true|row`);
  expect(title("x", "CLAUDE_SLASH_COMMAND", { command: "/c" })).toBe(`zap|${en.tool.skill}|/c|true|row`);
  expect(title("x", "CLAUDE_LIST_MCP_RESOURCES", { server: "s" })).toBe(`plug|${en.tool.mcpList}|s|true|row`);
  expect(title("x", "CLAUDE_READ_MCP_RESOURCE", { uri: "u" })).toBe(`plug|${en.tool.mcpRead}|u|true|row`);
  expect(title("own", "OTHER", { a: "", b: true, c: 7, d: "x" })).toBe("wrench|own|7|true|row");
  expect([title("own", "OTHER", null), title("own", "OTHER", {})]).toEqual([
    "wrench|own||true|row",
    "wrench|own||true|row",
  ]);
});

test("a request is named by what it does", () => {
  const of = (p: unknown) => Object.values(promptTitle(p as Prompt, en)).join("|");
  const ask = (p: object) => of({ type: "permission_request", kind: "tool", ...p });
  expect(of({ type: "question_request", kind: "elicitation", mcp_server_name: "m", message: "Name?" })).toBe(
    `plug|${en.ask.needs("m")}|Name?`,
  );
  expect(of({ type: "question_request", kind: "ask_user_question", questions: [{ question: "Why?" }] })).toBe(
    "help|Why?|",
  );
  expect(ask({ kind: "plan", input: { plan: "# First" } })).toBe(`list|${en.ask.plan}|First`);
  expect(ask({ tool_name: "Bash", input: { command: "ls" } })).toBe(`terminal|${en.ask.run}|ls`);
  expect(ask({ tool_name: "Edit", input: { file_path: "/d/a.ts" } })).toBe(`pencil|${en.ask.change("a.ts")}|`);
  expect(ask({ tool_name: "WebFetch", input: { url: "https://x" } })).toBe(
    `globe|${en.ask.use(en.tool.fetch)}|https://x`,
  );
  const type = (p: object) => promptType(p as never);
  expect([
    type({ tool_name: "commandExecution" }),
    type({ tool_name: "fileChange" }),
    type({ tool_name: "Bash" }),
    type({ tool_kind: "execute", input: { command: "ls" } }),
    type({ tool_kind: "execute", input: {} }),
    type({ tool_kind: "edit", input: {}, content: [{ type: "diff", path: "/a", newText: "x" }] }),
  ]).toEqual(["CLAUDE_BASH", "CLAUDE_MULTI_EDIT", "CLAUDE_BASH", "CLAUDE_BASH", "OWN", "OWN_CHANGE"]);
});

test("what came out of a tool is told in a few words", () => {
  const meta = (toolType: string, toolUseResult: unknown) =>
    metaOf({ toolType, toolUseResult } as unknown as ToolCall, en);
  expect(meta("CLAUDE_READ", { file: { startLine: 3, numLines: 2 } })).toBe(en.lines(3, 4));
  expect([
    meta("CLAUDE_READ", { file: {} }),
    meta("CLAUDE_GLOB", {}),
    meta("CLAUDE_GREP", undefined),
    meta("CLAUDE_WEB_FETCH", {}),
    meta("OTHER", {}),
  ]).toEqual(["", "", "", "", ""]);
  expect([
    meta("CLAUDE_GLOB", { numFiles: 0 }),
    meta("CLAUDE_GREP", { numFiles: 2 }),
    meta("CLAUDE_GREP", { numFiles: 2, numMatches: 5 }),
    meta("CLAUDE_WEB_FETCH", { code: 404 }),
  ]).toEqual([en.files(0), en.files(2), en.matches(5, 2), "404"]);
  const code = (t: object) => exitCode(t as ToolCall);
  expect([
    code({ toolUseResult: { exitCode: 3 } }),
    code({ toolUseResult: { code: 4 }, status: "success" }),
    code({ result: "Exit code 5\nx" }),
    code({ result: "Error: Exit code 6" }),
    code({ status: "success" }),
    code({ status: "error", result: "x" }),
  ]).toEqual([3, 4, 5, 6, 0, undefined]);
  expect([resultText("a"), resultText([{ text: "a" }, { text: "" }, {}, { text: "b" }]), resultText(7)]).toEqual([
    "a",
    "a\nb",
    "",
  ]);
  const image = (type: string, data: string) => ({ type: "image", source: { media_type: type, data } });
  expect(
    resultImages([image("image/png", "x"), image("image/svg+xml", "x"), image("image/png", ""), { type: "text" }]),
  ).toEqual([{ type: "image/png", data: "x" }]);
  expect([inputOf({ input: 1 } as never), inputOf({ inputText: '{"a":"b' } as never), inputOf({} as never)]).toEqual([
    1,
    { a: "b" },
    {},
  ]);
  expect([
    shortPath("/d/a", "/d"),
    shortPath("/dd/a", "/d"),
    shortPath("/d/a", undefined),
    basename("/a/b"),
    basename("a"),
    basename("/"),
  ]).toEqual(["a", "/dd/a", "/d/a", "b", "a", "/"]);
  expect([commandOf({ command: "a b" }), commandOf({ command: ["a", "b"] }), commandOf({})]).toEqual([
    "a b",
    "a b",
    "",
  ]);
  const shells = [
    "/bin/bash -lc 'touch a && echo b'",
    `sh -c 'echo '\\''x'\\'' y'`,
    `/bin/bash -lc 'echo '"'"'x'"'"' y'`,
    "bash -lc 'a' && rm -rf b",
    "bash -lc 'a' 'b'",
    "bash -c $x",
  ];
  expect(shells.map((command) => commandOf({ command }))).toEqual([
    "touch a && echo b",
    "echo 'x' y",
    "echo 'x' y",
    ...shells.slice(3),
  ]);
  expect(commandOf({ command: ["bash", "-lc", "a b"] })).toBe("a b");
});

test("a plan is a checklist", () => {
  const entries = [
    { content: "one", status: "completed" },
    { content: "two", activeForm: "doing two", status: "in_progress" },
    { content: "three", status: "pending" },
  ];
  const c = { threads: [{ plan: { entries } }] } as unknown as FoldedConversation;
  const steps = planSteps(c);
  expect(steps).toEqual([
    { text: "one", state: "done" },
    { text: "doing two", state: "now" },
    { text: "three", state: "open" },
  ]);
  expect([
    planDone(steps),
    planNow(steps),
    planNow(steps.filter((s) => s.state !== "now")),
    planNow(steps.slice(0, 1)),
    planNow([]),
  ]).toEqual([1, "doing two", "three", "", ""]);
  expect(planSteps({ threads: [] } as unknown as FoldedConversation)).toEqual([]);
  expect(todoSteps({ todos: entries })).toEqual(steps);
  const share = (usage: unknown) => contextShare({ usage } as FoldedConversation);
  expect([
    share(undefined),
    share({ context_tokens: 1 }),
    share({ context_window: 2 }),
    share({ context_tokens: 1, context_window: 2 }),
    share({ context_tokens: 3, context_window: 2 }),
    share({ context_tokens: 0, context_window: 2 }),
  ]).toEqual([undefined, undefined, undefined, 0.5, 1, 0]);
});

test("a request is on a card only if all of it is", () => {
  const lines = (n: number) => Array(n).fill("x").join("\n");
  const fits = (p: object) => fitsCard({ type: "permission_request", kind: "tool", ...p } as never);
  const asks = (p: object) => fitsCard({ type: "question_request", kind: "ask_user_question", ...p } as never);
  const options = (n: number) => ({ questions: [{ options: Array(n).fill({}) }] });
  expect([
    fits({ input: {} }),
    fits({ kind: "plan", input: {} }),
    fits({ input: { command: lines(4) } }),
    fits({ input: { command: lines(5) } }),
    fits({ input: { command: "x".repeat(400) } }),
    fits({ input: { command: "x".repeat(401) } }),
    fits({ input: { old_string: lines(6), new_string: lines(6) } }),
    fits({ input: { old_string: lines(6), new_string: lines(7) } }),
    fits({ input: { content: lines(13) } }),
    fits({ input: { edits: [1] } }),
    asks(options(4)),
    asks(options(5)),
    asks({ kind: "elicitation" }),
    asks({}),
  ]).toEqual([true, false, true, false, true, false, true, false, false, false, true, false, false, true]);
  expect([windowTitle(0, ""), windowTitle(2, ""), windowTitle(0, "a"), windowTitle(1, "a")]).toEqual([
    "Parley",
    "(2) Parley",
    "a · Parley",
    "(1) a · Parley",
  ]);
  const one = (session_id: string, request_id: string) =>
    ({ session_id, prompt: { request_id } }) as unknown as PendingPrompt;
  const all = [one("s", "1"), one("t", "1")];
  expect([promptKey(all[0] as PendingPrompt), fresh(new Set(["s/1"]), all), fresh(new Set(), all).length]).toEqual([
    "s/1",
    all.slice(1),
    2,
  ]);
  expect([
    branchName("Fix the: Bug, in my-code at once please"),
    branchName("…"),
    branchName("x".repeat(50)).length,
  ]).toEqual(["wt/fix-the-bug-in-my", "", 43]);
});
