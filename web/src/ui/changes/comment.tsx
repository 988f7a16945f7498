// A remark on lines: as it is written, as it stands below its lines, and as a row of the list.

import { useState } from "preact/hooks";
import type { ReviewComment, WorkspaceHunk } from "../../rpc/service";
import { w } from "../../state/app";
import type { Review } from "../../state/review";
import { plain } from "../../state/safe";
import type { Scope } from "../../state/workspace";
import { Button, IconButton } from "../button";
import { takeFocus } from "../composer/focus";
import { Icon } from "../icon";
import { NewHunks } from "./stale";

/** The lines that a remark is about, and the line that its form stands below. */
export interface Place {
  side: "new" | "old";
  from: number;
  to: number;
  at: number;
}

interface FormProps {
  file: string;
  hunk: WorkspaceHunk;
  place: Place;
  setPlace: (p: Place) => void;
  scope: Scope;
  review: Review;
  close: () => void;
  reload: () => void;
}

export function CommentForm(p: FormProps) {
  const t = w.value;
  const { place, hunk } = p;
  const [text, setText] = useState("");
  const [error, setError] = useState<{ text: string; hunks?: readonly WorkspaceHunk[] }>();
  const [busy, setBusy] = useState(false);
  const low = place.side === "new" ? hunk.newStart : hunk.oldStart;
  const high = low + (place.side === "new" ? hunk.newLines : hunk.oldLines) - 1;
  const within = (n: number) => Math.max(low, Math.min(high, n || low));
  const save = async () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    const { side, from, to } = place;
    const r = await p.review.add({ ...p.scope, file: p.file, side, from, to, hunk: hunk.id, text: text.trim() });
    setBusy(false);
    if (r.ok) return p.close();
    setError(r);
  };
  // The diff is read again only here: the new one has no place for this form and what was written in it.
  const close = () => {
    p.close();
    if (error?.hunks) p.reload();
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
      <div class="acts">
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
              p.setPlace({ ...place, from, to: Math.max(from, place.to) });
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
              p.setPlace({ ...place, to, from: Math.min(to, place.from) });
            }}
          />
        </label>
        {place.side === "old" && <span class="dim">{t.review_.before}</span>}
      </div>
      <textarea
        class="inp"
        rows={3}
        aria-label={t.review_.text}
        placeholder={t.review_.text}
        value={text}
        ref={takeFocus}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      {error && (
        <p class="err" role="alert">
          <Icon name="alert" /> {plain(error.text)}
        </p>
      )}
      {error?.hunks && <NewHunks file={p.file} hunks={error.hunks} />}
      <div class="acts">
        <button type="submit" class="btn primary sm" disabled={busy || text.trim() === ""}>
          {t.review_.add}
        </button>
        <Button small kind="ghost" onClick={close} hint="Esc">
          {t.cancel}
        </Button>
      </div>
    </form>
  );
}

/** A remark with what can be done with it. */
export function CommentView({ c, review, place }: { c: ReviewComment; review: Review; place?: boolean }) {
  const t = w.value;
  const [edit, setEdit] = useState<string>();
  const stale = review.stale.value.get(c.id);
  const save = async () => {
    if (edit === undefined || edit.trim() === "") return;
    if (await review.change(c.id, { text: edit.trim() })) setEdit(undefined);
  };
  return (
    <article class={`cmt ${c.state}`} aria-label={t.review_.commentAt(plain(c.file), c.from, c.to)}>
      <header>
        {place && (
          <button type="button" class="linkish mono cut" onClick={() => goTo(c)}>
            {plain(c.file.slice(c.file.lastIndexOf("/") + 1))}:{c.from === c.to ? c.from : `${c.from}–${c.to}`}
          </button>
        )}
        {!place && <span class="dim">{t.lines(c.from, c.to)}</span>}
        <State c={c} stale={stale !== undefined} />
        <span class="sp" />
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

/** Shows the lines of a remark. */
function goTo(c: ReviewComment): void {
  const file = document.getElementById(`file-${encodeURIComponent(c.file)}`);
  const there = [...(file?.querySelectorAll<HTMLElement>(".cmt") ?? [])].find((x) => x.textContent?.includes(c.text));
  (there ?? file)?.scrollIntoView({ block: "center" });
}
