// A comment on lines: its form, the card below its lines, and its row in the list.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReviewComment, WorkspaceHunk } from "../../rpc/service";
import { toast, w } from "../../state/app";
import type { Line } from "../../state/diff";
import { linesOf, type Place, type Review, type Writing } from "../../state/review";
import { plain } from "../../state/safe";
import { Button, IconButton } from "../button";
import { DiffTable } from "../diff";
import { Icon } from "../icon";
import { NewHunks } from "./stale";

interface FormProps {
  d: Writing;
  /** The hunk that now has its lines, and their position; undefined if they no longer exist. */
  now: { hunk: WorkspaceHunk; place: Place } | undefined;
  /** Whether its file has other lines to choose. */
  others: boolean;
  review: Review;
  reload: () => void;
}

export function CommentForm({ d, now, others, review, reload }: FormProps) {
  const t = w.value;
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const place = now?.place ?? d.place;
  const hunk = now?.hunk ?? d.hunk;
  const low = place.side === "new" ? hunk.newStart : hunk.oldStart;
  const high = low + (place.side === "new" ? hunk.newLines : hunk.oldLines) - 1;
  const within = (n: number) => Math.max(low, Math.min(high, n || low));
  const move = (change: Partial<Place>) => review.write(d.id, { hunk, place: { ...place, ...change } });
  // It takes the focus when it is begun, and when a reloaded diff has moved it.
  useLayoutEffect(() => {
    const e = box.current;
    if (review.focused !== d.id || !e) return;
    e.focus({ preventScroll: true });
    e.setSelectionRange(e.value.length, e.value.length);
  }, []);
  const save = async () => {
    if (d.text.trim() === "" || busy || !now) return;
    setBusy(true);
    const { side, from, to } = place;
    const r = await review.add({ ...d.scope, file: d.file, side, from, to, hunk: hunk.id, text: d.text.trim() });
    setBusy(false);
    if (r.ok) return review.discard(d.id);
    setError(r.text);
    if (r.hunks) reload();
  };
  const close = () => {
    review.discard(d.id);
    if (d.text.trim() === "") return;
    const run = () => {
      review.writing.value = [...review.writing.peek(), d];
    };
    toast(t.review_.discarded, false, { label: t.undo, run });
  };
  return (
    <form
      class="cmt-form"
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
      onKeyDown={(e) => {
        e.stopPropagation();
        if (e.key === "Escape") close();
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void save();
      }}
    >
      {!now && <Lost d={d} others={others} />}
      {now && (<div class="acts">
        <label>
          {t.review_.fromLine}{" "}
          <input
            class="inp num"
            type="number"
            min={low}
            max={high}
            value={place.from}
            onChange={(e) => {
              const from = within(e.currentTarget.valueAsNumber);
              move({ from, to: Math.max(from, place.to) });
            }}
          />
        </label>
        <label>
          {t.review_.toLine}{" "}
          <input
            class="inp num"
            type="number"
            min={low}
            max={high}
            value={place.to}
            onChange={(e) => {
              const to = within(e.currentTarget.valueAsNumber);
              move({ to, from: Math.min(to, place.from) });
            }}
          />
        </label>
        {place.side === "old" && <span class="dim">{t.review_.before}</span>}
      </div>)}
      <textarea
        class="inp"
        rows={3}
        aria-label={t.review_.text}
        placeholder={t.review_.text}
        value={d.text}
        ref={box}
        onFocus={() => {
          review.focused = d.id;
        }}
        onBlur={(e) => {
          // Removing a field from the page also removes its focus, before the field is gone.
          const field = e.currentTarget;
          queueMicrotask(() => {
            if (field.isConnected && document.activeElement !== field && review.focused === d.id) review.focused = 0;
          });
        }}
        onInput={(e) => review.write(d.id, { text: e.currentTarget.value })}
      />
      {now && error !== "" && (
        <p class="err" role="alert">
          <Icon name="alert" /> {plain(error)}
        </p>
      )}
      <div class="acts">
        <button type="submit" class="btn primary sm" disabled={busy || !now || d.text.trim() === ""} title={now ? "" : t.review_.pickAgain}>
          {t.review_.add}
        </button>
        <Button small kind="ghost" onClick={close} hint="Esc">
          {t.cancel}
        </Button>
      </div>
    </form>
  );
}

