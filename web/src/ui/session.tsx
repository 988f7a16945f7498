// A session: its bar, the conversation, the dock, and the panel at its side.

import { useEffect, useState } from "preact/hooks";
import { keep } from "../state/actions";
import { follow, sessionStore, w } from "../state/app";
import { sayBox } from "../state/box";
import { contextShare, costOf } from "../state/plan";
import { markSeen, panel } from "../state/prefs";
import { formatRoute, go, route } from "../state/route";
import { oneLine, plain } from "../state/safe";
import { dotOf, live } from "../state/sessions";
import type { SessionStore } from "../state/session";
import { money, tokens } from "../state/time";
import { Announcer } from "./announce";
import { IconButton } from "./button";
import { Dock } from "./dock";
import { FindBar, type Jump } from "./find";
import { MenuButton } from "./frame";
import { Icon } from "./icon";
import { MachineChip } from "./machinechip";
import { Panel } from "./panel";
import { PlanStrip } from "./plan";
import { Ring } from "./ring";
import { SessionMenu, shareSession } from "./sessionmenu";
import { Skeleton, StateDot } from "./small";
import { Thread } from "./thread";
import { read } from "./user";
import { narrow, overlay, togglePanel } from "./viewport";

export function SessionPage() {
  const r = route.value;
  if (r.page !== "session") return null;
  const { ids } = r;
  const several = ids.length > 1;
  const views = ids.map((id) => <SessionView key={id} id={id} several={several} ids={ids} />);
  // A page has one main element, even with two conversations.
  return several ? (
    <main class="sides" id="main">
      {views}
    </main>
  ) : (
    <div class="single">{views}</div>
  );
}

function SessionView({ id, several, ids }: { id: string; several: boolean; ids: readonly string[] }) {
  const store = sessionStore(id);
  useEffect(() => follow(id), [id]);
  useEffect(() => keep(store), [store]);
  const phase = store.phase.value;
  const target = route.value.page === "session" ? route.value.message : undefined;
  const [jump, setJump] = useState<Jump>();
  const over = narrow.value;
  const Part = several ? "section" : "main";
  const showPanel = !several && (over ? overlay.value : panel.value);
  return (
    <>
      <Part class="centre" id={several ? undefined : "main"} aria-label={several ? titleOf(store) : undefined}>
        <Bar store={store} several={several} close={() => go({ page: "session", ids: ids.filter((x) => x !== id) })} />
        <PlanStrip store={store} />
        {ids[0] === id && <FindBar store={store} jump={setJump} />}
        {phase === "gone" ? <Gone /> : <Thread store={store} target={several ? undefined : target} jump={jump} />}
        {phase === "loading" && <Skeleton />}
        {phase !== "gone" && <Dock store={store} />}
        <Announcer store={store} />
        <Seen store={store} />
      </Part>
      {showPanel && over && <div class="scrim" onClick={() => togglePanel(false)} />}
      {showPanel && <Panel store={store} over={over} />}
    </>
  );
}

/** The name of a session: its own title, the list's, or its first words. */
export function titleOf(store: SessionStore): string {
  void store.durable.value;
  const info = live.value.find((s) => s.session_id === store.id);
  return store.settled.title || info?.title || firstWords(store) || w.value.untitled;
}

/** Returns the person's first message, for sessions without a title. */
function firstWords(store: SessionStore): string {
  const first = store.rows.get().find((r) => r.kind === "user")?.message;
  return first ? oneLine(read(first).text, 60) : "";
}

function Bar({ store, several, close }: { store: SessionStore; several: boolean; close: () => void }) {
  void store.durable.value;
  const c = store.settled;
  const t = w.value;
  const share = contextShare(c);
  const used =
    c.totals.inputTokens + c.totals.outputTokens + c.totals.cacheReadInputTokens + c.totals.cacheCreationInputTokens;
  const info = live.value.find((s) => s.session_id === store.id);
  const viewers = info?.viewers ?? 0;
  const cost = costOf(c);
  return (
    <header class="bar">
      <MenuButton />
      <StateDot dot={dotOf(c.state ?? "", c.prompts.length)} />
      <h1 class="cut" dir="auto">
        {plain(titleOf(store))}
      </h1>
      {info?.machine && <MachineChip name={info.machine} />}
      {info?.box && <span class="chip">{sayBox(info.box)}</span>}
      <span class="sp" />
      <span class="figs">
        {cost !== undefined && cost > 0 && <span title={t.costTitle}>{money(cost)}</span>}
        {used > 0 && <span class="no-p">{t.tokens(tokens(used))}</span>}
        {share !== undefined && (
          <span class={panel.value && !several ? "below-wide no-p" : "no-p"}>
            <Ring share={share} size={20} />
          </span>
        )}
        {viewers > 1 && <span class="chip no-p">{t.here(viewers)}</span>}
      </span>
      {!several && (
        <a
          class="ibtn"
          href={formatRoute({ page: "changes", id: store.id })}
          aria-label={t.changes_.open}
          title={t.changes_.open}
        >
          <Icon name="diff" />
        </a>
      )}
      {!several && <IconButton icon="share" class="no-p" label={t.share} onClick={() => void shareSession(store.id)} />}
      <SessionMenu store={store} />
      {several ? (
        <IconButton icon="x" label={t.closeSide} onClick={close} />
      ) : (
        <IconButton
          icon="panelRight"
          class="no-p"
          label={t.panel}
          pressed={narrow.value ? overlay.value : panel.value}
          onClick={() => togglePanel()}
        />
      )}
    </header>
  );
}

function Gone() {
  return (
    <div class="empty">
      <h2>{w.value.gone}</h2>
      <p>{w.value.goneNote}</p>
      <a class="btn" href="#/sessions">
        {w.value.sessions}
      </a>
    </div>
  );
}

/** Records that the visible part was read while the page has the focus. */
function Seen({ store }: { store: SessionStore }) {
  const version = store.durable.value;
  useEffect(() => {
    if (!document.hidden && route.peek().page === "session") markSeen(store.id, store.cursor?.seq ?? 0);
  }, [version]);
  return null;
}
