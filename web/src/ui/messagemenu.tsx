// Actions of every message: copy a link, show its events.

import type { Message } from "../fold/conversation";
import { copyLink, copyText } from "../state/actions";
import { w } from "../state/app";
import type { Route } from "../state/route";
import type { SessionStore } from "../state/session";
import { inspected } from "./inspector";
import { ActionMenu, type MenuItem } from "./sessionmenu";

export function MessageMenu({ message, store, at }: { message: Message; store: SessionStore; at: string }) {
  const t = w.value;
  const place: Route = store.past
    ? { page: "history", id: store.id, message: at }
    : { page: "session", ids: [store.id], message: at };
  const text = message.blocks.flatMap((b) => (b.type === "text" ? [b.text ?? ""] : [])).join("\n\n");
  const items: MenuItem[] = [
    ...(text === "" ? [] : [{ icon: "copy" as const, label: t.copyText, run: () => void copyText(text) }]),
    { icon: "link", label: t.link.copy, run: () => void copyLink(place) },
  ];
  if (!store.past)
    items.push({
      icon: "code",
      label: t.log.open,
      run: () => {
        inspected.value = { store, ids: idsOf(message) };
      },
    });
  return <ActionMenu items={items} label={t.link.actions} small />;
}

/** All ids by which events name a message. */
function idsOf(m: Message): string[] {
  const ids = [m.id, m.uuid, ...m.blocks.map((b) => b.uuid)];
  return ids.filter((id): id is string => id !== undefined && id !== "");
}
