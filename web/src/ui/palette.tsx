// Search or jump: sessions, pages and actions by their names.

import { useState } from "preact/hooks";
import { w } from "../state/app";
import { fitting } from "../state/drafts";
import { lang, panel, sidebar, theme } from "../state/prefs";
import { go } from "../state/route";
import { plain } from "../state/safe";
import { liveEntries, pastEntries } from "../state/sessions";
import { Dialog } from "./dialog";
import { entryHref } from "./sidebar";
import { Icon, type IconName } from "./icon";
import { help, settingsOpen } from "./overlays";

interface Target {
  icon: IconName;
  name: string;
  note: string;
  run: () => void;
}

function targets(): Target[] {
  const t = w.value;
  const flip = (s: { value: boolean; peek: () => boolean }) => () => {
    s.value = !s.peek();
  };
  return [
    { icon: "plus", name: t.newSession, note: "C", run: () => go({ page: "new" }) },
    { icon: "inbox", name: t.inbox, note: "G I", run: () => go({ page: "inbox" }) },
    { icon: "menu", name: t.sessions, note: "G S", run: () => go({ page: "sessions" }) },
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
      run: () => {
        settingsOpen.value = true;
      },
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
    { icon: "panelRight", name: t.panel, note: "]", run: flip(panel) },
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

export function Palette({ close }: { close: () => void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const t = w.value;
  const found = fitting(targets(), (x) => x.name, query, 10);
  const choose = (x: Target | undefined) => {
    if (!x) return;
    close();
    x.run();
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter" && !e.isComposing) choose(found[at]);
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
        ref={(e) => e?.focus()}
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
            </span>
            <span class="dim">{plain(x.note)}</span>
          </div>
        ))}
        {found.length === 0 && <p class="dim pad">{t.nothingFound}</p>}
      </div>
    </Dialog>
  );
}
