// Plots as SVG. Each has a title that is read, and a table of the same figures below it.

import type { ComponentChildren } from "preact";
import { w } from "../../state/app";
import { ceiling } from "../../state/usage";

export interface Bar {
  key: string;
  /** The text below the bar; it may be empty. */
  label: string;
  /** The tooltip. */
  title: string;
  /** The parts from below, each with the class of its colour. */
  parts: readonly { value: number; class: string }[];
}

interface BarsProps {
  name: string;
  bars: readonly Bar[];
  format: (n: number) => string;
  width: number;
  /** The value of a dashed line. */
  mark?: number | undefined;
  /** The least top of the scale: lines below it could not be told apart. */
  least?: number;
}

const high = 160;
const left = 44;
/** Room for half of the last label. */
const right = 22;
/** A scale has lines at these parts of it. */
const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];

export function Bars({ name, bars, format, width, mark, least = 0 }: BarsProps) {
  const sums = bars.map((b) => b.parts.reduce((n, p) => n + p.value, 0));
  const highest = Math.max(least, ...sums, mark ?? 0);
  const top = ceiling(highest);
  const y = (v: number) => 8 + (high - 8) * (1 - v / top);
  const slot = (width - left - right) / Math.max(1, bars.length);
  const thick = Math.max(2, Math.min(48, slot * 0.72));
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${high + 24}`}
      role="img"
      aria-label={w.value.usage_.plot(name, bars.length, format(Math.max(0, ...sums)))}
    >
      {steps.map((k) => (
        <g key={k}>
          <line class="gl" x1={left} x2={width} y1={y(top * k)} y2={y(top * k)} />
          <text x={left - 6} y={y(top * k) + 4} text-anchor="end">
            {format(top * k)}
          </text>
        </g>
      ))}
      {mark !== undefined && mark > 0 && <line class="top" x1={left} x2={width} y1={y(mark)} y2={y(mark)} />}
      {bars.map((b, i) => {
        const x = left + slot * i + (slot - thick) / 2;
        let below = 0;
        return (
          <g key={b.key}>
            <title>{b.title}</title>
            <rect class="zone" x={left + slot * i} y={8} width={slot} height={high - 8} />
            {b.parts.map((p, k) => {
              const from = y(below);
              below += p.value;
              const to = y(below);
              // A pixel of background separates neighbours.
              const h = Math.max(p.value > 0 ? 1 : 0, from - to - (k < b.parts.length - 1 && from - to > 2 ? 1 : 0));
              return <rect key={k} class={p.class} x={x} y={from - h} width={thick} height={h} rx={1} />;
            })}
            {b.label !== "" && (
              <text x={x + thick / 2} y={high + 18} text-anchor="middle">
                {b.label}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** Selects labels, so that those of many bars do not touch. */
export function sparse(labels: readonly string[], most: number): string[] {
  const step = Math.max(1, Math.ceil(labels.length / most));
  return labels.map((l, i) => ((labels.length - 1 - i) % step === 0 ? l : ""));
}

interface PlotProps {
  title: string;
  class?: string;
  legend?: ComponentChildren;
  head: readonly string[];
  rows: readonly (readonly string[])[];
  children: ComponentChildren;
}

/** A plot in its frame, with the table of its figures. */
export function Plot({ title, class: extra = "", legend, head, rows, children }: PlotProps) {
  const t = w.value;
  return (
    <section class={`plot ${extra}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="sp" />
        {legend && <div class="legend">{legend}</div>}
      </header>
      {children}
      {rows.length > 0 && (
        <details>
          <summary>{t.usage_.asTable}</summary>
          <div class="tablewrap" tabIndex={0} role="group" aria-label={title}>
            <Table head={head} rows={rows} />
          </div>
        </details>
      )}
    </section>
  );
}

/** A table with row headers in its first column. */
export function Table({ head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <table class="ut">
      <thead>
        <tr>
          {head.map((h, i) => (
            <th key={h} scope="col" class={i === 0 ? "" : "r"}>
              {h}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r[0]}>
            {r.map((cell, i) =>
              i === 0 ? (
                <th key={i} scope="row" title={cell}>
                  {cell}
                </th>
              ) : (
                <td key={i} class="r">
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
