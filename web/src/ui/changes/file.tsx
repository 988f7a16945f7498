// A changed file: its hunks, their comments, and reverting.

import { useState } from "preact/hooks";
import type { WorkspaceFile, WorkspaceHunk } from "../../rpc/service";
import { toast, w } from "../../state/app";
import { isBusy } from "../../state/phase";
import { placeNow, type Review } from "../../state/review";
import { plain } from "../../state/safe";
import { revertKey, type SessionStore } from "../../state/session";
import { bytes } from "../../state/time";
import { basename } from "../../state/tools";
import {
  choose,
  chosenHunks,
  chosenOf,
  type Diff,
  leftOut,
  linesOf,
  revert,
  sameScope,
  sayWorkspace,
  type Scope,
} from "../../state/workspace";
import { Button } from "../button";
import { confirm } from "../dialog";
import { Counts } from "../diff";
import { Icon } from "../icon";
import { CommentForm } from "./comment";
import { HunkView } from "./hunk";
import { RevertedLine } from "./reverted";
import { NewHunks } from "./stale";

interface FileProps {
  store: SessionStore;
  diff: Diff;
  file: WorkspaceFile;
  scope: Scope;
  review: Review;
  open: boolean;
  /** Whether it can be committed. */
  pick: boolean;
  /** Whether its hunks can be committed one by one. */
  hunks: boolean;
  shown: (d: Diff) => void;
  reload: () => void;
}

/** More changed lines than this are folded at first. */
const large = 400;

export function fileId(path: string): string {
  return `file-${encodeURIComponent(path)}`;
}

export function FileView(p: FileProps) {
  const { file, store, scope } = p;
  const t = w.value;
  const [open, setOpen] = useState(p.open && file.added + file.removed <= large);
  const [stale, setStale] = useState<readonly WorkspaceHunk[]>();
  const busy = isBusy(store.settled);
  // In a user's own directory the person must confirm, because the files are not only the session's.
  const own = scope.against === "head" && p.diff.workspace === undefined;
  const takeBack = async (hunk?: WorkspaceHunk) => {
    // A revert can be undone, so it asks only before it removes changes of the user.
    if (own && !(await askOwn(file, hunk))) return;
    try {
      const r = await revert(store.id, scope, file.path, hunk?.id, own);
      if ("files" in r) {
        p.shown(r);
        setStale(undefined);
        toast(hunk ? t.changes_.hunkReverted : t.changes_.fileReverted);
        return;
      }
      setStale(r.hunks);
      p.reload();
    } catch (err) {
      toast(sayWorkspace(err), true);
    }
  };
  const at = file.path.lastIndexOf("/") + 1;
  const chosen = chosenHunks(file, leftOut(store.id).value);
  const reverted = (p.diff.reverted ?? []).filter(
    (r) => r.file === file.path && (scope.turn === undefined || r.turn_id === scope.turn),
  );
  const writing = p.review.writing.value
    .filter((d) => d.file === file.path && sameScope(d.scope, scope))
    .map((d) => ({ d, now: placeNow(d, file.hunks) }));
  const comments = p.review.comments.value.filter((c) => c.file === file.path && sameScope(c as Scope, scope));
  return (
    <section class="cfile" id={fileId(file.path)} aria-label={plain(file.path)}>
      <header class="cfile-h">
        {p.pick && <Pick session={store.id} file={file} />}
        <button type="button" class="cfile-n" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span class="mono cut" dir="ltr">
            <span class="dim">{plain(file.path.slice(0, at))}</span>
            <b>{plain(file.path.slice(at))}</b>
          </span>
          <Kind file={file} />
          <Counts diff={file} />
          <Icon name="chevron" class="chev" />
        </button>
        <Button
          small
          kind="ghost"
          icon="undo"
          disabled={busy}
          {...(busy ? { title: t.changes_.waitForTurn } : {})}
          onClick={() => void takeBack()}
        >
          {t.changes_.revertFile}
        </Button>
      </header>
      {stale && <NewHunks file={file.path} hunks={stale} close={() => setStale(undefined)} />}
      {open && <Contents file={file} />}
      {writing.map(
        ({ d, now }) =>
          !now && <CommentForm key={d.id} d={d} now={now} others={file.hunks.length > 0} review={p.review} reload={p.reload} />,
      )}
      {open &&
        file.hunks.map((h) =>
          isReverted(store, scope, file.path, h.id) ? (
            reverted.some((r) => r.hunk === h.id) ? null : (
              <p key={h.id} class="chunk-h gone">
                <Icon name="undo" /> <span class="mono">{linesName(h)}</span> {t.changes_.revertedLine}
              </p>
            )
          ) : (
            <HunkView
              key={h.id}
              file={file.path}
              hunk={h}
              {...(p.pick && p.hunks ? { pick: { on: chosen.includes(h), set: (on) => choose(store.id, file, h, on) } } : {})}
              review={p.review}
              writing={writing.flatMap(({ d, now }) => (now?.hunk === h ? [{ d, now }] : []))}
              begin={(place) => p.review.begin(scope, file.path, h, place, file.hunks)}
              comments={comments.filter((c) => c.hunk === h.id)}
              busy={busy}
              revert={() => void takeBack(h)}
              reload={p.reload}
            />
          ),
        )}
      {reverted.map((r) => (
        <RevertedLine key={r.id} store={store} scope={scope} reverted={r} shown={p.shown} />
      ))}
    </section>
  );
}

