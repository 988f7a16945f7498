import { expect, test } from "vitest";
import { named, titleOf } from "./tools";
import { en } from "./words.en";
import { commandText, isData, isLocalOutput, isRefusal, reason, tidy, toolName, unfenced, untag } from "./tidy";

test("tags that are meant for the model are not shown", () => {
  expect(untag("<tool_use_error>File has not been read yet.</tool_use_error>")).toBe("File has not been read yet.");
  expect(untag("<persisted-output>\nOutput too large\n</persisted-output>")).toBe("Output too large\n");
  expect(untag("a <system-reminder>\nhidden\n</system-reminder>\nb")).toBe("a b");
  expect(untag("if (a < b) return <div>")).toBe("if (a < b) return <div>");
  expect(untag("<future_wrapper>\nas it came\n</future_wrapper>\n")).toBe("as it came\n");
  expect(untag("<my-app>x</my-app>")).toBe("<my-app>x</my-app>");
  expect(untag("a <my_tag>b</my_tag>")).toBe("a <my_tag>b</my_tag>");
  const task = "<retrieval_status>success</retrieval_status>\n\n<task_id>b1c2d3</task_id>\n\n<output>\n<b>1</b>\n</output>";
  expect(untag(task)).toBe("success\n\n\n<output>\n<b>1</b>\n</output>");
  expect(untag("<total_tokens>12</total_tokens>\n<file_list>\na.go\n</file_list>")).toBe("12\na.go\n");
  expect(untag("x\n<task_id>b1</task_id>")).toBe("x\n<task_id>b1</task_id>"); // a file may have such a line
});

test("sentences have no ids and no names of the protocol", () => {
  expect(tidy("No conversation found with session ID: aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")).toBe(
    "No conversation found",
  );
  expect(tidy("Claude requested permissions to use mcp__calc__add_all, but")).toBe(
    "Claude requested permissions to use calc · add all, but",
  );
  expect(tidy("PreToolUse: Hook callback hook_0 failed: the host replied. Its answer was treated as empty.")).toBe(
    "PreToolUse: a hook failed. Its answer was treated as empty.",
  );
  expect(tidy("Denied. IMPORTANT: You *may* attempt\nother ways")).toBe("Denied.");
  expect(toolName("Bash")).toBe("Bash");
});

test("a tool that the page does not know is named in words", () => {
  const names = ["mcp__calc__add_all", "view_image", "imageView", "some.tool-name", "web/fetch", "WebFetch", "grep"];
  expect(names.map(toolName)).toEqual(["calc · add all", "View image", "Image view", "Some tool name", "Web fetch", "WebFetch", "grep"]);
  const strange = ["mcp__claude_ai_mail__find/threads", "QUANTUM_LEAP", "quantum__leap", "<quantum_leap>", "quantumLeap/v2_thing", "Run a_b now"];
  expect(strange.map(toolName)).toEqual(["claude ai mail · find threads", "Quantum leap", "Quantum leap", "Quantum leap", "Quantum leap v2 thing", "Run a_b now"]);
  expect(titleOf("Task", "CLAUDE_TASK", { subagent_type: "code_reviewer" }, en).verb).toBe("code reviewer");
  for (const type of ["CODEX_FUTURE_CALL", "CLAUDE_UNKNOWN", ""]) {
    expect(titleOf("futureCall", type, {}, en).verb).toBe("Future call");
    expect(titleOf("future_call", type, {}, en).verb).toBe("Future call");
  }
});

test("the output of a command has no fences", () => {
  expect(unfenced("```console\na\nb\n```")).toBe("a\nb");
  expect(unfenced("```console\na\n```\nb")).toBe("```console\na\n```\nb");
  expect(unfenced("```go\na\n```")).toBe("```go\na\n```");
});

test("commands that the CLI runs itself", () => {
  expect(commandText("<command-name>/model</command-name>\n<command-args>opus</command-args>")).toBe("/model opus");
  expect(commandText("plain")).toBeUndefined();
  expect(isLocalOutput("<local-command-stdout>Set model</local-command-stdout>")).toBe(true);
  expect(isLocalOutput("about <local-command-stdout>")).toBe(false);
  expect(isRefusal("The user doesn't want to proceed with this tool use. The tool use was rejected")).toBe(true);
});

test("a reason is a sentence, also where it comes as JSON", () => {
  expect(reason('{"error": {"message": "bad", "type": "invalid_request_error"}}')).toBe("bad");
  expect(reason('API Error: 400 {"type":"error","error":{"type":"x_y","message":"Too long."}} (again)')).toBe("API Error: 400 Too long. (again)");
  expect(reason('{"detail":"Not found"}')).toBe("Not found");
  expect(reason('{"error":"no_key given"}')).toBe("no key given");
  expect(reason("{ not JSON }")).toBe("{ not JSON }");
  expect(reason("[ede_diagnostic] result_type=user stop_reason=tool_use\nIt ended.")).toBe("It ended.");
  expect(reason("Features enabled: apply_patch_streaming. To suppress this warning, set `a_b = true` in ~/.codex/config.toml.")).toBe(
    "Features enabled: apply patch streaming.",
  );
  for (const same of ["Set `my_option` in ~/.a_b/c_d.toml", "run my_tool.py", "http://x.y/a_b?c_d=1", "ANTHROPIC_API_KEY is not set", 'the field "a_b"'])
    expect(reason(same)).toBe(same);
});

test("a title that is JSON names nothing", () => {
  expect([isData('{"a":2}'), isData(" [1]"), isData("{x"), isData("Read a.go"), isData("")]).toEqual([true, true, false, false, false]);
  expect(named('{"a":2}', "add (tiny)")).toBe("add (tiny)");
  expect(named("Read a.go", "read")).toBe("Read a.go");
  expect(named("", "read")).toBe("read");
  expect(named('{"a":2}', "")).toBe('{"a":2}');
});
