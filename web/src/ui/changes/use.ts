// The diff of a session, loaded again whenever the log says that files have changed.

import { useEffect, useRef, useState } from "preact/hooks";
import { status } from "../../state/app";
import { reviewOf } from "../../state/review";
import type { SessionStore } from "../../state/session";
import { type Diff, loadDiff, type NoDiff, type Scope } from "../../state/workspace";

export interface Loaded {
  diff: Diff | NoDiff | undefined;
  /** Shows a diff that an action has answered with. */
  set: (d: Diff) => void;
  reload: () => void;
}

/** The diff of a scope; undefined loads nothing. */
export function useDiff(store: SessionStore, scope: Scope | undefined): Loaded {
  const [diff, setDiff] = useState<{ of: string; diff: Diff | NoDiff }>();
  const [again, setAgain] = useState(0);
  const asked = useRef(0);
  const of = `${store.id} ${scope?.turn ?? ""} ${scope?.against ?? ""}`;
  const files = store.files.value;
  const ready = status.value === "open" && store.phase.value === "live";
  useEffect(() => {
    if (!ready || scope === undefined) return;
    const mine = ++asked.current;
    void loadDiff(store.id, scope).then((d) => {
      // A later question has a later answer.
      if (mine === asked.current) setDiff({ of, diff: d });
    });
  }, [of, scope === undefined, files, again, ready]);
  return {
    diff: scope !== undefined && diff?.of === of ? diff.diff : undefined,
    set: (d) => {
      asked.current++;
      setDiff({ of, diff: d });
    },
    reload: () => setAgain((n) => n + 1),
  };
}

/** The remarks of a session, loaded again whenever the log says that they have changed. */
export function useReview(store: SessionStore) {
  const review = reviewOf(store);
  const version = store.reviews.value;
  const ready = status.value === "open" && store.phase.value === "live";
  useEffect(() => {
    if (ready) void review.load();
  }, [review, version, ready]);
  return review;
}
