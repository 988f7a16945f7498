// How full the context window is.

import { w } from "../state/app";

export function Ring({ share, size }: { share: number; size: number }) {
  const width = size > 40 ? 7 : 3;
  const r = (size - width) / 2;
  const around = 2 * Math.PI * r;
  return (
    <svg
      class={`ring${share >= 0.8 ? " high" : ""}`}
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={w.value.contextFull(Math.round(share * 100))}
    >
      <circle class="ring-t" cx={size / 2} cy={size / 2} r={r} stroke-width={width} />
      <circle
        class="ring-v"
        cx={size / 2}
        cy={size / 2}
        r={r}
        stroke-width={width}
        stroke-dasharray={`${(around * share).toFixed(1)} ${around.toFixed(1)}`}
        transform={`rotate(-90 ${size / 2} ${size / 2})`}
      />
    </svg>
  );
}
