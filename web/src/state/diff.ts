// Changes of a file as lines, from the input or the result of a tool.

import { diffWordsWithSpace, structuredPatch } from "diff";
import { get, isObj, list, num, str } from "../fold/json";

export interface Line {
  sign: " " | "+" | "-";
  text: string;
  old?: number;
  new?: number;
  /** The parts of the line that differ from its partner: [from, to] pairs. */
  marks?: [number, number][];
}

export interface Hunk {
  lines: Line[];
}

export interface FileDiff {
  path: string;
  hunks: Hunk[];
  added: number;
  removed: number;
  /** Whether the file is new. */
  isNew: boolean;
  /** Whether it was too large to compare. */
  cut: boolean;
}

/**
 * With more edited lines than this the texts are not compared: the old and the new one are shown in
 * full.
 */
const maxEdits = 400;

interface RawHunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

/** The hunks of a structured patch, as tools report them. */
export function fromPatch(path: string, patch: unknown): FileDiff {
  const raw = list(patch)
    .filter(isObj)
    .map((h) => ({
      oldStart: num(h["oldStart"]),
      newStart: num(h["newStart"]),
      lines: list(h["lines"]).filter((l): l is string => typeof l === "string"),
    }));
  return assemble(path, raw, false);
}

/** The change from one text to another. */
export function fromTexts(path: string, before: string, after: string): FileDiff {
  if (before === "") {
    const lines = after
      .replace(/\n$/, "")
      .split("\n")
      .map((l) => `+${l}`);
    return assemble(path, after === "" ? [] : [{ oldStart: 0, newStart: 1, lines }], true);
  }
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: maxEdits });
  if (patch === undefined) {
    const lines = [...before.split("\n").map((l) => `-${l}`), ...after.split("\n").map((l) => `+${l}`)];
    return { ...assemble(path, [{ oldStart: 1, newStart: 1, lines }], before === ""), cut: true };
  }
  return assemble(path, patch.hunks, before === "");
}

function assemble(path: string, raw: RawHunk[], isNew: boolean): FileDiff {
  const out: FileDiff = { path, hunks: [], added: 0, removed: 0, isNew, cut: false };
  for (const h of raw) {
    let o = h.oldStart;
    let n = h.newStart;
    const lines: Line[] = [];
    for (const l of h.lines) {
      const text = l.slice(1);
      if (l.startsWith("+")) {
        lines.push({ sign: "+", text, new: n++ });
        out.added++;
      } else if (l.startsWith("-")) {
        lines.push({ sign: "-", text, old: o++ });
        out.removed++;
      } else if (!l.startsWith("\\")) {
        lines.push({ sign: " ", text, old: o++, new: n++ });
      }
    }
    mark(lines);
    out.hunks.push({ lines });
  }
  return out;
}

/** Marks the differences inside lines that replace each other one by one. */
function mark(lines: Line[]): void {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i]?.sign !== "-") continue;
    let minus = i;
    while (lines[minus]?.sign === "-") minus++;
    let plus = minus;
    while (lines[plus]?.sign === "+") plus++;
    if (minus - i === plus - minus && minus - i <= 8) {
      for (let k = 0; k < minus - i; k++) pair(lines[i + k], lines[minus + k]);
    }
    i = plus - 1;
  }
}

function pair(a: Line | undefined, b: Line | undefined): void {
  if (a === undefined || b === undefined || a.text.length + b.text.length > 600) return;
  const changes = diffWordsWithSpace(a.text, b.text);
  const kept = changes.reduce((n, c) => n + (c.added || c.removed ? 0 : c.value.trim().length), 0);
  if (kept === 0) return;
  let x = 0;
  let y = 0;
  for (const c of changes) {
    const n = c.value.length;
    if (c.removed) {
      (a.marks ??= []).push([x, x + n]);
      x += n;
    } else if (c.added) {
      (b.marks ??= []).push([y, y + n]);
      y += n;
    } else {
      x += n;
      y += n;
    }
  }
}

const made = new WeakMap<object, { result: unknown; diff: FileDiff | undefined }>();

/** The change that a tool makes, from its input and, once it has ended, its result. */
export function ofTool(toolType: string, input: unknown, result: unknown): FileDiff | undefined {
  if (!isObj(input)) return undefined;
  const old = made.get(input);
  if (old && old.result === result) return old.diff;
  const diff = compute(toolType, input, result);
  made.set(input, { result, diff });
  return diff;
}

