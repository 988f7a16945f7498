// The servers that the agent has started. Each opens in a separate tab and has a separate origin,
// because it is not part of this page.

import { useEffect, useState } from "preact/hooks";
import { call, hello, tryCall } from "../state/app";
import { plain, safeLink } from "../state/safe";
import type { SessionStore } from "../state/session";
import { reach } from "../state/words.reach";
import type { PreviewPort } from "../rpc/service";
import { IconButton } from "./button";
import { Icon } from "./icon";
import { Section } from "./section";

/** How long a session must be quiet before its ports are searched, in milliseconds. */
const settle = 1000;

export function Preview({ store }: { store: SessionStore }) {
  const [ports, setPorts] = useState<readonly PreviewPort[]>([]);
  const [again, setAgain] = useState(0);
  const seq = store.durable.value;
  const may = hello.value?.role === "operator" || hello.value?.role === "admin";
  useEffect(() => {
    if (!may) return;
    let gone = false;
    const timer = setTimeout(async () => {
      // A server without previews, or one that cannot find ports, returns an error: no port is
      // shown.
      const found = await call("preview.list", { session_id: store.id }).catch(() => undefined);
      if (!gone) setPorts(found?.enabled ? found.ports : []);
    }, settle);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [store.id, seq, again, may]);
  if (ports.length === 0) return null;
  const t = reach.value;
  return (
    <Section title={t.preview} meta={String(ports.length)}>
      {ports.map((p) => (
        <div class="frow" key={p.port}>
          <Icon name="terminal" />
          <span class="cut">
            <span class="mono">{p.port}</span> <span class="dim">{plain(p.process ?? "")}</span>
          </span>
          <span class="meta">
            <IconButton
              small
              icon="globe"
              label={t.previewOpen(p.port)}
              title={t.previewHint}
              onClick={() => void openPreview(store.id, p.port)}
            />
          </span>
        </div>
      ))}
      <div class="pad">
        <button type="button" class="linkish" onClick={() => setAgain(again + 1)}>
          {t.previewAgain}
        </button>
      </div>
    </Section>
  );
}

/** Opens a preview in a tab without access to this page. */
async function openPreview(session: string, port: number): Promise<void> {
  const r = await tryCall("preview.open", { session_id: session, port });
  const href = r && safeLink(r.url);
  if (!href) return;
  const a = document.createElement("a");
  a.href = href;
  a.target = "_blank";
  a.rel = "noopener noreferrer";
  a.click();
}
