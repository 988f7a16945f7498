// The diffs of a session, one for each scope, shared by all views so that their figures agree.

import { signal } from "@preact/signals";
import type { SessionStore } from "./session";
import { type Diff, loadDiff, type NoDiff, type Scope } from "./workspace";

export class SharedDiff {
  readonly diff = signal<Diff | NoDiff | undefined>(undefined);
  private version = "";
  private loading = false;
  private again = false;
  private answered = 0;

  constructor(
    private readonly session: string,
    private readonly scope: Scope,
  ) {}

  /** Loads it, unless it was loaded for this version. One call runs at a time. */
  load(version: string): void {
    if (version === this.version) return;
    this.version = version;
    if (this.loading) this.again = true;
    else void this.run();
  }

  private async run(): Promise<void> {
    this.loading = true;
    do {
      this.again = false;
      const before = this.answered;
      const diff = await loadDiff(this.session, this.scope);
      // A diff that an action has returned since is newer.
      if (before === this.answered) this.diff.value = diff;
    } while (this.again);
    this.loading = false;
  }

  /** Shows a diff that an action has returned. */
  set(d: Diff): void {
    this.answered++;
    this.diff.value = d;
  }
}

const all = new WeakMap<SessionStore, Map<string, SharedDiff>>();

/** How many diffs of a session are kept: the most recently requested ones. */
const most = 40;

export function sharedDiff(store: SessionStore, scope: Scope): SharedDiff {
  const mine = all.get(store) ?? new Map<string, SharedDiff>();
  all.set(store, mine);
  const key = `${scope.turn ?? ""} ${scope.against ?? ""}`;
  const found = mine.get(key) ?? new SharedDiff(store.id, scope);
  mine.delete(key);
  mine.set(key, found);
  const oldest = mine.keys().next().value;
  if (mine.size > most && oldest !== undefined) mine.delete(oldest);
  return found;
}