function compute(toolType: string, input: unknown, result: unknown): FileDiff | undefined {
  const path = str(get(input, "file_path")) || str(get(input, "notebook_path"));
  const patch = get(result, "structuredPatch");
  if (Array.isArray(patch) && patch.length > 0) return fromPatch(path, patch);
  const changes = get(input, "changes");
  if (Array.isArray(changes) && /^(CODEX_FILE_CHANGE|CLAUDE_MULTI_EDIT)$/.test(toolType)) return fromChanges(changes);
  switch (toolType) {
    case "CLAUDE_EDIT":
      return fromTexts(path, str(get(input, "old_string")), str(get(input, "new_string")));
    case "CLAUDE_WRITE":
      return fromTexts(path, str(get(result, "originalFile")), str(get(input, "content")));
    case "CLAUDE_NOTEBOOK_EDIT":
      return fromTexts(path, "", str(get(input, "new_source")));
    case "CLAUDE_MULTI_EDIT":
      return merge(
        path,
        list(get(input, "edits")).map((e) => fromTexts(path, str(get(e, "old_string")), str(get(e, "new_string")))),
      );
    default:
      return undefined;
  }
}

/** The changes that an agent shows of a call by itself: diffs of texts, or else a unified diff among its arguments. */
export function ofContent(content: unknown, input: unknown): FileDiff[] {
  const all = list(content)
    .filter((b) => get(b, "type") === "diff")
    .map((b) => fromTexts(str(get(b, "path")), str(get(b, "oldText")), str(get(b, "newText"))));
  const hunks = hunksOf(str(get(input, "diff")));
  if (all.length > 0 || hunks.length === 0) return all;
  return [fromPatch(str(get(input, "path")) || str(get(input, "filepath")) || str(get(input, "fileName")), hunks)];
}

/** The same as one change, for the row of a call. */
export function ofCall(content: unknown, input: unknown): FileDiff | undefined {
  const all = ofContent(content, input);
  return all.length > 0 ? merge(all.map((d) => d.path).join(", "), all) : undefined;
}

/** The changes of Codex: a unified diff for each file, the whole text of a new one. */
function fromChanges(changes: readonly unknown[]): FileDiff | undefined {
  if (changes.length === 0) return undefined;
  const all = changes.map((c) => {
    const path = str(get(c, "path"));
    const text = str(get(c, "diff"));
    const kind = str(get(get(c, "kind"), "type")) || str(get(c, "kind"));
    if (!text.includes("@@ ")) return kind === "delete" ? fromTexts(path, text, "") : fromTexts(path, "", text);
    return fromPatch(path, hunksOf(text));
  });
  return { ...merge(all.map((d) => d.path).join(", "), all), isNew: all.every((d) => d.isNew) };
}

/** The hunks of a unified diff in the form of a structured patch. */
export function hunksOf(text: string): unknown[] {
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const m = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (m) hunks.push({ oldStart: Number(m[1]), newStart: Number(m[2]), lines: [] });
    else if (/^[ +-]/.test(line)) hunks[hunks.length - 1]?.lines.push(line);
  }
  return hunks;
}

export function merge(path: string, all: FileDiff[]): FileDiff {
  return {
    path,
    hunks: all.flatMap((d) => d.hunks),
    added: all.reduce((n, d) => n + d.added, 0),
    removed: all.reduce((n, d) => n + d.removed, 0),
    isNew: false,
    cut: all.some((d) => d.cut),
  };
}

/** Returns the lines of both sides by row; a line and its replacement are in one row. */
export function pairs(lines: readonly Line[]): [Line | undefined, Line | undefined][] {
  const out: [Line | undefined, Line | undefined][] = [];
  let i = 0;
  while (i < lines.length) {
    const l = lines[i];
    if (l === undefined || l.sign === " ") {
      out.push([l, l]);
      i++;
      continue;
    }
    let mid = i;
    while (lines[mid]?.sign === "-") mid++;
    let end = mid;
    while (lines[end]?.sign === "+") end++;
    for (let k = 0; k < Math.max(mid - i, end - mid); k++)
      out.push([i + k < mid ? lines[i + k] : undefined, mid + k < end ? lines[mid + k] : undefined]);
    i = end;
  }
  return out;
}
