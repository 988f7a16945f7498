import { expect, test } from "vitest";
import type { PermissionRequest, Prompt, ToolCall } from "../fold/conversation";
import * as tools from "./tools";
import { en as w } from "./words.en";

test("every tool has its icon, its verb and what it is about", async () => {
  const row = (type: string, input: unknown, name = "Name") => {
    const t = tools.titleOf(name, type, input, w, "/w");
    return `${t.icon} ${t.shape}${t.mono ? " mono" : ""} | ${t.verb} | ${t.object}`;
  };
  const got = [
    ["CLAUDE_BASH", { command: "ls" }],
    ["CLAUDE_BASH", { command: "ls", description: "List" }],
    ["CODEX_COMMAND_EXECUTION", { command: ["bash", "-lc", "ls"] }],
    ["CLAUDE_BASH_OUTPUT", {}],
    ["CLAUDE_TASK_OUTPUT", {}],
    ["CLAUDE_KILL_SHELL", {}],
    ["CLAUDE_TASK_STOP", {}],
    ["CLAUDE_READ", { file_path: "/w/a" }],
    ["CLAUDE_READ", { file_path: "/w2/a" }],
    ["CLAUDE_WRITE", { path: "/w/a" }],
    ["CLAUDE_EDIT", { filePath: "/w/a" }],
    ["CLAUDE_MULTI_EDIT", { file_path: "/w/a", path: "b" }],
    ["CLAUDE_NOTEBOOK_EDIT", { notebook_path: "/w/n" }],
    ["CODEX_FILE_CHANGE", { changes: [{ path: "/w/c" }] }],
    ["OWN_CHANGE", {}],
    ["CLAUDE_GLOB", { pattern: "*", path: "/w/d" }],
    ["CLAUDE_GREP", { pattern: "x", glob: "*.go" }],
    ["CLAUDE_GREP", { pattern: "x", path: "/w/d", glob: "*.go" }],
    ["CLAUDE_WEB_FETCH", { url: "https://x" }],
    ["CODEX_WEB_SEARCH", { query: "q" }],
    ["CLAUDE_TODO_WRITE", { todos: [1, 2] }],
    ["CLAUDE_TASK", { subagent_type: "explore", description: "d" }],
    ["CLAUDE_AGENT", { description: "d" }],
    ["CLAUDE_EXIT_PLAN_MODE", { plan: "# Plan\nmore" }],
    ["CLAUDE_ENTER_PLAN_MODE", {}],
    ["CLAUDE_ASK_USER_QUESTION", { questions: [{ question: "why?" }] }],
    ["CLAUDE_SKILL", { skill: "s", command: "c" }],
    ["CLAUDE_SLASH_COMMAND", { command: "c" }],
    ["CLAUDE_LIST_MCP_RESOURCES", { server: "m" }],
    ["CLAUDE_READ_MCP_RESOURCE", { uri: "u" }],
    ["MCP", { task_id: "1", sessionId: "2", name: "" }],
    ["MCP", { id: "1", n: 3 }],
    ["UNKNOWN", { text: "first", other: "second" }],
    ["UNKNOWN", null],
  ].map(
    ([type, input]) => `${type as string}: ${row(type as string, input, type === "MCP" ? "mcp__calc__add" : "Name")}`,
  );
  await expect(`${got.join("\n")}\n`).toMatchFileSnapshot("testdata/tools.txt");
});

test("the command of an agent is shown without its shell", () => {
  for (const [command, want] of [
    ["ls", "ls"],
    ["/bin/bash -lc 'ls -l'", "ls -l"],
    ["zsh -c 'it'\\''s'", "it's"],
    [`sh -c 'a'"'"'b'`, "a'b"],
    ["bash -lc 'a' 'b'", "bash -lc 'a' 'b'"],
    ["bash -x 'a'", "bash -x 'a'"],
    [["/usr/bin/bash", "-c", "a b"], "a b"],
    [["bash", "-c", "a", "b"], "bash -c a b"],
    [["git", "log", "x"], "git log x"],
    [undefined, ""],
  ] as const)
    expect(tools.commandOf({ command }), JSON.stringify(command)).toBe(want);
});

test("a call of an agent that describes itself has its own title, kind and diffs", () => {
  const call = (more: object) =>
    ({ id: "t", name: "n", toolType: "UNKNOWN", input: {}, ...more }) as unknown as ToolCall;
  const title = (t: ToolCall, provider?: string) => {
    const { verb, object, shape } = tools.titleOfCall(t, provider, w);
    return `${verb}|${object}|${shape}`;
  };
  const diff = [{ type: "diff", path: "p", oldText: "a", newText: "b" }];
  expect(title(call({ title: "Own", kind: "read" }), "acp:x")).toBe("Own||row");
  expect(title(call({ kind: "read" }), "acp:x")).toBe("n||row");
  expect(title(call({ title: "Own" }), "claude")).toBe("n||row");
  expect(title(call({ title: "Own" }))).toBe("n||row");
  expect(title(call({ kind: "execute", input: { command: "ls" } }), "acp:x")).toBe(`${w.tool.bash}|ls|bash`);
  expect(title(call({ kind: "execute", title: "Own" }), "acp:x")).toBe("Own||row");
  expect(title(call({ kind: "execute", input: { command: "ls" }, content: diff }), "acp:x")).toBe(
    `${w.tool.edit}||diff`,
  );
  expect(title(call({ input: undefined, inputText: '{"command":"l', toolType: "CLAUDE_BASH" }), "claude")).toBe(
    `${w.tool.bash}|l|bash`,
  );
});

