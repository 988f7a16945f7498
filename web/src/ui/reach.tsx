// The reach of a session's agent on its machine, checked by the server on request.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sayError, toast, w } from "../state/app";
import { sayBox } from "../state/box";
import { live } from "../state/sessions";
import type { SessionStore } from "../state/session";
import { Section } from "./section";

export function Reach({ store }: { store: SessionStore }) {
  const t = w.value.sandbox;
  const box = live.value.find((s) => s.session_id === store.id)?.box;
  const [open, setOpen] = useState(false);
  const [Found, setFound] = useState<ComponentType<{ store: SessionStore }>>();
  useEffect(() => {
    if (!open) return;
    import("./report").then(
      (m) => setFound(() => m.default),
      (err) => toast(sayError(err), true),
    );
  }, [open]);
  return (
    <Section title={t.reach} meta={box ? sayBox(box) : t.none} folded onOpen={setOpen}>
      {box?.credentials && <p class="pad">{t.credentials}</p>}
      {open && Found && <Found store={store} />}
    </Section>
  );
}
