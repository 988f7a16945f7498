// Small components that many views use.

import { useEffect, useState } from "preact/hooks";
import { w } from "../state/app";
import type { Dot } from "../state/sessions";

/** The state of a session: colour and shape, with a word for screen readers. */
export function StateDot({ dot }: { dot: Dot }) {
  return <span class={`dot ${dot}`} role="img" aria-label={w.value.dots[dot]} title={w.value.dots[dot]} />;
}

/** Grey lines of the final height, shown after a short delay, so that fast content has none. */
export function Skeleton() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const id = setTimeout(() => setShown(true), 300);
    return () => clearTimeout(id);
  }, []);
  if (!shown) return null;
  return (
    <div class="skeleton" role="status" aria-label={w.value.loading}>
      <i />
      <i />
      <i />
      <i />
    </div>
  );
}