test("a request is named by what it is about", () => {
  const title = (p: object) => {
    const t = tools.promptTitle(p as Prompt, w);
    return `${t.icon}|${t.title}|${t.object}`;
  };
  expect(title({ type: "question_request", kind: "elicitation", mcp_server_name: "m", message: "why" })).toBe(
    `plug|${w.ask.needs("m")}|why`,
  );
  expect(title({ type: "question_request", kind: "elicitation" })).toBe(`plug|${w.ask.needs("MCP")}|`);
  expect(title({ type: "question_request", kind: "question", questions: [{ question: "q?" }] })).toBe("help|q?|");
  expect(title({ kind: "plan", input: { plan: "## A plan\nx" } })).toBe(`list|${w.ask.plan}|A plan`);
  expect(title({ kind: "tool", tool_name: "Bash", input: { command: "ls" } })).toBe(`terminal|${w.ask.run}|ls`);
  expect(title({ kind: "tool", tool_name: "commandExecution", input: { command: "ls" } })).toBe(
    `terminal|${w.ask.run}|ls`,
  );
  expect(title({ kind: "tool", tool_name: "Edit", input: { file_path: "/w/a/b.go" } })).toBe(
    `pencil|${w.ask.change("b.go")}|`,
  );
  expect(title({ kind: "tool", tool_name: "fileChange", input: { changes: [{ path: "c.go" }] } })).toBe(
    `pencil|${w.ask.change("c.go")}|`,
  );
  expect(
    title({
      kind: "tool",
      tool_name: "x",
      tool_kind: "edit",
      input: {},
      content: [{ type: "diff", path: "d/e.go", newText: "a" }],
    }),
  ).toBe(`pencil|${w.ask.change("e.go")}|`);
  expect(title({ kind: "tool", tool_name: "Read", input: { file_path: "f" } })).toBe(`eye|${w.ask.use(w.tool.read)}|f`);
  expect(title({ kind: "tool", tool_name: "mcp__m__t", display_name: "Do it", input: { a: "b" } })).toContain("|b");
  expect(tools.changedPath({ input: {}, content: [] } as unknown as PermissionRequest)).toBe("");
});

test("what came out is said in a few words", () => {
  const meta = (toolType: string, toolUseResult: unknown) =>
    tools.metaOf({ toolType, toolUseResult } as unknown as ToolCall, w);
  expect(meta("CLAUDE_READ", { file: { startLine: 3, numLines: 4 } })).toBe(w.lines(3, 6));
  expect(meta("CLAUDE_READ", { file: { startLine: 3, numLines: 0 } })).toBe("");
  expect(meta("CLAUDE_GLOB", { numFiles: 0 })).toBe(w.files(0));
  expect(meta("CLAUDE_GLOB", {})).toBe("");
  expect(meta("CLAUDE_GREP", undefined)).toBe("");
  expect(meta("CLAUDE_GREP", { numFiles: 2 })).toBe(w.files(2));
  expect(meta("CLAUDE_GREP", { numFiles: 2, numLines: 5 })).toBe(w.matches(5, 2));
  expect(meta("CLAUDE_GREP", { numFiles: 2, numMatches: 6 })).toBe(w.matches(6, 2));
  expect(meta("CLAUDE_GREP", { numFiles: 0, numLines: 6 })).toBe(w.files(0));
  expect(meta("CLAUDE_WEB_FETCH", { code: 404 })).toBe("404");
  expect(meta("CLAUDE_WEB_FETCH", {})).toBe("");
  expect(meta("CLAUDE_BASH", { code: 1 })).toBe("");
});

test("results have texts, pictures of known types, and an exit code where they say one", () => {
  expect(tools.resultText("x")).toBe("x");
  expect(tools.resultText([{ text: "a" }, { text: "" }, { type: "image" }, { text: "b" }])).toBe("a\nb");
  const image = (media_type: string, data: string) => ({ type: "image", source: { media_type, data } });
  expect(
    tools.resultImages([
      image("image/png", "A"),
      image("image/svg+xml", "B"),
      image("image/webp", ""),
      { type: "text" },
    ]),
  ).toEqual([{ type: "image/png", data: "A" }]);
  const code = (t: object) => tools.exitCode(t as unknown as ToolCall);
  expect(code({ toolUseResult: { exitCode: 3, code: 4 } })).toBe(3);
  expect(code({ toolUseResult: { code: 4 } })).toBe(4);
  expect(code({ result: "Exit code 5\nx", status: "error" })).toBe(5);
  expect(code({ result: "Error: Exit code 6", status: "error" })).toBe(6);
  expect(code({ result: "see Exit code 6", status: "error" })).toBeUndefined();
  expect(code({ result: "x", status: "success" })).toBe(0);
});

test("paths, and the steps of a list", () => {
  expect(tools.shortPath("/w/a", "/w")).toBe("a");
  expect(tools.shortPath("/w2/a", "/w")).toBe("/w2/a");
  expect(tools.shortPath("/w/a", undefined)).toBe("/w/a");
  expect([tools.basename("a/b"), tools.basename("b"), tools.basename("a/")]).toEqual(["b", "b", "a/"]);
  const todos = [
    { content: "one", activeForm: "doing one", status: "completed" },
    { content: "two", activeForm: "doing two", status: "in_progress" },
    { content: "three", status: "in_progress" },
    { content: "four", activeForm: "x", status: "pending" },
  ];
  expect(tools.todoSteps({ todos })).toEqual([
    { text: "one", state: "done" },
    { text: "doing two", state: "now" },
    { text: "three", state: "now" },
    { text: "four", state: "open" },
  ]);
});
