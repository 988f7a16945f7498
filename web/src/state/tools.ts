// The title of a tool's row: a verb and an object.

import type { PermissionRequest, Prompt, ToolCall } from "../fold/conversation";
import { get, list, num, str, strings } from "../fold/json";
import { toolType } from "../fold/tooltype";
import type { IconName } from "../ui/icon";
import { ofContent } from "./diff";
import { partialObject } from "./partial";
import { oneLine } from "./safe";
import { isData, spaced, toolName } from "./tidy";
import type { Words } from "./words";

export type Shape = "row" | "bash" | "diff" | "task" | "images";

export interface Title {
  icon: IconName;
  verb: string;
  object: string;
  /** Whether the object is code: a path, a pattern, a command. */
  mono: boolean;
  shape: Shape;
}

/** The input of a tool: whole, or as far as it has streamed. */
export function inputOf(t: ToolCall): unknown {
  if (t.input !== undefined) return t.input;
  return t.inputText ? partialObject(t.inputText) : {};
}

/** The path, relative if it is inside the directory. */
export function shortPath(path: string, cwd: string | undefined): string {
  if (cwd && path.startsWith(`${cwd}/`)) return path.slice(cwd.length + 1);
  return path;
}

/** The tools of other agents that are shown as one of Claude's. */
const alike: Readonly<Record<string, string>> = {
  CODEX_COMMAND_EXECUTION: "CLAUDE_BASH",
  CODEX_FILE_CHANGE: "CLAUDE_MULTI_EDIT",
  CODEX_WEB_SEARCH: "CLAUDE_WEB_SEARCH",
};

/** The type that decides how a tool is shown. */
export function shownType(type: string): string {
  return alike[type] ?? type;
}

/** The command of an input: a text, or the words of it, without the shell that an agent runs every command with. */
export function commandOf(input: unknown): string {
  const command = get(input, "command");
  const words = strings(command);
  if (words.length === 3 && shell.test(`${words[0]} ${words[1]} `)) return words[2] ?? "";
  return withoutShell(str(command)) || words.join(" ");
}

const shell = /^(?:(?:\/usr)?\/bin\/)?(?:ba|z)?sh -l?c /;

/** The command in the quotes of a shell's argument; the whole if there are more arguments. */
function withoutShell(command: string): string {
  const start = shell.exec(command)?.[0];
  const quoted = start === undefined ? undefined : /^'((?:[^']|'\\''|'"'"')*)'$/.exec(command.slice(start.length))?.[1];
  return quoted === undefined ? command : quoted.replaceAll("'\\''", "'").replaceAll(`'"'"'`, "'");
}

/**
 * Returns the type of a call that its agent describes itself: by its kind, and the diffs in its
 * content.
 */
export function ownType(type: string, kind: string, input: unknown, content: unknown): string {
  if (ofContent(content, input).length > 0) return "OWN_CHANGE";
  return kind === "execute" && commandOf(input) !== "" ? "CLAUDE_BASH" : type;
}

/** Reports whether a tool's name is one of Codex's protocol and not for people. */
export function isWireName(name: string): boolean {
  return name === "commandExecution" || name === "fileChange";
}

/** The same for the tool of a request, which names it without its agent. */
export function promptType(p: PermissionRequest): string {
  const name = p.tool_name ?? "";
  if (p.tool_kind !== undefined) return ownType("OWN", p.tool_kind, p.input, p.content);
  return shownType(toolType(isWireName(name) ? "codex" : "claude", name));
}

/** Returns the title of a call, or the name of its tool if the title is missing or contains the arguments. */
export function named(title: string | undefined, tool: string | undefined): string {
  return title && !isData(title) ? title : tool || title || "";
}

/** The title of a call. An agent of the Agent Client Protocol describes its calls itself. */
export function titleOfCall(t: ToolCall, provider: string | undefined, w: Words, cwd?: string): Title {
  const input = inputOf(t);
  if (provider?.startsWith("acp:") !== true) return titleOf(t.name, t.toolType, input, w, cwd);
  return titleOf(named(t.title, t.name), ownType(t.toolType, t.kind ?? "", input, t.content), input, w, cwd);
}

