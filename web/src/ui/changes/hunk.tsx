// Lines that have changed together: side by side or inline, with comments at their lines.

import { useRef, useState } from "preact/hooks";
import type { ReviewComment, WorkspaceHunk } from "../../rpc/service";
import { w } from "../../state/app";
import type { Part } from "../../state/colour";
import { fromPatch, type Line, pairs } from "../../state/diff";
import { diffView, letters } from "../../state/prefs";
import type { Place, Review, Writing } from "../../state/review";
import { plain } from "../../state/safe";
import { changedLines, linesOf } from "../../state/workspace";
import { Button } from "../button";
import { Marked, rowClass, signs, useColours } from "../diff";
import { wide } from "../viewport";
import { CommentForm, CommentView } from "./comment";

interface HunkProps {
  file: string;
  hunk: WorkspaceHunk;
  review: Review;
  comments: readonly ReviewComment[];
  busy: boolean;
  /** Whether it is part of the commit; absent if that cannot be chosen. */
  pick?: { on: boolean; set: (on: boolean) => void };
  revert: () => void;
  /** The comments that are being written here. */
  writing: readonly { d: Writing; now: { hunk: WorkspaceHunk; place: Place } }[];
  begin: (place: Place) => void;
  reload: () => void;
}

/** How many lines are drawn before a button offers the rest. */
const first = 300;

