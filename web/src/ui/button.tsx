// Buttons of the three kinds, each with a name, and the key that does the same.

import type { ComponentChildren } from "preact";
import { letters } from "../state/prefs";
import { Icon, type IconName } from "./icon";

interface Common {
  onClick: (e: MouseEvent) => void;
  disabled?: boolean | undefined;
  busy?: boolean;
  title?: string;
}

interface ButtonProps extends Common {
  children: ComponentChildren;
  kind?: "primary" | "ghost" | "danger" | "";
  icon?: IconName;
  small?: boolean;
  hint?: string;
  expanded?: boolean;
  class?: string;
  id?: string;
}

export function Button(p: ButtonProps) {
  return (
    <button
      type="button"
      id={p.id}
      class={`btn ${p.kind ?? ""} ${p.small ? "sm" : ""} ${p.class ?? ""}`}
      onClick={p.onClick}
      disabled={p.disabled === true || p.busy === true}
      aria-busy={p.busy}
      aria-expanded={p.expanded}
      title={p.title}
    >
      {p.busy ? <span class="spin" /> : p.icon && <Icon name={p.icon} />}
      {p.children}
      {p.hint && <Hint of={p.hint} />}
    </button>
  );
}

/** The key that does the same as a button. Letters are hidden where they are switched off. */
export function Hint({ of }: { of: string }) {
  if (of.length === 1 && /[a-z0-9?[\]]/i.test(of) && !letters.value) return null;
  return (
    <span class="keys" aria-hidden="true">
      {of.split(" ").map((k) => (
        <kbd key={k}>{k}</kbd>
      ))}
    </span>
  );
}

interface IconButtonProps extends Common {
  icon: IconName;
  label: string;
  small?: boolean;
  pressed?: boolean;
  expanded?: boolean;
  class?: string;
  badge?: number;
}

export function IconButton(p: IconButtonProps) {
  return (
    <button
      type="button"
      class={`ibtn ${p.small ? "sm" : ""} ${p.class ?? ""}`}
      aria-label={p.badge ? `${p.label}, ${p.badge}` : p.label}
      title={p.title ?? p.label}
      aria-pressed={p.pressed}
      aria-expanded={p.expanded}
      aria-busy={p.busy}
      disabled={p.disabled}
      onClick={p.onClick}
    >
      {p.busy ? <span class="spin" /> : <Icon name={p.icon} />}
      {p.badge ? (
        <span class="count" aria-hidden="true">
          {p.badge}
        </span>
      ) : null}
    </button>
  );
}
