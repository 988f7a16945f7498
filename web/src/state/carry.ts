// A conversation as the first prompt of another agent: the messages, and the names of the tools
// that ran.

import type { FoldedConversation, Message } from "../fold/conversation";
import { get, str } from "../fold/json";
import { parseContexts } from "./contexts";
import { isPerson } from "./rows";
import { beginning, ending } from "./safe";

/** The maximum number of characters of a carried conversation. Older messages are omitted and counted. */
export const carryLimit = 60_000;

export interface Carried {
  text: string;
  /** How many messages at the beginning were omitted. */
  left: number;
}

/** Returns the messages of the person and the agent, oldest first, without results of tools. */
export function carry(c: FoldedConversation, from: string): Carried {
  const parts: string[] = [];
  for (const item of c.threads[0]?.items ?? []) {
    const part = item.message ? said(item.message) : "";
    if (part !== "") parts.push(part);
  }
  let size = 0;
  let first = parts.length;
  while (first > 0 && size + (parts[first - 1]?.length ?? 0) <= carryLimit) size += parts[--first]?.length ?? 0;
  if (first === parts.length && parts.length > 0) {
    parts[first - 1] = ending(parts[first - 1] ?? "", carryLimit);
    first--;
  }
  const kept = parts.slice(first);
  const text = [
    `This conversation was begun with another agent (${from}). Read it and go on from where it ends. Files are as it left them; results of its tools are not shown here.`,
    ...(first > 0 ? [`(${first} earlier messages are left out.)`] : []),
    "<conversation>",
    ...kept,
    "</conversation>",
  ].join("\n\n");
  return { text, left: first };
}

function said(m: Message): string {
  const texts: string[] = [];
  for (const b of m.blocks) {
    if (b.type === "text" && (b.text ?? "").trim() !== "") texts.push(b.text ?? "");
    if (b.tool) texts.push(`[tool ${b.tool.name}: ${argument(b.tool.input)}]`);
  }
  if (texts.length === 0) return "";
  if (isPerson(m)) return `Person:\n${parseContexts(texts.join("\n")).text}`;
  return m.role === "assistant" ? `Agent:\n${texts.join("\n")}` : "";
}

function argument(input: unknown): string {
  for (const key of ["command", "file_path", "path", "pattern", "url", "query", "description"]) {
    const v = str(get(input, key));
    if (v !== "") return beginning(v, 200);
  }
  return "";
}
