// Announcements for screen readers: finished blocks, and each request once.

import { useEffect, useRef, useState } from "preact/hooks";
import { w } from "../state/app";
import { oneLine } from "../state/safe";
import type { SessionStore } from "../state/session";
import { promptTitle } from "../state/tools";

export function Announcer({ store }: { store: SessionStore }) {
  const version = store.durable.value;
  const [text, setText] = useState("");
  const last = useRef("");
  const asked = useRef(new Set<string>());
  useEffect(() => {
    const c = store.settled;
    const fresh = c.prompts.find((p) => !asked.current.has(p.request_id));
    if (fresh) {
      asked.current.add(fresh.request_id);
      const { title, object } = promptTitle(fresh, w.peek());
      setText(`${w.peek().waitsForYou}: ${title} ${object}`);
      return;
    }
    const rows = store.rows.get();
    for (let i = rows.length - 1; i >= 0 && i > rows.length - 6; i--) {
      const r = rows[i];
      if (r?.kind !== "text" || r.block?.state === "streaming") continue;
      if (r.key !== last.current) {
        if (last.current !== "") setText(oneLine(r.block?.text ?? "", 400));
        last.current = r.key;
      }
      return;
    }
  }, [version]);
  return (
    <div class="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}
