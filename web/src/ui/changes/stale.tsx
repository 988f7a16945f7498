// The current lines in place of a hunk that has changed since it was shown.

import type { WorkspaceHunk } from "../../rpc/service";
import { w } from "../../state/app";
import { fromPatch } from "../../state/diff";
import { IconButton } from "../button";
import { DiffTable } from "../diff";
import { Icon } from "../icon";

export function NewHunks(p: { file: string; hunks: readonly WorkspaceHunk[]; close?: () => void }) {
  const t = w.value;
  return (
    <div class="stale" role="alert">
      <p>
        <Icon name="alert" />
        <span>
          <b>{t.changes_.stale}</b> {p.hunks.length > 0 ? t.changes_.staleNow : t.changes_.staleGone}
        </span>
        {p.close && <IconButton small icon="x" label={t.close} onClick={p.close} />}
      </p>
      {p.hunks.length > 0 && <DiffTable diff={fromPatch(p.file, p.hunks)} />}
    </div>
  );
}
