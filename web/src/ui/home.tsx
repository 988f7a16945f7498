// Home: open requests, running sessions, finished sessions. Short requests are answered in place.

import { useEffect, useRef } from "preact/hooks";
import type { PendingPrompt } from "../rpc/service";
import { follow, now, sessionStore, w } from "../state/app";
import { fitsCard, inbox, promptKey } from "../state/inbox";
import { phaseOf } from "../state/phase";
import { lang, notify, seen } from "../state/prefs";
import { formatRoute, route } from "../state/route";
import { plain } from "../state/safe";
import { type Entry, entryOfLive, live, liveEntries } from "../state/sessions";
import { age, isToday, money } from "../state/time";
import { promptTitle } from "../state/tools";
import { armRequest, RequestCard } from "./ask/request";
import { Button, Hint } from "./button";
import { MenuButton } from "./frame";
import { Icon } from "./icon";
import { askToNotify } from "./notify";
import { StateDot } from "./small";

/** The number of running sessions that are followed, so that their cards show their activity. */
const mostFollowed = 6;

export function HomePage() {
  const t = w.value;
  const r = route.value;
  const all = inbox.value;
  const asks = new Set(all.map((p) => p.session_id));
  const entries = liveEntries.value.filter((e) => !e.archived);
  const working = entries.filter((e) => e.dot === "run" && !asks.has(e.id));
  const done = entries.filter(
    (e) => e.dot !== "run" && !asks.has(e.id) && (e.unread || e.dot === "bad" || isToday(e.updated, now.value)),
  );
  const wanted = r.page === "home" ? r.request : undefined;
  const there = all.some((p) => promptKey(p) === wanted);
  const box = useRef<HTMLDivElement>(null);
  // A link to a request brings it into view; letters still need a step to it.
  useEffect(() => {
    if (wanted && there) box.current?.querySelector(`[data-card="${CSS.escape(wanted)}"]`)?.scrollIntoView();
  }, [wanted, there]);
  useEffect(() => {
    const move = (e: Event) => {
      const cards = [...(box.current?.querySelectorAll<HTMLElement>("[data-request]") ?? [])];
      const i = cards.findIndex((c) => c.contains(document.activeElement));
      const next = cards[Math.max(0, Math.min(cards.length - 1, i + (e as CustomEvent<number>).detail))];
      if (next) armRequest(next.dataset["request"] ?? "");
    };
    addEventListener("parley-move", move);
    return () => removeEventListener("parley-move", move);
  }, []);
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{t.home.title}</h1>
        <span class="sp" />
        <span class="keyhints no-p">
          <Hint of="J K" /> {t.move}
        </span>
        <Button icon="bell" small onClick={() => void askToNotify()}>
          {notify.value ? t.notifyOn : t.notifyMe}
        </Button>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label={t.home.title} ref={box}>
        <div class="home">
          <Column name={t.dots.ask} count={all.length} empty={t.nothingWaits}>
            {all.map((p) => (
              <Waiting key={promptKey(p)} p={p} />
            ))}
          </Column>
          <Column name={t.home.working} count={working.length} empty={t.home.nothingWorks}>
            {working.map((e, i) => (
              <HomeCard key={e.id} e={e}>
                {i < mostFollowed && <PhaseLine id={e.id} />}
              </HomeCard>
            ))}
          </Column>
          <Column name={t.home.done} count={done.length} empty={t.home.nothingDone}>
            {done.map((e) => (
              <HomeCard key={e.id} e={e}>
                <p class="home-f">
                  {e.dot === "bad" && <span class="badc">{t.states[e.state] ?? t.states["failed"]}</span>}
                  {e.turns > 0 && <span>{t.home.turns(e.turns)}</span>}
                  {e.cost !== undefined && e.cost > 0 && <span>{money(e.cost)}</span>}
                  <span class="sp" />
                  <a href={formatRoute({ page: "changes", id: e.id })}>{t.changes}</a>
                </p>
              </HomeCard>
            ))}
          </Column>
        </div>
      </div>
    </main>
  );
}

interface ColumnProps {
  name: string;
  count: number;
  empty: string;
  children: preact.ComponentChildren;
}

function Column({ name, count, empty, children }: ColumnProps) {
  return (
    <section aria-label={name}>
      <h2>
        {name} <span class="dim num">{count}</span>
      </h2>
      {count === 0 && <p class="home-empty">{empty}</p>}
      {children}
    </section>
  );
}

function HomeCard({ e, children }: { e: Entry; children: preact.ComponentChildren }) {
  return (
    <article class="home-card">
      <CardHead e={e} />
      {children}
    </article>
  );
}

function CardHead({ e }: { e: Entry }) {
  const t = w.value;
  return (
    <header class="home-h">
      <StateDot dot={e.dot} />
      <a class="cut strong" href={formatRoute({ page: "session", ids: [e.id] })} dir="auto">
        {plain(e.title || t.untitled)}
      </a>
      <span class="dim nowrap">{age(e.updated, now.value, t, lang.value)}</span>
      <span class="home-where cut">{plain([e.machine, e.project, e.branch].filter((x) => x !== "").join(" · "))}</span>
    </header>
  );
}

/** A request. One that does not fit is answered in its session. */
function Waiting({ p }: { p: PendingPrompt }) {
  const t = w.value;
  const s = live.value.find((x) => x.session_id === p.session_id);
  const { title, object } = promptTitle(p.prompt, t);
  return (
    <article class="home-card asks" data-card={promptKey(p)}>
      {s && <CardHead e={entryOfLive(s, seen.value)} />}
      {fitsCard(p.prompt) ? (
        <RequestCard prompt={p} />
      ) : (
        <>
          <p class="home-ask">
            <b>{plain(title)}</b> {object !== "" && <code class="cut">{plain(object)}</code>}
          </p>
          <p class="home-f">
            <span>{t.home.tooLong}</span>
            <span class="sp" />
            <a class="btn sm" href={formatRoute({ page: "session", ids: [p.session_id] })}>
              {t.review}
            </a>
          </p>
        </>
      )}
    </article>
  );
}

/** The current activity of a session, in one line that is replaced. */
function PhaseLine({ id }: { id: string }) {
  const store = sessionStore(id);
  useEffect(() => follow(id), [id]);
  void store.version.value;
  const phase = phaseOf(store, now.value, w.value);
  return (
    <p class={`home-f${phase.kind === "silent" ? " warn" : ""}`}>
      <Icon name={phase.kind === "thinking" ? "think" : phase.kind === "writing" ? "pencil" : "clock"} />
      <span class="cut">{plain([phase.text, phase.detail].filter((x) => x !== "").join(" · "))}</span>
    </p>
  );
}
