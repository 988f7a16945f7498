// The changes of a session, compared with git by the server.

import { type Signal, signal } from "@preact/signals";
import { CallError } from "../rpc/connection";
import type { WorkspaceBranchResult, WorkspaceDiffResult, WorkspaceFile, WorkspaceHunk } from "../rpc/service";
import { get, isObj, list } from "../fold/json";
import { newKey } from "./actions";
import { call, sayError } from "./app";

export type Diff = WorkspaceDiffResult;

/** The compared states: of a turn, of the last commit and now, or of the session. */
export interface Scope {
  turn?: string;
  against?: "head";
}

/** Why there is no diff. Without git only the agent's reports are shown. */
export interface NoDiff {
  reason: "no_git" | "not_allowed" | "failed";
  text: string;
}

/** The current hunks in place of one that has changed since it was shown. */
export interface Stale {
  file: string;
  hunks: readonly WorkspaceHunk[];
}

export const sameScope = (a: Scope, b: Scope) => a.turn === b.turn && a.against === b.against;

export async function loadDiff(session_id: string, scope: Scope): Promise<Diff | NoDiff> {
  try {
    return await call("workspace.diff", { session_id, ...scope });
  } catch (err) {
    if (err instanceof CallError && err.reason === "unsupported") return { reason: "no_git", text: err.message };
    if (err instanceof CallError && (err.reason === "auth_failed" || err.reason === "not_owner"))
      return { reason: "not_allowed", text: sayError(err) };
    return { reason: "failed", text: sayWorkspace(err) };
  }
}

export function isDiff(d: Diff | NoDiff | undefined): d is Diff {
  return d !== undefined && "files" in d;
}

/** Returns the message of an error about files; the server's message names the file. */
export function sayWorkspace(err: unknown): string {
  if (err instanceof CallError && /^(conflict|unsupported|invalid_params|limit_reached)$/.test(err.reason))
    return err.message;
  return sayError(err);
}

/** The hunks of a conflict about one that has changed; undefined for any other error. */
export function staleHunks(err: unknown): readonly WorkspaceHunk[] | undefined {
  if (!(err instanceof CallError) || err.reason !== "conflict") return undefined;
  const hunks = get(err.data, "hunks");
  return Array.isArray(hunks) ? (list(hunks).filter(isObj) as unknown as WorkspaceHunk[]) : undefined;
}

/**
 * Reverts a file or one of its hunks. It returns the new diff, or the current content if that
 * changed meanwhile.
 */
export async function revert(
  session_id: string,
  scope: Scope,
  file: string,
  hunk: string | undefined,
  checkout: boolean,
): Promise<Diff | Stale> {
  try {
    return await call("workspace.revert", {
      session_id,
      idempotency_key: newKey(),
      ...scope,
      file,
      ...(hunk === undefined ? {} : { hunk }),
      ...(checkout ? { checkout } : {}),
    });
  } catch (err) {
    const hunks = staleHunks(err);
    if (hunks === undefined) throw err;
    return { file, hunks };
  }
}

/** Undoes a revert. It returns the diff after it. */
export function restore(session_id: string, scope: Scope, id: string): Promise<Diff> {
  return call("workspace.restore", { session_id, idempotency_key: newKey(), ...scope, id });
}

export type Branch = WorkspaceBranchResult;

export const loadBranch = (session_id: string): Promise<Branch | undefined> =>
  call("workspace.branch", { session_id }).catch(() => undefined);

/** A value for each session, which lasts as long as the page. */
function bySession<T>(initial: T): (session: string) => Signal<T> {
  const all = new Map<string, Signal<T>>();
  return (session) => {
    const known = all.get(session) ?? signal(initial);
    all.set(session, known);
    return known;
  };
}

/** Files, and hunks as path and id, that are excluded from the commit. */
export const leftOut = bySession<ReadonlySet<string>>(new Set());

export const hunkKey = (path: string, id: string) => `${path}\n${id}`;

/** The hunks of a file that go into the commit. */
export function chosenHunks(f: WorkspaceFile, out: ReadonlySet<string>): WorkspaceHunk[] {
  return out.has(f.path) ? [] : f.hunks.filter((h) => !out.has(hunkKey(f.path, h.id)));
}

/** Returns whether a commit contains all, a part or no change of a file. */
export function chosenOf(f: WorkspaceFile, out: ReadonlySet<string>): "all" | "part" | "none" {
  const chosen = chosenHunks(f, out).length;
  if (out.has(f.path) || (chosen === 0 && f.hunks.length > 0)) return "none";
  return chosen === f.hunks.length ? "all" : "part";
}

/** Includes a file in the commit or excludes it; with a hunk, only that hunk. */
export function choose(session: string, f: WorkspaceFile, hunk: WorkspaceHunk | undefined, on: boolean): void {
  const out = leftOut(session);
  const next = new Set(out.peek());
  const before = chosenHunks(f, next);
  next.delete(f.path);
  for (const h of f.hunks) {
    const stays = hunk === undefined ? on : h.id === hunk.id ? on : before.includes(h);
    if (stays) next.delete(hunkKey(f.path, h.id));
    else next.add(hunkKey(f.path, h.id));
  }
  if (f.hunks.length === 0 && !on) next.add(f.path);
  out.value = next;
}

/** Whether the hunks of a diff are those of a commit, because the diff begins at the last commit. */
export function hasCommitHunks(diff: Diff, scope: Scope): boolean {
  return scope.against === "head" || (scope.turn === undefined && !!diff.head && diff.workspace?.base === diff.head);
}

/** The message of a commit while it is written. */
export const commitMessage = bySession("");

/** The lines of a hunk on its new side, or on its old side if it only removes lines. */
export function linesOf(h: WorkspaceHunk): { side: "new" | "old"; from: number; to: number } {
  const side = h.newLines > 0 ? "new" : "old";
  const start = side === "new" ? h.newStart : h.oldStart;
  const count = side === "new" ? h.newLines : h.oldLines;
  return { side, from: start, to: start + Math.max(1, count) - 1 };
}

/** The lines of a hunk that have changed, without the lines around them. */
export function changedLines(h: WorkspaceHunk): { side: "new" | "old"; from: number; to: number } {
  const side = h.lines.some((l) => l.startsWith("+")) ? "new" : "old";
  const sign = side === "new" ? "+" : "-";
  let at = side === "new" ? h.newStart : h.oldStart;
  let from = 0;
  let to = 0;
  for (const l of h.lines) {
    if (l.startsWith(sign)) {
      if (from === 0) from = at;
      to = at;
    }
    if (l.startsWith(" ") || l.startsWith(sign)) at++;
  }
  return from === 0 ? linesOf(h) : { side, from, to };
}
