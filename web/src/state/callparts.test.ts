import { expect, test } from "vitest";
import recorded from "../../../testdata/acp-agents/requests.json";
import type { PermissionRequest } from "../rpc/messages";
import { outsidePath, type Part, partsOf } from "./callparts";

interface Row {
  recording: string;
  line: number;
  must: string[];
  request: PermissionRequest;
}

/** The requests of recorded agents, as TestApprove of acp/editor writes them. */
const rows = recorded as unknown as Row[];

/**
 * Returns the text that the card draws for a request: its names, and its parts without the raw
 * request.
 */
function drawn(p: PermissionRequest): string {
  const texts = (part: Part): string => {
    if (part.kind === "diff")
      return [part.diff.path, ...part.diff.hunks.flatMap((h) => h.lines.map((l) => l.text))].join("\n");
    if (part.kind === "arguments") return leaves(part.value);
    if (part.kind === "options") return part.of.map(([, v]) => String(v)).join("\n");
    if (part.kind === "files") return part.paths.join("\n");
    return part.kind === "request" ? "" : part.text;
  };
  return [p.tool_name, p.display_name, ...partsOf(p, "WORK").map(texts)].join("\n");
}

function leaves(v: unknown): string {
  if (typeof v !== "object" || v === null) return String(v);
  return Object.values(v).map(leaves).join("\n");
}

test("the card of a recorded request shows what it asks for", () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const { recording, line, must, request } of rows) {
    const text = drawn(request);
    for (const one of must) expect(text, `${recording} line ${line}`).toContain(one.replace(/\n$/, ""));
  }
});

test("a call of which nothing is known is shown as such, with the request", () => {
  const p: PermissionRequest = {
    type: "permission_request",
    kind: "tool",
    request_id: "1",
    provider: "acp:x",
    tool_kind: "other",
    input: {},
    request: { toolCall: { toolCallId: "1" } },
  };
  expect(partsOf(p, "").map((part) => part.kind)).toEqual(["arguments", "request"]);
  expect(partsOf({ ...p, display_name: "Shell" }, "").at(-1)).toMatchObject({ says: "title" });
  expect(partsOf({ ...p, display_name: "Shell", input: { a: 1 } }, "").at(-1)).toMatchObject({ says: "part" });
});

test("what is not drawn of a command and of a change is an argument", () => {
  const base: PermissionRequest = { type: "permission_request", kind: "tool", request_id: "1", provider: "claude" };
  const bash = partsOf({ ...base, tool_name: "Bash", input: { command: "ls", dangerouslyDisableSandbox: true } }, "/");
  expect(bash).toMatchObject([{ kind: "command" }, { kind: "options", of: [["noSandbox", true]] }]);
  const edit = partsOf(
    { ...base, tool_name: "Edit", input: { file_path: "/a", old_string: "a", new_string: "b", replace_all: true } },
    "/",
  );
  expect(edit).toMatchObject([{ kind: "diff" }, { kind: "options", of: [["everyOccurrence", true]] }]);
  const other = partsOf({ ...base, tool_name: "Bash", input: { command: "ls", shell: "zsh" } }, "/");
  expect(other).toMatchObject([{ kind: "command" }, { kind: "arguments", value: { shell: "zsh" } }]);
});

test("what is off, empty or the agent's own is not shown of a command or a change", () => {
  const base: PermissionRequest = { type: "permission_request", kind: "tool", request_id: "1", provider: "claude" };
  const kinds = (p: object) => partsOf({ ...base, ...p }, "/").map((part) => part.kind);
  const edit = { file_path: "/a", old_string: "a", new_string: "b", replace_all: false };
  expect(kinds({ tool_name: "Edit", input: edit })).toEqual(["diff"]);
  const bash = { command: "ls", run_in_background: false, timeout: null };
  expect(kinds({ tool_name: "Bash", input: bash })).toEqual(["command"]);
  expect(kinds({ tool_name: "mcp__a__b", input: { force: false } })).toEqual(["arguments"]);
  for (const { recording, line, request } of rows)
    for (const part of partsOf(request, "WORK"))
      if (part.kind === "arguments" && partsOf(request, "WORK")[0] !== part)
        expect(JSON.stringify(part.value), `${recording} line ${line}`).not.toMatch(/false|sessionId|_wait/);
});

test("a path outside is a reason only if the agent takes it for that", () => {
  const write = (more: object) => ({ type: "permission_request", tool_name: "Write", input: { file_path: "/etc/x" }, ...more }) as unknown as PermissionRequest;
  const add = [{ type: "addDirectories", directories: ["/etc"] }];
  expect(outsidePath(write({ permission_suggestions: add }), "/w/p")).toBe("/etc/x");
  expect(outsidePath(write({ permission_suggestions: add }), "/etc")).toBeUndefined();
  expect(outsidePath(write({}), "/w/p")).toBeUndefined(); // its folder may be an additional one
  expect(outsidePath(write({ blocked_path: "/var/y" }), "/w/p")).toBe("/var/y");
});
