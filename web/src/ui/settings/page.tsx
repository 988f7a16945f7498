// Settings: one column of sections, each with an address, and a field that finds a setting.

import { useEffect, useRef, useState } from "preact/hooks";
import { hello, w } from "../../state/app";
import { formatRoute, route } from "../../state/route";
import { MenuButton } from "../frame";
import { Icon, type IconName } from "../icon";
import { About } from "./about";
import { AgentSettings } from "./agents";
import { BudgetSettings } from "./budgets";
import { DeviceSettings } from "./devices";
import { General } from "./general";
import { KeyboardSettings } from "./keyboard";
import { McpSettings } from "./mcp";
import { NoticeSettings } from "./notices";
import { SetSection } from "./row";
import { RuleSettings } from "./rules";

interface Part {
  id: "general" | "agents" | "permissions" | "mcp" | "notifications" | "budgets" | "devices" | "keyboard" | "about";
  icon: IconName;
  /** The page of the documentation about it. */
  guide?: string;
  Body: () => preact.ComponentChildren;
}

/** The sections in their order. Another one is added here. */
const parts: readonly Part[] = [
  { id: "general", icon: "settings", Body: General },
  { id: "agents", icon: "bot", guide: "guide/any-agent", Body: AgentSettings },
  { id: "permissions", icon: "shield", guide: "guide/permissions", Body: RuleSettings },
  { id: "mcp", icon: "plug", guide: "guide/tools", Body: McpSettings },
  { id: "notifications", icon: "bell", guide: "push", Body: NoticeSettings },
  { id: "budgets", icon: "gauge", guide: "budgets", Body: BudgetSettings },
  { id: "devices", icon: "lock", guide: "guide/security", Body: DeviceSettings },
  { id: "keyboard", icon: "keyboard", Body: KeyboardSettings },
  { id: "about", icon: "info", guide: "index", Body: About },
];

export default function SettingsPage() {
  const t = w.value.set_;
  const r = route.value;
  const wanted = r.page === "settings" ? r.section : undefined;
  const column = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<string>(wanted ?? "general");
  const [query, setQuery] = useState("");
  useEffect(() => {
    const box = column.current;
    if (!wanted || box === null) return;
    const show = () => box.querySelector(`#set-${CSS.escape(wanted)}`)?.scrollIntoView();
    show();
    // Sections above it may still load; the reader's first scroll ends this.
    const grows = new ResizeObserver(show);
    grows.observe(box);
    const stop = () => grows.disconnect();
    const moves = ["wheel", "pointerdown", "keydown", "touchstart"] as const;
    for (const m of moves) addEventListener(m, stop, { once: true, passive: true });
    const end = setTimeout(stop, 3000);
    return () => {
      clearTimeout(end);
      stop();
      for (const m of moves) removeEventListener(m, stop);
    };
  }, [wanted]);
  useEffect(() => find(column.current, query.trim().toLowerCase()));
  // Sections that a viewer may not read are omitted.
  const shown = parts.filter((p) => (p.id !== "permissions" && p.id !== "mcp") || hello.value?.role !== "viewer");
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{w.value.settings}</h1>
        <span class="sp" />
        <label class="find set-find">
          <Icon name="search" />
          <span class="sr">{t.find}</span>
          <input
            type="search"
            data-search
            value={query}
            placeholder={t.find}
            onInput={(e) => setQuery(e.currentTarget.value)}
          />
        </label>
      </header>
      <div
        class="scroll"
        tabIndex={0}
        role="group"
        aria-label={w.value.settings}
        onScroll={(e) => setSeen(sectionAt(e.currentTarget) ?? seen)}
      >
        <div class="set">
          <nav class="set-nav" aria-label={t.sections}>
            {shown.map((p) => (
              <a
                key={p.id}
                class="nav"
                href={formatRoute({ page: "settings", section: p.id })}
                aria-current={seen === p.id ? "true" : undefined}
                onClick={() => column.current?.querySelector(`#set-${p.id}`)?.scrollIntoView()}
              >
                <Icon name={p.icon} />
                {t.titles[p.id]}
              </a>
            ))}
          </nav>
          <div class="set-col" ref={column}>
            {shown.map(({ id, guide, Body }) => (
              <SetSection key={id} id={id} title={t.titles[id]} {...(guide ? { guide } : {})} {...(t.notes[id] ? { note: t.notes[id] } : {})}>
                <Body />
              </SetSection>
            ))}
            <p class="dim set-none" hidden>
              {t.nothing}
            </p>
          </div>
        </div>
      </div>
    </main>
  );
}

/** The section that the reader sees first. */
function sectionAt(box: HTMLElement): string | undefined {
  const top = box.getBoundingClientRect().top + 80;
  const all = [...box.querySelectorAll<HTMLElement>("[data-section]")];
  const end = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
  const at = end ? all.at(-1) : all.filter((s) => s.getBoundingClientRect().top <= top).at(-1);
  return at?.dataset["section"];
}

/** Hides the rows that do not have a text, and the sections without a row. */
function find(column: HTMLElement | null, text: string): void {
  if (column === null) return;
  let any = false;
  for (const section of column.querySelectorAll<HTMLElement>("[data-section]")) {
    const named = (section.querySelector("h2")?.textContent ?? "").toLowerCase().includes(text);
    let some = false;
    for (const row of section.querySelectorAll<HTMLElement>(".set-row")) {
      const match = named || (row.textContent ?? "").toLowerCase().includes(text);
      row.hidden = !match;
      some ||= match;
    }
    section.hidden = !some && text !== "";
    any ||= !section.hidden;
  }
  const none = column.querySelector<HTMLElement>(".set-none");
  if (none) none.hidden = any;
}
