// What the CLI writes for the model and for itself, as a person reads it: without tags, ids and names of
// its protocol. The events of the session have all of it as it came.

const tags =
  /<\/?(?:tool_use_error|persisted-output|local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr|input)|user-prompt-submit-hook|task-notification)>/g;
/** A tag around the whole that is of no language: the agent's. */
const wrapper = /^\s*<([a-z]+(?:_[a-z]+)+)>([\s\S]*)<\/\1>\s*$/;
const reminders = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** A result or a message without the tags that are meant for the model. */
export function untag(text: string): string {
  if (!text.includes("<")) return text;
  return text.replace(reminders, "").replace(tags, "").replace(wrapper, "$2").replace(/^\n+/, "");
}

/** The output of a command without the code block in which an agent wraps it. */
export function unfenced(text: string): string {
  return /^```console\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const namedId = new RegExp(`\\s*(?:with )?(?:session ID|message\\.uuid of|with ID):?\\s*${uuid}`, "gi");
const anyId = new RegExp(uuid, "gi");

/** The name of a tool as a person reads it: words, also where the tool is not known. */
export function toolName(name: string): string {
  const m = /^mcp__(.+?)__(.+)$/.exec(name);
  if (m) return `${m[1]} · ${(m[2] ?? "").replaceAll("_", " ")}`;
  if (!/^[a-z][a-z\d]*(?:[_/.-][a-z\d]+|[A-Z][a-z\d]*)+$/.test(name)) return name;
  const words = name.replace(/[_/.-]/g, " ").replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

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

/** What a tool gives back where a person said no: the model's instructions, which say nothing more. */
export function isRefusal(text: string): boolean {
  return /^The user doesn't want to (?:proceed with this tool use|take this action)/.test(text.trim());
}

/** What a person typed as a command, of the tags in which the CLI keeps it. */
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
