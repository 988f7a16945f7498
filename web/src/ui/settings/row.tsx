// The parts of the settings: a section, a row with its name, and a switch.

import type { ComponentChildren } from "preact";
import { Guide } from "../guide";

interface SectionProps {
  id: string;
  title: string;
  note?: string;
  /** The page of the documentation about it. */
  guide?: string;
  children: ComponentChildren;
}

export function SetSection({ id, title, note, guide, children }: SectionProps) {
  return (
    <section class="set-s" id={`set-${id}`} aria-label={title} data-section={id}>
      <h2>{title}</h2>
      {(note || guide) && (
        <p class="dim">
          {note} {guide && <Guide page={guide} />}
        </p>
      )}
      {children}
    </section>
  );
}

interface RowProps {
  name: ComponentChildren;
  note?: ComponentChildren;
  /** The error of the last change. */
  error?: string | undefined;
  children?: ComponentChildren;
  class?: string;
}

export function Row({ name, note, error, children, class: extra = "" }: RowProps) {
  return (
    <div class={`set-row ${extra}`}>
      <div class="set-l">
        <span class="set-n">{name}</span>
        {note && <span class="dim">{note}</span>}
        {error && (
          <span class="err" role="alert">
            {error}
          </span>
        )}
      </div>
      {children && <div class="set-c">{children}</div>}
    </div>
  );
}

interface SwitchProps {
  label: string;
  on: boolean;
  disabled?: boolean;
  set: (on: boolean) => void;
}

/** A switch that applies at once and shows its state itself. */
export function Switch({ label, on, disabled = false, set }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-label={label}
        aria-checked={on}
        checked={on}
        disabled={disabled}
        onChange={(e) => set(e.currentTarget.checked)}
      />
    </label>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  set: (v: string) => void;
}

export function Select({ label, value, options, set }: SelectProps) {
  return (
    <select class="inp sm" aria-label={label} value={value} onChange={(e) => set(e.currentTarget.value)}>
      {options.map(([v, name]) => (
        <option key={v} value={v}>
          {name}
        </option>
      ))}
    </select>
  );
}
