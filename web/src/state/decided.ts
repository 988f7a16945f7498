// The decision about a request, as the row of its tool shows it afterwards.

import type { Decision, ToolCall } from "../fold/conversation";
import { get, isObj, list, str } from "../fold/json";
import { plain } from "./safe";
import { inputOf, resultText } from "./tools";

/** Who decided, for others: the owner of the server has no name. */
export const decider = (d: Decision): string => (d.by === "owner" ? "" : plain(d.by ?? ""));

/**
 * Returns the questions of a call, in their order, with the chosen answers; undefined if they are unknown.
 */
export function chosenAnswers(tool: ToolCall): [question: string, answer: string][] | undefined {
  const given = get(tool.toolUseResult, "answers") ?? answersIn(resultText(tool.result));
  if (!isObj(given)) return undefined;
  const all = Object.entries(given).map(([q, a]): [string, string] => [
    q,
    Array.isArray(a) ? a.map(String).join(", ") : str(a),
  ]);
  const asked = list(get(inputOf(tool), "questions")).map((q) => str(get(q, "question")));
  all.sort(([a], [b]) => asked.indexOf(a) - asked.indexOf(b));
  return all.length > 0 ? all : undefined;
}

/** The answers in the text of a result: as JSON, or as the CLI writes them for the model. */
function answersIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return get(value, "answers") ?? get(get(value, "updatedInput"), "answers");
  } catch {
    const pairs = [...text.matchAll(/"([^"]+)"="([^"]*)"/g)].map((m) => [m[1], m[2]]);
    return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
  }
}

/** Whether a path lies outside of the directory of a session. A relative path is below it. */
export function isOutside(path: string, cwd: string): boolean {
  if (!path.startsWith("/") || cwd === "") return path.startsWith("..");
  return path !== cwd && !path.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`);
}

/** The preview of a choice without the fence around it. It is shown unchanged. */
export function previewText(text: string): string {
  return /^\s*(`{3,})[^\n]*\n([\s\S]*?)\n?\1\s*$/.exec(text)?.[2] ?? text;
}
