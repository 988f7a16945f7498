// The sidebar: a new session, search, the sessions, and links to the other pages.

import { useEffect } from "preact/hooks";
import { now, status, w } from "../state/app";
import { waiting } from "../state/inbox";
import { lang, sidebar } from "../state/prefs";
import { formatRoute, go, route } from "../state/route";
import { plain } from "../state/safe";
import { type Entry, entryHref, liveEntries, loaded, past, pastEntries, refreshPast } from "../state/sessions";
import { age, isToday } from "../state/time";
import { Button, Hint, IconButton } from "./button";
import { Foot } from "./foot";
import { drawer } from "./frame";
import { Icon, type IconName } from "./icon";
import { palette } from "./open";
import { StateDot } from "./small";

export function Sidebar() {
  const t = w.value;
  // Changes need the width, so the sidebar begins collapsed.
  const rail = !sidebar.value || route.value.page === "changes";
  useEffect(() => {
    void route.value;
    drawer.value = false;
  }, [route.value]);
  return (
    <nav class={`side${rail ? " rail" : ""}${drawer.value ? " open" : ""}`} aria-label={t.sessions}>
      <div class="brand">
        <Icon name="logo" class="logo" />
        <span class="wordmark lbl">Parley</span>
        <IconButton
          icon="panelLeft"
          class="lbl"
          label={t.collapse}
          onClick={() => {
            if (drawer.peek()) drawer.value = false;
            else sidebar.value = false;
          }}
        />
      </div>
      <div class="side-top">
        {rail && (
          <IconButton
            icon="panelLeft"
            class="rail-only"
            label={t.expand}
            onClick={() => {
              sidebar.value = true;
            }}
          />
        )}
        <Button icon="plus" title={t.newSession} onClick={() => go({ page: "new" })}>
          <span class="lbl">{t.newSession}</span>
        </Button>
        <button
          type="button"
          class="find"
          title={t.searchOrJump}
          onClick={() => {
            palette.value = true;
          }}
        >
          <Icon name="search" />
          <span class="lbl">{t.searchOrJump}</span>
          <span class="lbl-b">
            <Hint of="Ctrl K" />
          </span>
        </button>
      </div>
      <div class="navs">
        <NavLink page="home" icon="home" label={t.home.title} count={waiting.value} />
        <NavLink page="sessions" icon="menu" label={t.sessions} />
        <NavLink page="machines" icon="server" label={t.machines} />
        <NavLink page="usage" icon="usage" label={t.usage_.title} />
      </div>
      <SessionList />
      <Foot />
    </nav>
  );
}

function NavLink({
  page,
  icon,
  label,
  count,
}: {
  page: "home" | "sessions" | "machines" | "usage";
  icon: IconName;
  label: string;
  count?: number;
}) {
  const current = route.value.page === page;
  return (
    <a class="nav" href={formatRoute({ page })} aria-current={current ? "page" : undefined} title={label}>
      <Icon name={icon} />
      <span class="lbl">{label}</span>
      {count ? (
        <span class="count">
          <span class="sr">{w.value.waitingCount}</span>
          {count}
        </span>
      ) : null}
    </a>
  );
}

function SessionList() {
  const t = w.value;
  useEffect(() => {
    if (status.value === "open") void refreshPast().catch(() => {});
  }, [status.value]);
  const ids = new Set(liveEntries.value.map((e) => e.id));
  const rest = pastEntries.value.filter((e) => !ids.has(e.id) && !e.archived).slice(0, 30);
  const running = liveEntries.value.filter((e) => !e.archived && e.dot !== "end");
  const endedNow = liveEntries.value.filter((e) => !e.archived && e.dot === "end");
  const older = [...endedNow, ...rest];
  const today = older.filter((e) => isToday(e.updated, now.value));
  const before = older.filter((e) => !isToday(e.updated, now.value)).slice(0, 30);
  if (loaded.value && running.length + older.length === 0 && past.value.length === 0)
    return <p class="s-list s-empty lbl-b">{t.noSessions}</p>;
  return (
    <div class="s-list">
      <Group name={t.live} entries={running} />
      <Group name={t.today} entries={today} />
      <Group name={t.earlier} entries={before} />
    </div>
  );
}

function Group({ name, entries }: { name: string; entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <section aria-label={name}>
      <h2 class="grp">{name}</h2>
      {entries.map((e) => (
        <SessionRow key={e.id} e={e} />
      ))}
    </section>
  );
}

function SessionRow({ e }: { e: Entry }) {
  const t = w.value;
  const r = route.value;
  const current =
    (r.page === "session" && r.ids.includes(e.id)) || ((r.page === "history" || r.page === "changes") && r.id === e.id);
  return (
    <a
      class={`srow${e.unread && !current ? " unread" : ""}`}
      href={entryHref(e)}
      aria-current={current ? "page" : undefined}
    >
      <StateDot dot={e.dot} />
      <span class="s-l">
        <span class="s-name" dir="auto">
          {plain(e.title || t.untitled)}
        </span>
        <span class="s-age">{age(e.updated, now.value, t, lang.value)}</span>
      </span>
      <span class="s-l">
        <span class="s-meta">{plain([e.machine, e.project, e.branch].filter((x) => x !== "").join(" · "))}</span>
        {e.dot === "ask" && <span class="s-flag">{t.needsYou}</span>}
        {e.terminal && <span class="s-age">{t.inTerminal}</span>}
      </span>
    </a>
  );
}
