// Texts that the CLI writes for the model and for itself, in a readable form: without tags, ids and protocol names. The
// events of the session have them unchanged.

import { get, str } from "../fold/json";

const tags =
  /<\/?(?:tool_use_error|persisted-output|local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr|input)|user-prompt-submit-hook|task-notification)>/g;
/** A tag of no markup language, which the agent writes for the model. */
const wrapper = /^\s*<([a-z]+(?:_[a-z\d]+)+)>[\s\S]*?<\/\1>/;
/** Ids are only for the model. */
const idLine = /^[ \t]*<([a-z_]+_id)>.*<\/\1>[ \t]*(?:\n|$)/gm;
/** Such a tag on a line by itself, or at the end of a line. */
const alone = /^[ \t]*<\/?[a-z]+(?:_[a-z\d]+)+>[ \t]*(?:\n|$)/gm;
const atEnd = /^[ \t]*<\/?[a-z]+(?:_[a-z\d]+)+>|<\/[a-z]+(?:_[a-z\d]+)+>[ \t]*$/gm;
const reminders = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** Removes the tags for the model from a result or a message. */
export function untag(text: string): string {
  if (!text.includes("<")) return text;
  const own = text.replace(reminders, "").replace(tags, "");
  const plain = wrapper.test(own) ? own.replace(idLine, "").replace(alone, "").replace(atEnd, "") : own; // a file may have such a tag further down
  return plain.replace(/^\n+/, "");
}

/** The output of a command without the code block in which an agent wraps it. */
export function unfenced(text: string): string {
  return /^```console\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const namedId = new RegExp(`\\s*(?:with )?(?:session ID|message\\.uuid of|with ID):?\\s*${uuid}`, "gi");
const anyId = new RegExp(uuid, "gi");

/** The name of a tool in words, even for an unknown tool. */
export function toolName(name: string): string {
  const m = /^mcp__(.+?)__(.+)$/.exec(name);
  if (m) return `${spaced(m[1] ?? "")} · ${spaced(m[2] ?? "")}`;
  const bare = name.replace(/^<([^<>]*)>$/, "$1");
  if (/\s/.test(bare) || !/[_/]|^[a-z][a-z\d]*(?:[.-][a-z\d]|[A-Z])/.test(bare)) return bare;
  const words = spaced(bare.replace(/[.-]/g, " ").replace(/(?<=[a-z\d])[A-Z]/g, (c) => ` ${c}`)).toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A name of the protocol as words. */
export const spaced = (name: string): string => name.replace(/[_/]+/g, " ").trim();

/** A sentence of the CLI: a notice, or why a turn failed. */
export function tidy(text: string): string {
  return untag(text)
    .replace(/\s*IMPORTANT: You \*may\*[\s\S]*$/, "") // advice for the model
    .replace(/^(\w+): Hook callback \S+ failed: .*?(?= Its answer| onFailure|$)/, "$1: a hook failed.")
    .replace(/ onFailure is "block", so this failure counts as a block\./, " That blocks the tool.")
    .replace(/\s*· ctrl\+o to see\b/, "")
    .replace(/\bmcp__\w+/g, toolName)
    .replace(namedId, "")
    .replace(anyId, "…")
    .trim();
}

/** Matches a protocol name in the middle of a sentence, but not in quotes, paths or addresses. */
const wireName = /(?<![\w`"'/.:@$-])[a-z]+(?:_[a-z\d]+)+(?![\w`"'/:(=-]|\.\w)/g;
/** Diagnostics of a program for its developers, and hints for turning off its warnings. */
const diagnostics = /^\[[a-z]+(?:_[a-z]+)+\].*$\n?|\s*To suppress this warning, set `[^`]*` in \S+$/gm;

/** Returns the sentence of an error or notice, also if it comes as JSON. */
export function reason(text: string): string {
  return tidy(sentence(text).replace(diagnostics, "")).replace(wireName, (name) => name.replaceAll("_", " "));
}

/** The text in which JSON is replaced by its message. */
function sentence(text: string): string {
  const at = text.indexOf("{");
  const end = text.lastIndexOf("}");
  if (at < 0 || end < at) return text;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(at, end + 1));
  } catch {
    return text;
  }
  const error = get(value, "error");
  const said = [get(error, "message"), error, get(value, "message"), get(value, "detail")].find((v) => typeof v === "string" && v !== "");
  return `${text.slice(0, at)}${str(said)}${text.slice(end + 1)}`.trim();
}

/** Reports whether a text is JSON, which is not a name for people. */
export function isData(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reports whether a tool's result is only the instruction to the model that a person refused. */
export function isRefusal(text: string): boolean {
  return /^The user doesn't want to (?:proceed with this tool use|take this action)/.test(text.trim());
}

/** Returns the command that a person typed, from the tags in which the CLI stores it. */
export function commandText(text: string): string | undefined {
  const name = /<command-name>([\s\S]*?)<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return undefined;
  const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
  return `${name.trim()} ${args.trim()}`.trim();
}

/** Whether a message in the person's name is the output of a command that the CLI ran itself. */
export function isLocalOutput(text: string): boolean {
  return /^\s*<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr))>/.test(text);
}
