// A change of a file, line by line. Signs are text, so that they are read and copied.

import { useState } from "preact/hooks";
import type { FileDiff, Line } from "../state/diff";
import { w } from "../state/app";
import { plain } from "../state/safe";

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
  /** Says how much is not shown, where someone is about to allow it. */
  warn?: boolean;
}

export function DiffTable({ diff, all = false, warn = false }: DiffProps) {
  const [more, setMore] = useState(all);
  const total = diff.hunks.reduce((n, h) => n + h.lines.length, 0);
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
                <tr key={`h${i}`} class="hunk">
                  <td colSpan={4}>{h.title}</td>
                </tr>,
                ...lines.map((l, j) => <DiffLine key={`${i}.${j}`} line={l} />),
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

export const rowClass = { "+": "add", "-": "del", " ": "ctx" } as const;
export const signs = { "+": "+", "-": "−", " ": "" } as const;

function DiffLine({ line }: { line: Line }) {
  return (
    <tr class={rowClass[line.sign]}>
      <td class="ln">{line.old}</td>
      <td class="ln">{line.new}</td>
      <td class="sg">{signs[line.sign]}</td>
      <td class="tx">
        <Marked line={line} />
      </td>
    </tr>
  );
}

export function Marked({ line }: { line: Line }) {
  if (!line.marks) return <>{plain(line.text)}</>;
  const out = [];
  let at = 0;
  for (const [from, to] of line.marks) {
    if (from > at) out.push(plain(line.text.slice(at, from)));
    out.push(
      <b key={from} class="mk">
        {plain(line.text.slice(from, to))}
      </b>,
    );
    at = to;
  }
  out.push(plain(line.text.slice(at)));
  return <>{out}</>;
}
