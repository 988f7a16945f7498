// The effect of a call if it is allowed, in parts for a person: everything that the agent has reported about it.

import { get, isObj, list, str, strings } from "../fold/json";
import type { PermissionRequest } from "../rpc/messages";
import { isOutside } from "./decided";
import { type FileDiff, ofContent, ofTool } from "./diff";
import { choices } from "./rules";
import { changedPath, commandOf, promptType } from "./tools";

export type Part =
  | { kind: "command"; text: string; cwd: string }
  | { kind: "diff"; diff: FileDiff }
  | { kind: "text"; text: string }
  | { kind: "arguments"; value: unknown }
  | { kind: "options"; of: [Option, unknown][] }
  | { kind: "files"; paths: string[] }
  | { kind: "request"; says: "nothing" | "title" | "part"; request: unknown };

/** The members of an input that a command or a change shows by itself. */
const shownMembers = new Set(
  "command cwd description file_path notebook_path old_string new_string new_source content edits changes".split(" "),
);

/** The members of an input that have a name for people. */
export type Option = "everyOccurrence" | "inBackground" | "noSandbox" | "stopsAfter";
const named: Readonly<Record<string, Option>> = {
  replace_all: "everyOccurrence",
  run_in_background: "inBackground",
  is_background: "inBackground",
  async: "inBackground",
  dangerouslyDisableSandbox: "noSandbox",
  timeout: "stopsAfter",
};
/** Members with which an agent identifies its shells and waits for them; they do not change the command. */
const internal = new Set(["sessionId", "initial_wait", "mode"]);

/**
 * Reports whether a member of a command or a change can be hidden from a person: it is off, empty, or
 * internal to the agent.
 */
function isNoise(key: string, value: unknown, type: string): boolean {
  const empty = value === false || value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return empty || (type === "CLAUDE_BASH" && internal.has(key));
}

/**
 * The path outside of the project that is the reason to ask, according to the agent: it names the path, or offers to
 * add its folder.
 */
export function outsidePath(p: PermissionRequest, cwd: string): string | undefined {
  const adds = choices(p.permission_suggestions).some((c) => c.kind === "directory");
  return [p.blocked_path ?? "", adds ? changedPath(p) : ""].find((path) => path !== "" && isOutside(path, cwd));
}

export function partsOf(p: PermissionRequest, cwd: string): Part[] {
  const type = promptType(p);
  const out: Part[] = [];
  const own = p.tool_kind !== undefined; // the agent describes its calls itself
  const command = commandOf(p.input);
  const diffs = own ? ofContent(p.content, p.input) : [ofTool(type, p.input, undefined)].filter((d) => d !== undefined);
  if (type === "CLAUDE_BASH") out.push({ kind: "command", text: command, cwd: str(get(p.input, "cwd")) || cwd });
  else out.push(...diffs.map((diff): Part => ({ kind: "diff", diff })));
  const drawn = out.length > 0;
  for (const block of list(p.content)) {
    const text = get(block, "type") === "text" ? str(get(block, "text")) : JSON.stringify(block);
    if (drawn && /^Preparing [a-z ]+…$/.test(text)) continue; // the title of the call, before its input was known
    if (get(block, "type") !== "diff" || type === "CLAUDE_BASH") out.push({ kind: "text", text });
  }
  if (!isObj(p.input)) {
    if (p.input !== undefined && p.input !== null) out.push({ kind: "arguments", value: p.input });
  } else {
    const seen = own ? JSON.stringify([command, p.content]) : "";
    const rest = Object.entries(p.input).filter(([key, v]) =>
      drawn ? !isNoise(key, v, type) && !(own ? isShown(v, seen) : shownMembers.has(key)) : true,
    );
    const options = rest.flatMap(([key, v]): [Option, unknown][] => (drawn && named[key] ? [[named[key], v]] : []));
    const others = rest.filter(([key]) => !drawn || !named[key]);
    if (options.length > 0) out.push({ kind: "options", of: options });
    if (others.length > 0 || out.length === 0) out.push({ kind: "arguments", value: Object.fromEntries(others) });
  }
  const paths = list(p.locations).map((l) => str(get(l, "path")));
  const others = paths.filter((path) => path !== "" && path !== cwd && !diffs.some((d) => d.path === path));
  if (others.length > 0) out.push({ kind: "files", paths: others });
  if (p.request !== undefined) {
    const part = out.some((x) => x.kind !== "arguments" || !isObj(x.value) || Object.keys(x.value).length > 0);
    out.push({ kind: "request", says: part ? "part" : p.display_name ? "title" : "nothing", request: p.request });
  }
  return out;
}

/** Reports whether a member of an input is already visible in the part drawn above it. */
function isShown(value: unknown, seen: string): boolean {
  const text = typeof value === "string" ? value : strings(value).join(" ");
  return text !== "" && seen.includes(JSON.stringify(text).slice(1, -1));
}
