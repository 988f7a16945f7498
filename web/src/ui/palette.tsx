// Search or jump: sessions, pages and actions by their names.

import { useState } from "preact/hooks";
import { canCompact, compact, interrupt } from "../state/actions";
import { sessionStore, w } from "../state/app";
import { fitting } from "../state/drafts";
import { isBusy } from "../state/phase";
import { density, diffView, lang, sidebar, theme } from "../state/prefs";
import { go, route } from "../state/route";
import { plain } from "../state/safe";
import { liveEntries, pastEntries } from "../state/sessions";
import type { Results } from "../state/search";
import { composes } from "./composer/focus";
import { Dialog } from "./dialog";
import { entryHref } from "../state/sessions";
import { Icon, type IconName } from "./icon";
import { help } from "./open";
import { togglePanel } from "./viewport";
import { hitHref, Marked, useSearch } from "./search";
import { actionsOf } from "./sessionmenu";

interface Target {
  icon: IconName;
  name: string;
  note: string;
  /** The matching text of the session. */
  said?: string;
  run: () => void;
}

function targets(): Target[] {
  const t = w.value;
  const flip = (s: { value: boolean; peek: () => boolean }) => () => {
    s.value = !s.peek();
  };
  return [
    { icon: "plus", name: t.newSession, note: "C", run: () => go({ page: "new" }) },
    { icon: "home", name: t.home.title, note: "G H", run: () => go({ page: "home" }) },
    { icon: "menu", name: t.sessions, note: "G S", run: () => go({ page: "sessions" }) },
    { icon: "usage", name: t.usage_.title, note: "G U", run: () => go({ page: "usage" }) },
    ...ofSession(),
    ...[...liveEntries.value, ...pastEntries.value].map(
      (e): Target => ({
        icon: e.live ? "logo" : "clock",
        name: e.title || t.untitled,
        note: e.project,
        run: () => {
          location.hash = entryHref(e);
        },
      }),
    ),
    {
      icon: "settings",
      name: t.settings,
      note: "",
      run: () => go({ page: "settings" }),
    },
    {
      icon: "keyboard",
      name: t.keyboardHelp,
      note: "?",
      run: () => {
        help.value = true;
      },
    },
    { icon: "panelLeft", name: t.sidebar, note: "[", run: flip(sidebar) },
    { icon: "panelRight", name: t.panel, note: "]", run: () => togglePanel() },
    {
      icon: "menu",
      name: `${t.density}: ${t.densities[density.value === "compact" ? "comfortable" : "compact"]}`,
      note: "",
      run: () => {
        density.value = density.peek() === "compact" ? "comfortable" : "compact";
      },
    },
    {
      icon: "split",
      name: `${t.changes}: ${diffView.value === "split" ? t.changes_.inline : t.changes_.split}`,
      note: "",
      run: () => {
        diffView.value = diffView.peek() === "split" ? "inline" : "split";
      },
    },
    {
      icon: "theme",
      name: t.theme,
      note: "",
      run: () => {
        theme.value = theme.peek() === "dark" ? "light" : "dark";
      },
    },
    {
      icon: "languages",
      name: t.otherLanguage,
      note: "",
      run: () => {
        lang.value = lang.peek() === "zh" ? "en" : "zh";
      },
    },
  ];
}

/** Returns the actions of the shown session. */
function ofSession(): Target[] {
  const r = route.value;
  const id = r.page === "session" ? r.ids[0] : r.page === "changes" ? r.id : undefined;
  if (id === undefined) return [];
  const t = w.value;
  const store = sessionStore(id);
  const c = store.settled;
  return [
    { icon: "logo", name: t.toSession, note: "", run: () => go({ page: "session", ids: [id] }) },
    { icon: "diff", name: t.changes, note: "G C", run: () => go({ page: "changes", id }) },
    {
      icon: "diff",
      name: `${t.changes}: ${t.changes_.lastTurn}`,
      note: "",
      run: () => go({ page: "changes", id, turn: "last" }),
    },
    ...(isBusy(c)
      ? [{ icon: "square" as const, name: t.stopTurn, note: "Esc", run: () => void interrupt(id) }]
      : canCompact(c)
        ? [{ icon: "archive" as const, name: t.compact, note: "", run: () => compact(id) }]
        : []),
    ...actionsOf(store).map((i) => ({ icon: i.icon, name: i.label, note: "", run: i.run })),
  ];
}

/** Returns the sessions with a matching text, except those listed by name. */
function said(r: Results, named: readonly Target[]): Target[] {
  const t = w.value;
  const names = new Set(named.map((x) => x.name));
  return [...liveEntries.value, ...pastEntries.value].flatMap((e): Target[] => {
    const hit = r.found.get(e.id);
    const name = e.title || t.untitled;
    if (!hit || names.has(name)) return [];
    return [
      {
        icon: "search",
        name,
        note: e.project,
        said: hit.excerpt,
        run: () => {
          location.hash = hitHref(e, hit);
        },
      },
    ];
  });
}

export function Palette({ close }: { close: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const t = w.value;
  const named = fitting(targets(), (x) => x.name, query, 10);
  const results = useSearch(query);
  const found = [...named, ...said(results, named)].slice(0, 16);
  const choose = (x: Target | undefined) => {
    if (!x) return;
    close();
    x.run();
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter" && !composes(e)) choose(found[at]);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title={t.searchOrJump} close={close} class="palette">
      <input
        class="inp"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        aria-label={t.searchOrJump}
        placeholder={t.searchOrJump}
        value={query}
        onKeyDown={onKey}
        onInput={(e) => {
          setQuery(e.currentTarget.value);
          setAt(0);
        }}
      />
      <div role="listbox" id="palette-list" class="menu" aria-label={t.searchOrJump}>
        {found.map((x, i) => (
          <div
            key={`${x.name}${i}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === at}
            class="opt pal"
            onClick={() => choose(x)}
          >
            <Icon name={x.icon} />
            <span class="cut" dir="auto">
              {plain(x.name)}
              {x.said !== undefined && (
                <span class="hit cut">
                  <Marked text={plain(x.said)} query={query} />
                </span>
              )}
            </span>
            <span class="dim">{plain(x.note)}</span>
          </div>
        ))}
        {found.length === 0 && <p class="dim pad">{t.nothingFound}</p>}
      </div>
    </Dialog>
  );
}
