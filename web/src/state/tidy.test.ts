import { expect, test } from "vitest";
import { titleOf } from "./tools";
import { en } from "./words.en";
import { commandText, isLocalOutput, isRefusal, tidy, toolName, unfenced, untag } from "./tidy";

test("tags that are meant for the model are not shown", () => {
  expect(untag("<tool_use_error>File has not been read yet.</tool_use_error>")).toBe("File has not been read yet.");
  expect(untag("<persisted-output>\nOutput too large\n</persisted-output>")).toBe("Output too large\n");
  expect(untag("a <system-reminder>\nhidden\n</system-reminder>\nb")).toBe("a b");
  expect(untag("if (a < b) return <div>")).toBe("if (a < b) return <div>");
  expect(untag("<future_wrapper>\nas it came\n</future_wrapper>\n")).toBe("as it came\n");
  expect(untag("<my-app>x</my-app>")).toBe("<my-app>x</my-app>");
  expect(untag("a <my_tag>b</my_tag>")).toBe("a <my_tag>b</my_tag>");
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
