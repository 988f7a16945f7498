// A part of the panel that folds.

import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

export function Section({
  title,
  meta,
  children,
  folded = false,
  onOpen,
}: {
  title: string;
  meta?: ComponentChildren;
  children: ComponentChildren;
  /** Whether it is closed at first. */
  folded?: boolean;
  onOpen?: (open: boolean) => void;
}) {
  return (
    <details class="sec" open={!folded} onToggle={(e) => onOpen?.(e.currentTarget.open)}>
      <summary>
        <span>{title}</span>
        <span class="meta">{meta}</span>
        <Icon name="chevronDown" class="chev" />
      </summary>
      {children}
    </details>
  );
}
