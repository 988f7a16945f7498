// The dock below the conversation: current activity, open requests, the queue, the input.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { interrupt } from "../state/actions";
import { now, retryAt, status, tryCall, tryNow, w } from "../state/app";
import { armed } from "../state/arming";
import { awayFrom } from "../state/machines";
import { isBusy, phaseOf } from "../state/phase";
import { lang } from "../state/prefs";
import { capabilitiesOf } from "../state/providers";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { clock, clockTime, duration } from "../state/time";
import { promptTitle } from "../state/tools";
import { mw } from "../state/words.machines";
import { awayOf, showRequest } from "./ask/inthread";
import { Button } from "./button";
import { Composer } from "./composer/composer";
import { Queue } from "./composer/queue";
import { Icon } from "./icon";

export function Dock({ store }: { store: SessionStore }) {
  void store.durable.value;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const e = box.current;
    const host = e?.parentElement;
    if (!e || !host) return;
    // The conversation ends above the dock, which overlays it: reading does not move.
    const set = () => host.style.setProperty("--dock", `${e.offsetHeight}px`);
    const observer = new ResizeObserver(set);
    observer.observe(e);
    set();
    return () => observer.disconnect();
  }, []);
  const asks = store.settled.prompts.length > 0;
  const away = awayFrom(store.id);
  return (
    <div class={`dock${asks ? " asks" : ""}`} ref={box}>
      <div class="dock-in">
        {status.value === "open" ? (
          <>
            <Trouble store={store} />
            {away ? <OutOfReach away={away} /> : <Activity store={store} />}
          </>
        ) : (
          <Reconnecting />
        )}
        <Queue store={store} />
        <Composer store={store} />
      </div>
    </div>
  );
}

/** Replaces every phase while the connection is lost; the page stays readable and keeps messages to send. */
function Reconnecting() {
  const s = status.value;
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const id = setInterval(() => setTick((n) => n + 1), 1000);
    return () => clearInterval(id);
  }, [s]);
  void tick;
  const left = Math.max(0, Math.ceil((retryAt.value - Date.now()) / 1000));
  return (
    <div class="act" role="alert">
      <Icon name="offline" />
      <span class="strong nowrap">{w.value.reconnecting}</span>
      <span class="cut two">
        {w.value.agentGoesOn} {s === "connecting" ? "" : w.value.retryIn(left)}
      </span>
      <span class="sp" />
      <Button small onClick={tryNow}>
        {w.value.tryNow}
      </Button>
    </div>
  );
}

/** Shown while the session's machine has no link to the server: the agent's state is not current. */
function OutOfReach({ away }: { away: { machine: string; since?: number } }) {
  const t = mw.value;
  const since = away.since === undefined ? "" : clockTime(away.since, lang.value);
  return (
    <div class="act" role="status">
      <Icon name="offline" />
      <span class="strong nowrap">{t.outOfReach(plain(away.machine), since)}</span>
      <span class="cut two">{t.waitsForMachine}</span>
    </div>
  );
}

/** Shows retries of the API. Notices of the agent and the server have rows in the conversation instead. */
function Trouble({ store }: { store: SessionStore }) {
  const c = store.settled;
  const t = w.value;
  if (!c.retry || !isBusy(c)) return null;
  const { attempt, max_attempts: most, delay_ms: delay, status: code } = c.retry;
  return (
    <p class="notice lost" role="status">
      <Icon name="refresh" />
      <span>
        <b>{t.apiTrouble(code)}</b> {t.retrying(attempt, most, delay ? duration(delay, t) : "")}
      </span>
    </p>
  );
}

/** Leads to open requests if none is visible. It never answers one. */
function Away({ store }: { store: SessionStore }) {
  const t = w.value;
  const prompts = store.settled.prompts;
  const [first] = prompts;
  if (!first) return null;
  const { title, object } = promptTitle(first, t);
  return (
    <div class="act away" role="status">
      <span class="dot ask" />
      <span class="strong nowrap">{t.waitsForYou}</span>
      <span class="cut two" dir="auto">
        {prompts.length > 1 ? t.requests(prompts.length) : plain([title, object].filter((x) => x !== "").join(" "))}
      </span>
      <span class="sp" />
      <Button small icon={awayOf(store).value === "above" ? "chevronUp" : "chevronDown"} onClick={showRequest}>
        {t.showRequest}
      </Button>
    </div>
  );
}

function Activity({ store }: { store: SessionStore }) {
  const c = store.conversation;
  const t = w.value;
  if (awayOf(store).value !== "" && store.settled.prompts.length > 0) return <Away store={store} />;
  const p = phaseOf(store, now.value, t);
  if (p.kind === "idle") return null;
  const busy = isBusy(c);
  return (
    <div class="act">
      {p.kind === "waits" ? (
        <span class="dot ask" />
      ) : p.kind === "failed" ? (
        <span class="dot bad" />
      ) : busy ? (
        <span class="spin" aria-hidden="true" />
      ) : (
        <span class="dot end" />
      )}
      <span class="strong nowrap">{plain(p.text)}</span>
      <span class="cut two mono-if">{plain(p.detail)}</span>
      {p.since !== undefined && <span class="num dim">{clock(now.value - p.since)}</span>}
      <span class="sp" />
      {busy && p.kind === "running" && capabilitiesOf(store.id)?.can_run_in_background !== false && (
        <Button
          small
          kind="ghost"
          class="no-p"
          onClick={() => void tryCall("session.runInBackground", { session_id: store.id })}
        >
          {t.runInBackground}
        </Button>
      )}
      {busy && (
        <Button
          small
          icon="square"
          {...(armed.value === "" ? { hint: "Esc" } : {})}
          onClick={() => void interrupt(store.id)}
        >
          {t.stop}
        </Button>
      )}
    </div>
  );
}
