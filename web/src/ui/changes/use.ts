// The diff of a session, loaded again whenever the log reports changed files, and the counts that the page shows of
// it.

import { useEffect, useState } from "preact/hooks";
import type { Item } from "../../fold/conversation";
import type { WorkspaceFile } from "../../rpc/service";
import { status } from "../../state/app";
import { type Changed, lastTurnFiles, sessionFiles, turnFiles } from "../../state/changes";
import { sharedDiff } from "../../state/diffs";
import { reviewOf } from "../../state/review";
import type { SessionStore } from "../../state/session";
import { type Branch, type Diff, isDiff, loadBranch, type NoDiff, type Scope } from "../../state/workspace";

export interface Loaded {
  diff: Diff | NoDiff | undefined;
  /** Shows a diff that an action has returned. */
  set: (d: Diff) => void;
  reload: () => void;
}

/**
 * Loads the diff of a scope; undefined loads no diff. A fixed one belongs to a finished turn and is loaded
 * once.
 */
export function useDiff(store: SessionStore, scope: Scope | undefined, fixed = false): Loaded {
  const [again, setAgain] = useState(0);
  const shared = scope && sharedDiff(store, scope);
  const files = fixed ? 0 : store.files.value;
  const ready = status.value === "open" && store.phase.value === "live";
  useEffect(() => {
    if (ready) shared?.load(`${files} ${again}`);
  }, [shared, files, again, ready]);
  return {
    diff: shared?.diff.value,
    set: (d) => shared?.set(d),
    reload: () => setAgain(Date.now()),
  };
}

const ofFile = (f: WorkspaceFile): Changed => ({
  path: f.path,
  added: f.added,
  removed: f.removed,
  isNew: f.kind === "add",
});

/** Returns the files that a session or its last turn has changed: from git, or without git from the agent's reports. */
export function useFiles(store: SessionStore, turn: boolean, off = false): readonly Changed[] {
  const { diff } = useDiff(store, off ? undefined : {});
  const turns = isDiff(diff) ? (diff.turns ?? []) : [];
  const last = turn ? turns[turns.length - 1]?.turn_id : undefined;
  const ofTurn = useDiff(store, last === undefined ? undefined : { turn: last });
  const shown = turn ? ofTurn.diff : diff;
  if (off || diff === undefined) return [];
  if (isDiff(diff)) return isDiff(shown) ? shown.files.map(ofFile) : [];
  return turn ? lastTurnFiles(store.settled) : sessionFiles(store.settled);
}

/** The files that a turn has changed, by its result and the prompt that it began with. */
export function useTurnFiles(store: SessionStore, result: Item, prompt: string): readonly Changed[] {
  const { diff } = useDiff(store, store.past ? undefined : {});
  const mark = isDiff(diff) ? diff.turns?.find((x) => x.turn_id === prompt && x.ended) : undefined;
  const { diff: own } = useDiff(store, mark?.changed ? { turn: prompt } : undefined, true);
  if (mark) return mark.changed && isDiff(own) ? own.files.map(ofFile) : [];
  return diff === undefined && !store.past ? [] : turnFiles(store.settled, result);
}

/** How the branch of a session differs from the one at which it started. */
export function useBranch(store: SessionStore, on: boolean): Branch | undefined {
  const [branch, setBranch] = useState<Branch>();
  const files = store.files.value;
  const ready = on && status.value === "open" && store.phase.value === "live";
  useEffect(() => {
    let gone = false;
    if (ready) void loadBranch(store.id).then((b) => !gone && setBranch(b));
    return () => {
      gone = true;
    };
  }, [store, files, ready]);
  return branch;
}

/** Loads the comments of a session, again whenever the log reports a change of them. */
export function useReview(store: SessionStore) {
  const review = reviewOf(store);
  const version = store.reviews.value;
  const ready = status.value === "open" && store.phase.value === "live";
  useEffect(() => {
    if (ready) void review.load();
  }, [review, version, ready]);
  return review;
}