export function titleOf(name: string, type: string, input: unknown, w: Words, cwd?: string): Title {
  const path = shortPath(pathOf(input) || str(get(input, "path")) || str(get(input, "filePath")), cwd);
  const t = (icon: IconName, verb: string, object: string, shape: Shape = "row", mono = true): Title => ({
    icon,
    verb,
    object: oneLine(object),
    shape,
    mono,
  });
  switch (shownType(type)) {
    case "CLAUDE_BASH":
      return t("terminal", w.tool.bash, str(get(input, "description")) || commandOf(input), "bash", false);
    case "CLAUDE_BASH_OUTPUT":
    case "CLAUDE_TASK_OUTPUT":
      return t("terminal", w.tool.bashOutput, "");
    case "CLAUDE_KILL_SHELL":
    case "CLAUDE_TASK_STOP":
      return t("square", w.tool.killShell, "");
    case "CLAUDE_READ":
      return t("eye", w.tool.read, path);
    case "CLAUDE_WRITE":
      return t("filePlus", w.tool.write, path, "diff");
    case "CLAUDE_EDIT":
    case "CLAUDE_MULTI_EDIT":
    case "CLAUDE_NOTEBOOK_EDIT":
    case "OWN_CHANGE":
      return t("pencil", w.tool.edit, path, "diff");
    case "CLAUDE_GLOB":
      return t("search", w.tool.glob, `${str(get(input, "pattern"))}  ${path}`.trim());
    case "CLAUDE_GREP":
      return t("search", w.tool.grep, `${str(get(input, "pattern"))}  ${path || str(get(input, "glob"))}`.trim());
    case "CLAUDE_WEB_FETCH":
      return t("globe", w.tool.fetch, str(get(input, "url")));
    case "CLAUDE_WEB_SEARCH":
      return t("globe", w.tool.webSearch, str(get(input, "query")), "row", false);
    case "CLAUDE_TODO_WRITE":
      return t("list", w.tool.todo, w.steps(list(get(input, "todos")).length), "row", false);
    default:
      return otherTitle(name, type, input, w, t);
  }
}

type Make = (icon: IconName, verb: string, object: string, shape?: Shape, mono?: boolean) => Title;

function otherTitle(name: string, type: string, input: unknown, w: Words, t: Make): Title {
  switch (type) {
    case "CLAUDE_TASK":
    case "CLAUDE_AGENT":
      return t("bot", spaced(str(get(input, "subagent_type"))) || w.tool.task, str(get(input, "description")), "task", false);
    case "CLAUDE_EXIT_PLAN_MODE":
      return t("list", w.tool.plan, firstLine(str(get(input, "plan"))), "row", false);
    case "CLAUDE_ENTER_PLAN_MODE":
      return t("list", w.tool.enterPlan, "", "row", false);
    case "CLAUDE_ASK_USER_QUESTION":
      return t("help", w.tool.ask, str(get(list(get(input, "questions"))[0], "question")), "row", false);
    case "CLAUDE_SKILL":
    case "CLAUDE_SLASH_COMMAND":
      return t("zap", w.tool.skill, str(get(input, "skill")) || str(get(input, "command")));
    case "CLAUDE_LIST_MCP_RESOURCES":
      return t("plug", w.tool.mcpList, str(get(input, "server")));
    case "CLAUDE_READ_MCP_RESOURCE":
      return t("plug", w.tool.mcpRead, str(get(input, "uri")));
    case "MCP":
      return t("plug", toolName(name), firstValue(input));
    default:
      return t("wrench", toolName(name), firstValue(input));
  }
}

