// What a call will do if it is allowed, in the parts that a person reads: all that the agent has reported about it.

import { get, isObj, list, str, strings } from "../fold/json";
import type { PermissionRequest } from "../rpc/messages";
import { type FileDiff, ofContent, ofTool } from "./diff";
import { commandOf, promptType } from "./tools";

export type Part =
  | { kind: "command"; text: string; cwd: string }
  | { kind: "diff"; diff: FileDiff }
  | { kind: "text"; text: string }
  | { kind: "arguments"; value: unknown }
  | { kind: "files"; paths: string[] }
  | { kind: "request"; titled: boolean; request: unknown };

/** The members of an input that a command or a change shows by itself. */
const shownMembers = new Set(
  "command cwd description file_path notebook_path old_string new_string new_source content edits changes".split(" "),
);

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
    if (get(block, "type") !== "diff" || type === "CLAUDE_BASH") out.push({ kind: "text", text });
  }
  if (!isObj(p.input)) {
    if (p.input !== undefined && p.input !== null) out.push({ kind: "arguments", value: p.input });
  } else {
    const seen = own ? JSON.stringify([command, p.content]) : "";
    const rest = Object.entries(p.input).filter(([key, v]) =>
      own ? !isShown(v, seen, drawn) : !drawn || !shownMembers.has(key),
    );
    if (rest.length > 0 || out.length === 0) out.push({ kind: "arguments", value: Object.fromEntries(rest) });
  }
  const paths = list(p.locations).map((l) => str(get(l, "path")));
  const others = paths.filter((path) => path !== "" && path !== cwd && !diffs.some((d) => d.path === path));
  if (others.length > 0) out.push({ kind: "files", paths: others });
  if (p.request !== undefined) out.push({ kind: "request", titled: !!p.display_name, request: p.request });
  return out;
}

/** Whether a member of an input stands in what is drawn above it. */
function isShown(value: unknown, seen: string, drawn: boolean): boolean {
  if (!drawn) return false;
  const text = typeof value === "string" ? value : strings(value).join(" ");
  return text !== "" && seen.includes(JSON.stringify(text).slice(1, -1));
}
