// The files that a turn or a session has changed, as reported by its tools.

import type { FileChange, FoldedConversation, Item, ToolCall } from "../fold/conversation";
import { get, str } from "../fold/json";
import { isOutside } from "./decided";
import { type FileDiff, fromPatch, hunksOf, merge, ofContent, ofTool } from "./diff";
import { shortPath } from "./tools";

export interface Changed {
  path: string;
  added: number;
  removed: number;
  isNew: boolean;
}

const kept = new WeakMap<object, Changed[]>();

/** The files of one turn: the tools between a result and the one before it. */
export function turnFiles(c: FoldedConversation, result: Item): Changed[] {
  const old = kept.get(result);
  if (old) return old;
  const reported = c.turns.find((t) => t.id === result.turnId && t.id !== "")?.changes;
  if (reported && reported.length > 0) return keepFiles(result, sum(reported.map(ofChange), c.cwd));
  const items = c.threads[0]?.items ?? [];
  const end = items.lastIndexOf(result);
  let from = end;
  while (from > 0 && items[from - 1]?.kind !== "result") from--;
  return keepFiles(result, sum(collect(items.slice(from, end), c), c.cwd));
}

function keepFiles(key: object, files: Changed[]): Changed[] {
  kept.set(key, files);
  return files;
}

/** A change that the agent itself reports. */
export function ofChange(f: FileChange): Changed {
  let added = 0;
  let removed = 0;
  const lines =
    f.hunks.length > 0
      ? f.hunks.flatMap((h) => h.lines)
      : (f.diff ?? "").split("\n").filter((l) => !/^(\+\+\+|---)/.test(l));
  for (const l of lines) {
    if (l.startsWith("+")) added++;
    else if (l.startsWith("-")) removed++;
  }
  return { path: f.movedTo ?? f.path, added, removed, isNew: f.kind === "add" };
}

/** The files of the whole session, newest last. */
export function sessionFiles(c: FoldedConversation): Changed[] {
  const turns = c.turns.flatMap((t) => t.changes ?? []);
  if (turns.length > 0) return sum(turns.map(ofChange), c.cwd);
  return sum(collect(c.threads[0]?.items ?? [], c), c.cwd);
}

/** The files of the last turn, also while it runs. */
export function lastTurnFiles(c: FoldedConversation): Changed[] {
  const changes = c.turns[c.turns.length - 1]?.changes ?? [];
  if (changes.length > 0) return sum(changes.map(ofChange), c.cwd);
  return sum(collect(lastTurn(c.threads[0]?.items ?? []), c), c.cwd);
}

/** The items after the result before the last one that is not at the end. */
function lastTurn(items: readonly Item[]): readonly Item[] {
  let from = items.length;
  while (from > 0 && (from === items.length || items[from - 1]?.kind !== "result")) from--;
  return items.slice(from);
}

/** The diffs that an agent has reported, of the session or of its last turn: one for each file of its directory, at most 100. */
export function reported(c: FoldedConversation, last: boolean): FileDiff[] {
  const turns = last ? c.turns.slice(-1) : c.turns;
  const changes = turns.flatMap((t) => t.changes ?? []);
  const diffs = changes.map(diffOfChange);
  const items = c.threads[0]?.items ?? [];
  if (changes.length === 0)
    eachChange(last ? lastTurn(items) : items, c, (diff) => diffs.push(diff));
  const files = new Map<string, FileDiff[]>();
  for (const d of diffs) {
    if (isOutside(d.path, c.cwd ?? "")) continue;
    const path = shortPath(d.path, c.cwd);
    files.set(path, [...(files.get(path) ?? []), d]);
  }
  return [...files].slice(-100).map(([path, all]) => ({ ...merge(path, all), isNew: all[0]?.isNew === true }));
}

function diffOfChange(f: FileChange): FileDiff {
  const diff = fromPatch(f.movedTo ?? f.path, f.hunks.length > 0 ? f.hunks : hunksOf(f.diff ?? ""));
  return { ...diff, isNew: f.kind === "add" };
}

/** One entry for each file of a directory, with its path below it. */
export function sum(all: readonly Changed[], cwd = ""): Changed[] {
  const files = new Map<string, Changed>();
  for (const f of all) {
    if (isOutside(f.path, cwd)) continue;
    const path = shortPath(f.path, cwd);
    const old = files.get(path);
    files.set(path, old ? { ...old, added: old.added + f.added, removed: old.removed + f.removed } : { ...f, path });
  }
  return [...files.values()];
}

function collect(items: readonly Item[], c: FoldedConversation): Changed[] {
  const files = new Map<string, Changed>();
  eachChange(items, c, (diff, isNew) => {
    const f = files.get(diff.path) ?? { path: diff.path, added: 0, removed: 0, isNew };
    files.set(diff.path, { ...f, added: f.added + diff.added, removed: f.removed + diff.removed });
  });
  return [...files.values()];
}

/** Visits the changes that tools have made, those of subagents too. */
function eachChange(
  items: readonly Item[],
  c: FoldedConversation,
  visit: (diff: FileDiff, isNew: boolean) => void,
): void {
  for (const item of items) {
    for (const b of item.message?.blocks ?? []) {
      const t = b.tool;
      if (!t) continue;
      if (t.toolType === "CLAUDE_TASK" || t.toolType === "CLAUDE_AGENT") {
        const inner = c.threads.find((th) => th.parentToolUseId === t.id);
        if (inner) eachChange(inner.items, c, visit);
        continue;
      }
      if (t.status === "success") for (const diff of diffsOf(t)) visit(diff, diff.isNew || isCreated(t));
    }
  }
}

const isCreated = (t: ToolCall) => str(get(t.toolUseResult, "type")) === "create";

/** The changes of a call: those of its tool, or those that its agent describes itself. */
function diffsOf(t: ToolCall): FileDiff[] {
  if (!t.toolType.startsWith("CLAUDE_")) return ofContent(t.content, t.input);
  if (!/^CLAUDE_(EDIT|MULTI_EDIT|WRITE|NOTEBOOK_EDIT)$/.test(t.toolType)) return [];
  const diff = ofTool(t.toolType, t.input, t.toolUseResult);
  return diff ? [{ ...diff, path: diff.path || str(get(t.toolUseResult, "filePath")) }] : [];
}
