// Actions of a session: rename, tag, fork, side by side, export, share, archive.

import { useEffect, useRef, useState } from "preact/hooks";
import { continueWith, copyText, exportSession, fork } from "../state/actions";
import { refreshSoon, toast, tryCall, w } from "../state/app";
import { carry } from "../state/carry";
import { agentName, capabilitiesOf, providerOf, providers } from "../state/providers";
import { go, lastShown } from "../state/route";
import { plain } from "../state/safe";
import { diskId, live, past, refreshPast } from "../state/sessions";
import type { SessionStore } from "../state/session";
import { IconButton } from "./button";
import { ask, confirm } from "./dialog";
import { Icon, type IconName } from "./icon";
import { inspected } from "./inspector";
import { narrow, togglePanel } from "./viewport";

export interface MenuItem {
  icon: IconName;
  label: string;
  run: () => void;
  danger?: boolean;
}

/** A button that opens a list of actions. */
export function ActionMenu({
  items,
  label,
  small = false,
}: {
  items: readonly MenuItem[];
  label: string;
  small?: boolean;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const away = (e: Event) => !box.current?.contains(e.target as Node) && setOpen(false);
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  const onKey = (e: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (e.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (e.key === "ArrowUp") all[(at + all.length - 1) % all.length]?.focus();
    else if (e.key === "Escape") {
      setOpen(false);
      box.current?.querySelector<HTMLElement>("button")?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="pop" ref={box} onKeyDown={open ? onKey : undefined}>
      <IconButton icon="more" small={small} label={label} expanded={open} onClick={() => setOpen(!open)} />
      {open && (
        <div class="popmenu" role="menu">
          {items.map((i) => (
            <button
              key={i.label}
              type="button"
              role="menuitem"
              class={i.danger ? "danger" : ""}
              onClick={() => {
                setOpen(false);
                i.run();
              }}
            >
              <Icon name={i.icon} />
              {i.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Creates a link that shows a session to anyone who has the link. */
export async function shareSession(session_id: string): Promise<void> {
  const t = w.peek();
  const yes = await confirm({ title: t.shareTitle, text: t.shareText, ok: t.shareDo });
  if (!yes) return;
  const r = await tryCall("share.create", { session_id, expires_in_s: 7 * 86400 });
  if (r) await copyText(new URL(r.url.replace(/^\/+/, ""), document.baseURI).href);
}

export async function renameSession(id: string, live: boolean, title: string): Promise<void> {
  const t = w.peek();
  const name = await ask({ title: t.rename, ok: t.rename, input: { label: t.name, value: title } });
  if (name === undefined || name.trim() === "") return;
  if (live) await tryCall("session.rename", { session_id: id, title: name.trim() });
  else await tryCall("history.rename", { session: id, title: name.trim() });
  refreshSoon();
  if (!live) void refreshPast();
}

export async function tagSession(id: string): Promise<void> {
  const t = w.peek();
  const disk = diskId(id);
  const old = past.peek().find((h) => h.session_id === disk)?.tag ?? "";
  const tag = await ask({ title: t.tag, text: t.tagText, ok: t.tag, input: { label: t.tag, value: old } });
  if (tag === undefined) return;
  await tryCall("history.tag", { session: disk, tag: tag.trim() });
  void refreshPast();
}

export async function archiveSession(session_id: string, archived: boolean): Promise<void> {
  const t = w.peek();
  const r = await tryCall(archived ? "session.unarchive" : "session.archive", { session_id });
  if (r === undefined) return;
  refreshSoon();
  toast(archived ? t.unarchived : t.archivedNow, false, {
    label: t.undo,
    run: () => void archiveSession(session_id, !archived),
  });
}

export async function deleteSession(id: string, live: boolean, title: string): Promise<void> {
  const t = w.peek();
  const text = title === "" ? t.deleteText : `${plain(title)}. ${t.deleteText}`;
  if (!(await confirm({ title: t.deleteTitle, text, ok: t.deleteDo, danger: true }))) return;
  const r = live
    ? await tryCall("session.delete", { session_id: id })
    : await tryCall("history.delete", { session: id });
  if (r === undefined) return;
  toast(t.deleted);
  refreshSoon();
  void refreshPast();
}

export function besides(id: string): void {
  const there = new Set(live.peek().map((s) => s.session_id));
  const others = lastShown.peek().filter((x) => x !== id && there.has(x));
  // The address has room for four; if no other session is shown, the first running one is added.
  const beside = others.length > 0 ? others.slice(-3) : [...there].filter((x) => x !== id).slice(0, 1);
  go({ page: "session", ids: [...beside, id] });
}

export function SessionMenu({ store }: { store: SessionStore }) {
  return <ActionMenu items={actionsOf(store)} label={w.value.more} />;
}

/** Returns the actions of a session. Add new ones here; the palette shows them too. */
export function actionsOf(store: SessionStore): MenuItem[] {
  const t = w.value;
  void store.durable.value;
  const c = store.settled;
  const disk = c.sessionId ?? store.id;
  const end = async () => {
    if (await confirm({ title: t.endTitle, text: t.endText, ok: t.endDo, danger: true }))
      await tryCall("session.disconnect", { session_id: store.id });
  };
  const mine = providerOf(store.id) ?? c.provider ?? "";
  const elsewhere = async (name: string) => {
    const text = t.continueWithText(agentName(mine), agentName(name), carry(c, mine).left);
    if (await confirm({ title: t.continueWith(agentName(name)), text, ok: t.startSession }))
      await continueWith(c, c.cwd ?? "", mine, name);
  };
  const others = providers.value.filter((p) => p.available && p.name !== mine);
  const canFork = capabilitiesOf(store.id)?.can_fork !== false;
  return [
    ...(narrow.value ? [{ icon: "panelRight" as const, label: t.thisSession, run: () => togglePanel(true) }] : []),
    { icon: "diff", label: t.changes_.open, run: () => go({ page: "changes", id: store.id }) },
    { icon: "pencil", label: t.rename, run: () => void renameSession(store.id, true, c.title ?? "") },
    { icon: "tag", label: t.tag, run: () => void tagSession(disk) },
    ...(canFork ? [{ icon: "fork" as const, label: t.fork, run: () => void fork(store.id) }] : []),
    ...others.map((p) => ({
      icon: "bot" as const,
      label: t.continueWith(agentName(p.name)),
      run: () => void elsewhere(p.name),
    })),
    { icon: "split", label: t.sideBySide, run: () => go({ page: "sessions" }) },
    { icon: "share", label: t.share, run: () => void shareSession(store.id) },
    { icon: "download", label: t.exportMarkdown, run: () => void exportSession(disk, "markdown") },
    { icon: "download", label: t.exportHtml, run: () => void exportSession(disk, "html") },
    { icon: "download", label: t.exportJson, run: () => void exportSession(disk, "json") },
    {
      icon: "code",
      label: t.log.openAll,
      run: () => {
        inspected.value = { store };
      },
    },
    {
      icon: "archive",
      label: c.archived ? t.unarchive : t.archive,
      run: () => void archiveSession(store.id, c.archived === true),
    },
    { icon: "square", label: t.endDo, run: () => void end(), danger: true },
  ];
}
