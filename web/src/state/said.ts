// The display of a person's message: comments of a review, a long text cut at a line, mentioned files.

import { beginning } from "./safe";

/** A comment of a review, as the server writes it into a prompt. */
export interface Remark {
  file: string;
  from: number;
  to: number;
  /** Whether the lines are from before the change. */
  old: boolean;
  code: string;
  text: string;
}

const head = /^## \d+\. (.+), (?:line (\d+)|lines (\d+) to (\d+))( before the change)?$/;

/** Parses the comments in a prompt and the text before them; undefined without comments. */
export function parseReview(text: string): { words: string; remarks: Remark[] } | undefined {
  const lines = text.split("\n");
  const remarks: Remark[] = [];
  let words: string | undefined;
  for (let i = 0; i < lines.length; i++) {
    const m = head.exec(lines[i] ?? "");
    const fence = /^`{3,}$/.exec(lines[i + 2] ?? "")?.[0];
    if (!m || fence === undefined || lines[i + 1] !== "") continue;
    const end = lines.indexOf(fence, i + 3);
    if (end < 0) return undefined;
    words ??= lines.slice(0, i).join("\n").trim();
    let next = end + 1;
    while (next < lines.length && !head.test(lines[next] ?? "")) next++;
    remarks.push({
      file: m[1] ?? "",
      from: Number(m[2] ?? m[3]),
      to: Number(m[2] ?? m[4]),
      old: m[5] !== undefined,
      code: lines.slice(i + 3, end).join("\n"),
      text: lines
        .slice(end + 1, next)
        .join("\n")
        .trim(),
    });
    i = next - 1;
  }
  return remarks.length > 0 ? { words: words ?? "", remarks } : undefined;
}

/** Longer texts are folded. */
const longLines = 40;
const longText = 4000;
/** The number of lines shown of a folded text. */
const firstLines = 12;
const firstText = 1500;

/** The beginning of a long text, cut at a line or else at a word, and how many lines come after it. */
export function foldText(text: string): { shown: string; more: number; rest: boolean } {
  const lines = text.split("\n");
  if (lines.length <= longLines && text.length <= longText) return { shown: text, more: 0, rest: false };
  let n = 0;
  let size = 0;
  while (n < lines.length && n < firstLines && size + (lines[n]?.length ?? 0) <= firstText)
    size += (lines[n++]?.length ?? 0) + 1;
  if (n > 0) return { shown: lines.slice(0, n).join("\n"), more: lines.length - n, rest: true };
  const first = lines[0] ?? "";
  const at = first.lastIndexOf(" ", firstText);
  return { shown: beginning(first, at > 0 ? at : firstText), more: lines.length - 1, rest: true };
}

/** Splits a text into plain text and the files that it mentions with @. */
export function mentionsIn(text: string, paths: readonly string[]): (string | { path: string })[] {
  const out: (string | { path: string })[] = [];
  let rest = text;
  for (;;) {
    let at = -1;
    let path = "";
    for (const p of paths) {
      const i = rest.indexOf(`@${p}`);
      if (i >= 0 && (at < 0 || i < at || (i === at && p.length > path.length))) [at, path] = [i, p];
    }
    if (at < 0) break;
    if (at > 0) out.push(rest.slice(0, at));
    out.push({ path });
    rest = rest.slice(at + 1 + path.length);
  }
  if (rest !== "") out.push(rest);
  return out;
}
