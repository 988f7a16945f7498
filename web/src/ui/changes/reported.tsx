// Changes without git: the agent's own reports, read-only.

import { w } from "../../state/app";
import { reported } from "../../state/changes";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { shortPath } from "../../state/tools";
import type { NoDiff } from "../../state/workspace";
import { Counts, DiffTable } from "../diff";
import { Icon } from "../icon";

export function Reported({ store, why, turn }: { store: SessionStore; why: NoDiff; turn: boolean }) {
  const t = w.value;
  const files = reported(store.settled, turn);
  return (
    <div class="ch-files" tabIndex={0} role="region" aria-label={t.changes_.files}>
      <p class="notice info" role="note">
        <Icon name="info" />
        <span>{why.reason === "failed" ? plain(why.text) : t.changes_.noGit[why.reason]}</span>
      </p>
      {files.length === 0 && (
        <div class="empty">
          <h2>{turn ? t.changes_.nothingInTurn : t.noChanges}</h2>
        </div>
      )}
      {files.map((f, i) => (
        <section class="cfile" key={`${f.path}${i}`} aria-label={plain(f.path)}>
          <header class="cfile-h">
            <span class="mono cut">{plain(shortPath(f.path, store.settled.cwd))}</span>
            {f.isNew && <span class="chip acc">{t.isNew}</span>}
            <Counts diff={f} />
          </header>
          {f.hunks.length > 0 && <DiffTable diff={f} />}
        </section>
      ))}
    </div>
  );
}