/** Reports whether a hunk was reverted. A turn keeps its diff, so the revert is shown in it. */
function isReverted(store: SessionStore, scope: Scope, file: string, hunk: string): boolean {
  if (scope.turn === undefined) return false;
  const turn = scope.turn;
  return [hunk, ""].some((h) => store.reverted.has(revertKey(turn, file, h)));
}

function linesName(h: WorkspaceHunk): string {
  const { from, to } = linesOf(h);
  return w.value.lines(from, to);
}

function revertText(f: WorkspaceFile): string {
  const t = w.peek();
  if (f.kind === "add") return t.changes_.revertNew;
  return f.kind === "delete" ? t.changes_.revertDeleted : t.changes_.revertFileText;
}

/** Whether the file goes into the commit; a part of it is a dash. */
function Pick({ session, file }: { session: string; file: WorkspaceFile }) {
  const state = chosenOf(file, leftOut(session).value);
  return (
    <input
      type="checkbox"
      aria-label={w.value.changes_.commitFile(plain(file.path))}
      checked={state === "all"}
      ref={(e) => {
        if (e) e.indeterminate = state === "part";
      }}
      onChange={(e) => choose(session, file, undefined, e.currentTarget.checked)}
    />
  );
}

/** Asks before something of the user's own checkout is reverted. */
function askOwn(file: WorkspaceFile, hunk: WorkspaceHunk | undefined): Promise<boolean> {
  const t = w.peek().changes_;
  return confirm({
    title: hunk ? t.revertHunkTitle : t.revertFileTitle(basename(file.path)),
    text: `${hunk ? t.revertHunkText : revertText(file)} ${t.revertOwn}`,
    ok: hunk ? t.revertHunk : t.revertFile,
    danger: true,
  });
}

function Kind({ file }: { file: WorkspaceFile }) {
  const t = w.value;
  const name = t.changes_.kinds[file.kind] ?? "";
  return (
    <>
      {name !== "" && <span class={`chip ${file.kind === "add" ? "acc" : ""}`}>{name}</span>}
      {file.old_path && <span class="dim cut no-p">{t.changes_.movedFrom(plain(file.old_path))}</span>}
    </>
  );
}

/** The content of a file without lines to show. */
function Contents({ file }: { file: WorkspaceFile }) {
  const t = w.value;
  const sizes = `${bytes(file.old_size ?? 0)} → ${bytes(file.new_size ?? 0)}`;
  if (file.binary) return <p class="pad dim">{t.changes_.binary(sizes)}</p>;
  if (file.large) return <p class="pad dim">{t.changes_.large(sizes)}</p>;
  if (file.truncated) return <p class="pad dim">{t.changes_.cutFile}</p>;
  if (file.kind === "add" && !file.new_size) return <p class="pad dim">{t.emptyFile}</p>;
  if (file.hunks.length === 0) {
    const mode = file.old_mode !== file.new_mode ? `${file.old_mode ?? "–"} → ${file.new_mode ?? "–"}` : "";
    return <p class="pad dim">{t.changes_.noLines(mode)}</p>;
  }
  return null;
}