export function HunkView(p: HunkProps) {
  const t = w.value;
  const [all, setAll] = useState(false);
  const lines = fromPatch(p.file, [p.hunk]).hunks[0]?.lines ?? [];
  // A side without lines has no column.
  const split = diffView.value === "split" && wide.value && p.hunk.oldLines > 0 && p.hunk.newLines > 0;
  const colours = useColours(lines, p.file);
  const shown = all ? lines : lines.slice(0, first);
  const { from, to } = linesOf(p.hunk);
  const begin = (at: Omit<Place, "at">) => p.begin({ ...at, at: at.to });
  // Dragging over line numbers selects lines; the comment's form opens at the end.
  const [drag, draw] = useState<Drag>();
  const held = useRef<Drag | undefined>(undefined);
  const setDrag = (d: Drag | undefined) => {
    held.current = d;
    draw(d);
  };
  const release = () => {
    const d = held.current;
    if (d) begin({ side: d.side, from: Math.min(d.from, d.to), to: Math.max(d.from, d.to) });
    setDrag(undefined);
  };
  const onLine: OnLine = {
    chosen: (side, n) => drag?.side === side && n >= Math.min(drag.from, drag.to) && n <= Math.max(drag.from, drag.to),
    press: (side, n, extend) => {
      const place = p.writing[0]?.now.place;
      if (extend && place?.side === side) begin({ side, from: Math.min(place.from, n), to: Math.max(place.to, n) });
      else {
        setDrag({ side, from: n, to: n });
        addEventListener("pointerup", () => release(), { once: true });
      }
    },
    over: (side, n) => {
      const d = held.current;
      if (d?.side === side && d.to !== n) setDrag({ ...d, to: n });
    },
    tap: (side, n) => begin({ side, from: n, to: n }),
  };
  const onKey = (e: KeyboardEvent) => {
    if (!letters.peek() || e.ctrlKey || e.metaKey || e.altKey || e.target !== e.currentTarget) return;
    if (e.key === "r" && !p.busy) p.revert();
    else if (e.key === "x" && p.pick) p.pick.set(!p.pick.on);
    else if (e.key === "c") begin(changedLines(p.hunk));
    else if (e.key === "n" || e.key === "p") step(e.currentTarget as HTMLElement, e.key === "n" ? 1 : -1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const below = (side: "new" | "old", n: number | undefined) => {
    if (n === undefined) return null;
    const mine = p.comments.filter((c) => c.side === side && c.to === n);
    const forms = p.writing.filter(({ now }) => now.place.side === side && now.place.at === n);
    if (mine.length === 0 && forms.length === 0) return null;
    return (
      <tr key={`c${side}${n}`} class="cmt-row">
        <td colSpan={4}>
          {mine.map((c) => (
            <CommentView key={c.id} c={c} review={p.review} />
          ))}
          {forms.map(({ d, now }) => (
            <CommentForm key={d.id} d={d} now={now} others review={p.review} reload={p.reload} />
          ))}
        </td>
      </tr>
    );
  };
  return (
    <section
      class="chunk"
      role="group"
      tabIndex={0}
      aria-label={t.changes_.hunkOf(from, to, plain(p.file))}
      onKeyDown={onKey}
    >
      <header class="chunk-h">
        {p.pick && (
          <input
            type="checkbox"
            aria-label={t.changes_.commitHunk(from, to)}
            checked={p.pick.on}
            onChange={(e) => p.pick?.set(e.currentTarget.checked)}
          />
        )}
        <span class="mono">{t.lines(from, to)}</span>
        {p.hunk.section && <span class="mono dim cut">{plain(p.hunk.section)}</span>}
        <span class="sp" />
        <Button small kind="ghost" icon="comment" hint="C" onClick={() => begin(changedLines(p.hunk))}>
          {t.review_.comment}
        </Button>
        <Button
          small
          kind="ghost"
          icon="undo"
          hint="R"
          disabled={p.busy}
          {...(p.busy ? { title: t.changes_.waitForTurn } : {})}
          onClick={p.revert}
        >
          {t.changes_.revertHunk}
        </Button>
      </header>
      <table class={`diff${split ? " split" : ""}`} dir="ltr">
        <tbody>
          {split
            ? pairs(shown).flatMap(([a, b], i) => [
                <tr key={i}>
                  <Half line={a} side="old" onLine={onLine} colours={colours} />
                  <Half line={b} side="new" onLine={onLine} colours={colours} />
                </tr>,
                below("old", a?.old),
                below("new", b?.new),
              ])
            : shown.flatMap((l, i) => [
                <tr key={i} class={rowClass[l.sign]}>
                  <LineNumber n={l.old} side="old" onLine={onLine} off={l.sign !== "-"} />
                  <LineNumber n={l.new} side="new" onLine={onLine} off={false} />
                  <td class="sg">{signs[l.sign]}</td>
                  <td class="tx">
                    <Marked line={l} parts={colours(l)} />
                  </td>
                </tr>,
                l.sign === "-" ? below("old", l.old) : below("new", l.new),
              ])}
        </tbody>
      </table>
      {lines.length > shown.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {t.moreLines(lines.length - shown.length)}
        </button>
      )}
    </section>
  );
}

/** The next hunk of the page, or the one before. */
function step(from: HTMLElement, by: number): void {
  const all = [...document.querySelectorAll<HTMLElement>(".chunk")];
  const next = all[all.indexOf(from) + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** Lines of one side that the pointer is dragged over, from where it was pressed. */
interface Drag {
  side: "new" | "old";
  from: number;
  to: number;
}

/** Pointer handlers of the line numbers. */
interface OnLine {
  chosen: (side: "new" | "old", n: number) => boolean;
  press: (side: "new" | "old", n: number, extend: boolean) => void;
  over: (side: "new" | "old", n: number) => void;
  /** A click without a pointer. */
  tap: (side: "new" | "old", n: number) => void;
}

interface LineNumberProps {
  n: number | undefined;
  side: "new" | "old";
  onLine: OnLine;
  off: boolean;
  kind?: string;
}

/**
 * The number of a line. A click begins a comment on it, a drag one on several lines; with Shift a click extends the
 * range.
 */
function LineNumber({ n, side, onLine, off, kind = "" }: LineNumberProps) {
  if (n === undefined || off) return <td class={`ln ${kind}`}>{n}</td>;
  return (
    <td class={`ln ${kind}${onLine.chosen(side, n) ? " chosen" : ""}`} onPointerEnter={() => onLine.over(side, n)}>
      <button
        type="button"
        class="ln-b"
        tabIndex={-1}
        aria-label={w.value.review_.commentOn(n)}
        title={w.value.review_.commentOn(n)}
        onPointerDown={(e) => {
          e.preventDefault();
          e.currentTarget.releasePointerCapture?.(e.pointerId);
          onLine.press(side, n, e.shiftKey);
        }}
        onClick={(e) => e.detail === 0 && onLine.tap(side, n)}
      >
        <span class="plus-l" aria-hidden="true">
          +
        </span>
        {n}
      </button>
    </td>
  );
}

interface HalfProps {
  line: Line | undefined;
  side: "new" | "old";
  onLine: OnLine;
  colours: (l: Line) => readonly Part[];
}

/** One side of a row. Signs are text, so that they are read and copied. */
function Half({ line, side, onLine, colours }: HalfProps) {
  if (line === undefined)
    return (
      <>
        <td class="ln void" />
        <td class="tx void" />
      </>
    );
  const kind = rowClass[line.sign];
  return (
    <>
      <LineNumber
        n={side === "old" ? line.old : line.new}
        side={side}
        onLine={onLine}
        off={side === "old" && line.sign === " "}
        kind={kind}
      />
      <td class={`tx ${kind}`}>
        <span class="sr">{signs[line.sign]}</span>
        <Marked line={line} parts={colours(line)} />
      </td>
    </>
  );
}