/** The lines of a comment, which have changed while it was written. */
function Lost({ d, others }: { d: Writing; others: boolean }) {
  const t = w.value;
  const lines = linesOf(d).map((l, i): Line => ({ sign: " ", text: l.slice(1), [d.place.side]: d.place.from + i }));
  return (
    <div class="stale" role="alert">
      <p>
        <Icon name="alert" />
        <span>
          <b>{t.review_.changedMeanwhile(plain(d.file), lines.length)}</b> {others && t.review_.pickAgain}
        </span>
      </p>
      <DiffTable diff={{ path: d.file, hunks: [{ lines }], added: 0, removed: 0, isNew: false, cut: false }} bare />
    </div>
  );
}

/** A comment and its actions, below its lines or in the list. */
export function CommentView({ c, review, listed = false }: { c: ReviewComment; review: Review; listed?: boolean }) {
  const t = w.value;
  const found = review.edits.value.get(c.id);
  const edit = found?.listed === listed ? found.text : undefined;
  const setEdit = (text: string | undefined) => review.edit(c.id, text === undefined ? undefined : { text, listed });
  // Unsaved text moves to the list when the diff no longer contains this place.
  useEffect(
    () => () => {
      const left = review.edits.peek().get(c.id);
      if (left && !left.listed && !listed) review.edit(c.id, { text: left.text, listed: true });
    },
    [],
  );
  const stale = review.stale.value.get(c.id);
  const save = async () => {
    if (edit === undefined || edit.trim() === "") return;
    if (await review.change(c.id, { text: edit.trim() })) setEdit(undefined);
  };
  return (
    <article class={`cmt ${c.state}`} aria-label={t.review_.commentAt(plain(c.file), c.from, c.to)}>
      <header>
        {listed && (
          <button type="button" class="linkish mono cut" onClick={() => goTo(c)}>
            {plain(c.file.slice(c.file.lastIndexOf("/") + 1))}:{c.from === c.to ? c.from : `${c.from}–${c.to}`}
          </button>
        )}
        {!listed && <span class="dim">{t.lines(c.from, c.to)}</span>}
        <State c={c} stale={stale !== undefined} />
        <span class="cmt-acts">
          {c.state === "open" && edit === undefined && (
            <IconButton small icon="pencil" label={t.review_.edit} onClick={() => setEdit(c.text)} />
          )}
          {c.state === "sent" && (
            <IconButton
              small
              icon="check"
              label={t.review_.resolve}
              onClick={() => void review.change(c.id, { state: "resolved" })}
            />
          )}
          {c.state !== "open" && (
            <IconButton
              small
              icon="undo"
              label={t.review_.reopen}
              onClick={() => void review.change(c.id, { state: "open" })}
            />
          )}
          <IconButton small icon="trash" label={t.review_.remove} onClick={() => void review.remove(c.id)} />
        </span>
      </header>
      {edit === undefined ? (
        <p dir="auto">{plain(c.text)}</p>
      ) : (
        <div
          class="cmt-form"
          onKeyDown={(e) => {
            e.stopPropagation();
            if (e.key === "Escape") setEdit(undefined);
            if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void save();
          }}
        >
          <textarea
            class="inp"
            rows={3}
            aria-label={t.review_.text}
            value={edit}
            onInput={(e) => setEdit(e.currentTarget.value)}
          />
          <div class="acts">
            <Button small kind="primary" onClick={() => void save()}>
              {t.review_.save}
            </Button>
            <Button small kind="ghost" onClick={() => setEdit(undefined)}>
              {t.cancel}
            </Button>
          </div>
        </div>
      )}
      {stale && <NewHunks file={c.file} hunks={stale} />}
    </article>
  );
}

function State({ c, stale }: { c: ReviewComment; stale: boolean }) {
  const t = w.value;
  if (stale) return <span class="chip warn">{t.review_.stale}</span>;
  if (c.state === "resolved")
    return (
      <span class="chip ok">
        <Icon name="check" />
        {c.resolved_by === "agent" ? t.review_.resolvedByAgent : t.review_.resolved}
      </span>
    );
  return <span class={`chip${c.state === "sent" ? " acc" : ""}`}>{t.review_.states[c.state] ?? plain(c.state)}</span>;
}

/** Shows the lines of a comment. */
function goTo(c: ReviewComment): void {
  const file = document.getElementById(`file-${encodeURIComponent(c.file)}`);
  const there = [...(file?.querySelectorAll<HTMLElement>(".cmt") ?? [])].find((x) => x.textContent?.includes(c.text));
  (there ?? file)?.scrollIntoView({ block: "center" });
}
