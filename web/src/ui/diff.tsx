// A change of a file, line by line. Signs are text, so that they are read and copied.

import { useState } from "preact/hooks";
import type { FileDiff, Hunk, Line } from "../state/diff";
import { w } from "../state/app";
import { cuts, languageOf, type Part } from "../state/colour";
import { plain } from "../state/safe";
import { useLineColours } from "./code";

/** How many lines are drawn before a button offers the rest. */
const first = 80;

export function Counts({ diff }: { diff: { added: number; removed: number } }) {
  return (
    <span class="counts">
      <span class="plus">+{diff.added}</span> <span class="minus">−{diff.removed}</span>
    </span>
  );
}

interface DiffProps {
  diff: FileDiff;
  all?: boolean;
  /** Shows how many lines are hidden, for a change that someone is about to allow. */
  warn?: boolean;
  /** Leaves out the line numbers, which are shown above it. */
  bare?: boolean;
}

export function DiffTable({ diff, all = false, warn = false, bare = false }: DiffProps) {
  const [more, setMore] = useState(all);
  const total = diff.hunks.reduce((n, h) => n + h.lines.length, 0);
  const colours = useColours(
    diff.hunks.flatMap((h) => h.lines),
    diff.path,
  );
  let left = more ? Number.POSITIVE_INFINITY : first;
  if (total === 0 && diff.isNew) return <p class="pad dim">{w.value.emptyFile}</p>;
  return (
    <>
      <div class="scrollx" tabIndex={0} role="group" aria-label={plain(diff.path)}>
        <table class="diff" dir="ltr">
          <tbody>
            {diff.hunks.map((h, i) => {
              const lines = h.lines.slice(0, Math.max(0, left));
              left -= h.lines.length;
              if (lines.length === 0) return null;
              return [
                !bare && !diff.isNew && placeOf(h) !== "" && (
                  <tr key={`h${i}`} class="hunk">
                    <td colSpan={4}>{placeOf(h)}</td>
                  </tr>
                ),
                ...lines.map((l, j) => <DiffLine key={`${i}.${j}`} line={l} parts={colours(l)} />),
              ];
            })}
          </tbody>
        </table>
      </div>
      {total > first && !more && (
        <button type="button" class="more" onClick={() => setMore(true)}>
          {w.value.moreLines(total - first)}
        </button>
      )}
      {warn && total > first && !more && (
        <p class="hidden-lines" role="status">
          {w.value.ask.linesShown(first, total)}
        </p>
      )}
    </>
  );
}

/** The line numbers of a hunk in the changed file; empty if unknown. */
export function placeOf(h: Hunk): string {
  const numbers = h.lines.flatMap((l) => l.new ?? []);
  const [from, to] = [numbers[0], numbers[numbers.length - 1]];
  return from === undefined || to === undefined ? "" : w.value.lines(from, to);
}

export const rowClass = { "+": "add", "-": "del", " ": "ctx" } as const;
export const signs = { "+": "+", "-": "−", " ": "" } as const;

function DiffLine({ line, parts }: { line: Line; parts: readonly Part[] }) {
  return (
    <tr class={rowClass[line.sign]}>
      <td class="ln">{line.old}</td>
      <td class="ln">{line.new}</td>
      <td class="sg">{signs[line.sign]}</td>
      <td class="tx">
        <Marked line={line} parts={parts} />
      </td>
    </tr>
  );
}

/**
 * The colours of the lines of a diff. The old and the new text are coloured separately, because mixed lines are not
 * valid code.
 */
export function useColours(lines: readonly Line[], path: string): (l: Line) => readonly Part[] {
  const lang = languageOf(path);
  const side = (gone: "+" | "-") => lines.filter((l) => l.sign !== gone);
  const [olds, news] = [side("+"), side("-")];
  const text = (all: readonly Line[]) => all.map((l) => l.text).join("\n");
  const a = useLineColours(text(olds), lang);
  const b = useLineColours(text(news), lang);
  const found = new Map<Line, readonly Part[]>();
  for (const [i, l] of olds.entries()) found.set(l, a?.[i] ?? none);
  for (const [i, l] of news.entries()) found.set(l, b?.[i] ?? none);
  return (l) => found.get(l) ?? none;
}

const none: readonly Part[] = [];

/** A line with its colours; marked words have plain ink. */
export function Marked({ line, parts = none }: { line: Line; parts?: readonly Part[] }) {
  if (!line.marks && parts.length === 0) return <>{plain(line.text)}</>;
  return (
    <>
      {cuts(line.text.length, line.marks ?? [], parts).map((c) => {
        const text = plain(line.text.slice(c.from, c.to));
        if (c.marked)
          return (
            <b key={c.from} class="mk">
              {text}
            </b>
          );
        return c.class === "" ? (
          text
        ) : (
          <i key={c.from} class={c.class}>
            {text}
          </i>
        );
      })}
    </>
  );
}
