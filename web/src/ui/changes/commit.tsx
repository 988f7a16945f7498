// The commit of the chosen changes, below the diff.

import { useState } from "preact/hooks";
import { newKey } from "../../state/actions";
import { call, toast, w } from "../../state/app";
import { isBusy } from "../../state/phase";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import {
  chosenHunks,
  chosenOf,
  commitMessage,
  type Diff,
  hasCommitHunks,
  leftOut,
  sayWorkspace,
  type Scope,
} from "../../state/workspace";
import { confirm } from "../dialog";
import { Icon } from "../icon";

interface CommitProps {
  store: SessionStore;
  diff: Diff;
  scope: Scope;
  /** The files that are not committed. */
  open: ReadonlySet<string>;
  reload: () => void;
}

export function CommitBar({ store, diff, scope, open, reload }: CommitProps) {
  const t = w.value;
  const message = commitMessage(store.id);
  const out = leftOut(store.id);
  const [trailer, setTrailer] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const files = diff.files.filter((f) => open.has(f.path));
  const chosen = files.filter((f) => chosenOf(f, out.value) !== "none");
  const byHunk = hasCommitHunks(diff, scope);
  const parts = byHunk ? chosen.filter((f) => chosenOf(f, out.value) === "part") : [];
  const hunks = Object.fromEntries(parts.map((f) => [f.path, chosenHunks(f, out.value).map((h) => h.id)]));
  const all = files.reduce((k, f) => k + f.hunks.length, 0);
  const some = files.reduce((k, f) => k + chosenHunks(f, out.value).length, 0);
  const running = isBusy(store.settled);
  const own = diff.workspace === undefined;
  const text = message.value;
  const why = running ? t.changes_.waitForTurn : chosen.length === 0 ? t.changes_.chooseFile : "";
  const commit = async () => {
    if (text.trim() === "" || why !== "" || busy) return;
    if (own) {
      const yes = await confirm({
        title: t.changes_.commitOwnTitle(diff.branch ?? "HEAD"),
        text: t.changes_.commitOwnText,
        list: chosen.map((f) => f.path),
        ok: t.changes_.commit,
      });
      if (!yes) return;
    }
    setBusy(true);
    setError("");
    try {
      const r = await call(
        "workspace.commit",
        {
          session_id: store.id,
          idempotency_key: newKey(),
          message: text.trim(),
          files: chosen.map((f) => f.path),
          ...(parts.length > 0 ? { hunks } : {}),
          ...(trailer ? { trailer } : {}),
          ...(own ? { checkout: true } : {}),
        },
        120_000, // hooks may take long
      );
      message.value = "";
      toast(t.changes_.committed(r.commit.slice(0, 8), r.branch ?? "", r.files.length));
      reload();
    } catch (err) {
      setError(sayWorkspace(err));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="commit"
      onSubmit={(e) => {
        e.preventDefault();
        void commit();
      }}
    >
      {error !== "" && (
        <p class="notice bad" role="alert">
          <Icon name="alert" />
          <span class="wrapany pre">{plain(error.slice(0, 4000))}</span>
        </p>
      )}
      <input
        class="inp grow"
        aria-label={t.changes_.message}
        placeholder={t.changes_.message}
        value={text}
        onKeyDown={(e) => e.stopPropagation()}
        onInput={(e) => {
          message.value = e.currentTarget.value;
        }}
      />
      <label class="pick" title={t.changes_.trailerNote}>
        <input type="checkbox" checked={trailer} onChange={(e) => setTrailer(e.currentTarget.checked)} />
        <span>{t.changes_.trailer}</span>
      </label>
      <span class="two nowrap">
        {t.changes_.filesOf(chosen.length, files.length)}
        {byHunk && all > 0 && ` · ${t.changes_.hunksOfN(some, all)}`}
      </span>
      <button
        type="submit"
        class="btn primary"
        disabled={busy || text.trim() === "" || why !== ""}
        title={why}
        aria-busy={busy}
      >
        {busy ? <span class="spin" /> : <Icon name="commit" />}
        {t.changes_.commitTo(plain(diff.branch ?? "HEAD"))}
      </button>
    </form>
  );
}
