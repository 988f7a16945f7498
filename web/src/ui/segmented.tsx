// A choice of few, side by side.

interface SegProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  set: (v: T) => void;
}

export function Seg<T extends string>({ label, value, options, set }: SegProps<T>) {
  return (
    <span class="seg" role="group" aria-label={label}>
      {options.map(([v, name]) => (
        <button key={v} type="button" aria-pressed={v === value} onClick={() => set(v)}>
          {name}
        </button>
      ))}
    </span>
  );
}
