// A line in place of a reverted hunk, until the next commit.

import { useState } from "preact/hooks";
import type { WorkspaceReverted } from "../../rpc/service";
import { toast, w } from "../../state/app";
import { isBusy } from "../../state/phase";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { type Diff, restore, sayWorkspace, type Scope } from "../../state/workspace";
import { Button } from "../button";
import { Icon } from "../icon";

interface RevertedProps {
  store: SessionStore;
  scope: Scope;
  reverted: WorkspaceReverted;
  /** Whether the line names its file. */
  named?: boolean;
  shown: (d: Diff) => void;
}

export function RevertedLine({ store, scope, reverted: r, named, shown }: RevertedProps) {
  const t = w.value.changes_;
  const [busy, setBusy] = useState(false);
  const running = isBusy(store.settled);
  const back = async () => {
    setBusy(true);
    try {
      shown(await restore(store.id, scope, r.id));
      toast(t.broughtBack);
    } catch (err) {
      toast(sayWorkspace(err), true);
      setBusy(false);
    }
  };
  const lines = t.lineRange(r.from ?? 0, r.to ?? 0);
  return (
    <p class="chunk-h gone back">
      <Icon name="undo" />
      {named && <span class="mono cut">{plain(r.file)}</span>}
      <span>{r.from ? t.revertedLines(lines, plain(r.section ?? "")) : named ? t.revertedWhole : t.revertedFile(plain(r.file))}</span>
      <span class="sp" />
      <Button
        small
        icon="refresh"
        busy={busy}
        disabled={running}
        {...(running ? { title: t.waitForTurn } : {})}
        onClick={() => void back()}
      >
        {t.bringBack}
      </Button>
    </p>
  );
}