function firstLine(text: string): string {
  return text.replace(/^[#\s]+/, "").split("\n")[0] ?? "";
}

/**
 * Returns the first text or number of an input, which is most often its subject. Ids are skipped.
 */
function firstValue(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  for (const [key, v] of Object.entries(input)) {
    if (/(^|_)id$|Id$/.test(key)) continue;
    if (typeof v === "string" && v !== "") return v;
    if (typeof v === "number") return String(v);
  }
  return "";
}

/** Returns the result of a call in a few words, for the end of the row. */
export function metaOf(t: ToolCall, w: Words): string {
  const r = t.toolUseResult;
  switch (t.toolType) {
    case "CLAUDE_READ": {
      const start = num(get(get(r, "file"), "startLine"));
      const n = num(get(get(r, "file"), "numLines"));
      return n > 0 ? w.lines(start, start + n - 1) : "";
    }
    case "CLAUDE_GLOB":
      return get(r, "numFiles") === undefined ? "" : w.files(num(get(r, "numFiles")));
    case "CLAUDE_GREP": {
      const files = num(get(r, "numFiles"));
      const lines = num(get(r, "numLines")) || num(get(r, "numMatches"));
      if (r === undefined) return "";
      return lines > 0 && files > 0 ? w.matches(lines, files) : w.files(files);
    }
    case "CLAUDE_WEB_FETCH":
      return get(r, "code") === undefined ? "" : String(num(get(r, "code")));
    default:
      return "";
  }
}

/** The text of a result: a string, or the texts of its blocks. */
export function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  return list(result)
    .map((b) => str(get(b, "text")))
    .filter((s) => s !== "")
    .join("\n");
}

/** The pictures of a result: media type and base64. */
export function resultImages(result: unknown): { type: string; data: string }[] {
  return list(result)
    .filter((b) => get(b, "type") === "image")
    .map((b) => ({
      type: str(get(get(b, "source"), "media_type")),
      data: str(get(get(b, "source"), "data")),
    }))
    .filter((i) => /^image\/(png|jpeg|gif|webp)$/.test(i.type) && i.data !== "");
}

/** Returns the exit code of a command, if its result has one. */
export function exitCode(t: ToolCall): number | undefined {
  const direct = get(t.toolUseResult, "exitCode") ?? get(t.toolUseResult, "code");
  if (typeof direct === "number") return direct;
  const m = /^(?:Error: )?Exit code (\d+)/.exec(resultText(t.result));
  if (m?.[1] !== undefined) return Number(m[1]);
  return t.status === "success" ? 0 : undefined;
}

/** Returns the subject of a request in one line, for lists and notifications. */
export function promptTitle(p: Prompt, w: Words): { icon: IconName; title: string; object: string } {
  if (p.type === "question_request") {
    if (p.kind === "elicitation")
      return { icon: "plug", title: w.ask.needs(p.mcp_server_name ?? "MCP"), object: p.message ?? "" };
    return { icon: "help", title: str(get(list(p.questions)[0], "question")), object: "" };
  }
  if (p.kind === "plan") return { icon: "list", title: w.ask.plan, object: firstLine(str(get(p.input, "plan"))) };
  const type = promptType(p);
  if (type === "CLAUDE_BASH") return { icon: "terminal", title: w.ask.run, object: oneLine(commandOf(p.input)) };
  const t = titleOf(named(p.display_name, p.tool_name), type, p.input, w);
  if (t.shape === "diff") return { icon: t.icon, title: w.ask.change(basename(changedPath(p))), object: "" };
  return { icon: t.icon, title: w.ask.use(t.verb), object: t.object };
}

/** The file that a request is about. If there are several, the first. */
export function changedPath(p: PermissionRequest): string {
  return pathOf(p.input) || (ofContent(p.content, p.input)[0]?.path ?? "");
}

/** The file that a tool changes. If there are several, the first. */
export function pathOf(input: unknown): string {
  return (
    str(get(input, "file_path")) || str(get(input, "notebook_path")) || str(get(list(get(input, "changes"))[0], "path"))
  );
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** The steps of a to-do list. */
export interface Step {
  text: string;
  state: "done" | "now" | "open";
}

export function todoSteps(input: unknown): Step[] {
  return list(get(input, "todos")).map((t) => {
    const status = str(get(t, "status"));
    return {
      text: str(get(t, status === "in_progress" ? "activeForm" : "content")) || str(get(t, "content")),
      state: status === "completed" ? "done" : status === "in_progress" ? "now" : "open",
    };
  });
}
