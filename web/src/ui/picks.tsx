// Several sessions at once: the selection in the list, and the bar that acts on it.

import { refreshSoon, toast, tryCall, w } from "../state/app";
import { type Entry, refreshPast } from "../state/sessions";
import { Button } from "./button";
import { confirm } from "./dialog";

/** Archives the running ones, or unarchives them. */
async function archiveAll(ids: readonly string[], archived: boolean): Promise<void> {
  const t = w.peek();
  const done: string[] = [];
  for (const session_id of ids)
    if ((await tryCall(archived ? "session.unarchive" : "session.archive", { session_id })) !== undefined) done.push(session_id);
  refreshSoon();
  if (done.length === 0) return;
  toast(archived ? t.unarchived : t.archivedNow, false, { label: t.undo, run: () => void archiveAll(done, !archived) });
}

/** Deletes all after one confirmation with their number. It returns whether that was given. */
async function deleteAll(all: readonly Entry[]): Promise<boolean> {
  const t = w.peek();
  const title = t.sessions_.deleteMany(all.length);
  if (!(await confirm({ title, text: t.sessions_.deleteManyText, ok: t.deleteDo, danger: true }))) return false;
  for (const e of all) await tryCall(e.live ? "session.delete" : "history.delete", e.live ? { session_id: e.id } : { session: e.id });
  refreshSoon();
  void refreshPast();
  return true;
}

interface PicksProps {
  /** The chosen sessions, and all that the list shows. */
  picked: readonly Entry[];
  shown: readonly Entry[];
  set: (ids: ReadonlySet<string> | undefined) => void;
}

export function Picks({ picked, shown, set }: PicksProps) {
  const t = w.value;
  const live = picked.filter((e) => e.live && !e.archived);
  return (
    <div class="commit" role="group" aria-label={t.sessions_.selected(picked.length)}>
      <span class="strong" role="status">
        {t.sessions_.selected(picked.length)}
      </span>
      <Button small kind="ghost" onClick={() => set(new Set(shown.map((e) => e.id)))}>
        {t.sessions_.selectAll(shown.length)}
      </Button>
      <span class="sp" />
      <Button
        icon="archive"
        disabled={live.length === 0}
        onClick={() => {
          void archiveAll(
            live.map((e) => e.id),
            false,
          );
          set(undefined);
        }}
      >
        {t.archive}
      </Button>
      <Button
        kind="danger"
        icon="trash"
        disabled={picked.length === 0}
        onClick={() => void deleteAll(picked).then((yes) => yes && set(undefined))}
      >
        {t.deleteDo}…
      </Button>
      <Button kind="ghost" hint="Esc" onClick={() => set(undefined)}>
        {t.cancel}
      </Button>
    </div>
  );
}
