// A part of the panel that folds.

import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

export function Section({
  title,
  meta,
  children,
}: {
  title: string;
  meta?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <details class="sec" open>
      <summary>
        <span>{title}</span>
        <span class="meta">{meta}</span>
        <Icon name="chevronDown" class="chev" />
      </summary>
      {children}
    </details>
  );
}
