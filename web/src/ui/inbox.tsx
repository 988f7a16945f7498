// Everything that waits for a person, in all sessions, with the whole request beside it.

import { useEffect, useRef } from "preact/hooks";
import type { PendingPrompt } from "../rpc/service";
import { now, w } from "../state/app";
import { answered, inbox, promptKey } from "../state/inbox";
import { lang, notify } from "../state/prefs";
import { go, route } from "../state/route";
import { plain } from "../state/safe";
import { firstWords, live } from "../state/sessions";
import { age } from "../state/time";
import { promptTitle } from "../state/tools";
import { armRequest, RequestCard } from "./ask/request";
import { Button, Hint } from "./button";
import { MenuButton } from "./frame";
import { Icon } from "./icon";
import { askToNotify } from "./notify";

function sessionName(id: string): string {
  const s = live.value.find((x) => x.session_id === id);
  return s?.title || firstWords.value.get(id) || w.value.untitled;
}

export function InboxPage() {
  const t = w.value;
  const r = route.value;
  const all = inbox.value;
  const wanted = r.page === "inbox" ? r.request : undefined;
  const current = all.find((p) => promptKey(p) === wanted) ?? all[0];
  const stopped = live.value.filter((s) => s.state === "failed" || s.state === "lost_host");
  // The card of another request is drawn when the address has changed.
  const toArm = useRef("");
  const shown = current ? promptKey(current) : "";
  const armNow = () => {
    if (toArm.current === shown && shown !== "") armRequest(shown);
    toArm.current = "";
  };
  useEffect(armNow, [shown]);
  useEffect(() => {
    const move = (e: Event) => {
      const by = (e as CustomEvent<number>).detail;
      const i = current ? all.indexOf(current) : -1;
      const next = all[Math.max(0, Math.min(all.length - 1, i + by))];
      if (!next) return;
      go({ page: "inbox", request: promptKey(next) });
      toArm.current = promptKey(next);
      if (next === current) armNow();
    };
    addEventListener("parley-move", move);
    return () => removeEventListener("parley-move", move);
  });
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{t.inbox}</h1>
        {all.length > 0 && <span class="chip warn">{t.waitingN(all.length)}</span>}
        <span class="sp" />
        <span class="keyhints no-p">
          <Hint of="J K" /> {t.move}
        </span>
        <Button icon="bell" small onClick={() => void askToNotify()}>
          {notify.value ? t.notifyOn : t.notifyMe}
        </Button>
      </header>
      <div class="two-col">
        <div class="scroll" tabIndex={0} role="group" aria-label={t.inbox}>
          <h2 class="lh">{t.waitingForYou}</h2>
          {all.length === 0 && <p class="empty-line">{t.nothingWaits}</p>}
          {all.map((p) => (
            <Row key={promptKey(p)} p={p} current={p === current} />
          ))}
          {stopped.length > 0 && <h2 class="lh">{t.stoppedGroup}</h2>}
          {stopped.map((s) => (
            <a class="irow" key={s.session_id} href={`#/s/${encodeURIComponent(s.session_id)}`}>
              <span class="badge bad">
                <Icon name="alert" />
              </span>
              <span class="l1">{plain(s.title || t.untitled)}</span>
              <span class="l2">{t.states[s.state] ?? s.state}</span>
              <span class="age">{age(s.updated_at, now.value, t, lang.value)}</span>
            </a>
          ))}
          {answered.value.length > 0 && <h2 class="lh">{t.answeredGroup}</h2>}
          {answered.value.map((a) => {
            const { title, object } = promptTitle(a.prompt.prompt, t);
            return (
              <div class="irow done" key={promptKey(a.prompt)}>
                <span class="badge">
                  <Icon name={a.behavior === "allow" || a.behavior === "accept" ? "check" : "x"} />
                </span>
                <span class="l1">
                  {plain(title)} <code class="cut">{plain(object)}</code>
                </span>
                <span class="l2">
                  {plain(sessionName(a.prompt.session_id))} · {t.decided(a.behavior, a.by)}
                </span>
                <span class="age">{age(new Date(a.at).toISOString(), now.value, t, lang.value)}</span>
              </div>
            );
          })}
        </div>
        {current && (
          <div class="scroll detail" tabIndex={0} role="group" aria-label={t.request}>
            <p class="pad">
              <a href={`#/s/${encodeURIComponent(current.session_id)}`}>
                {t.openSession}: {plain(sessionName(current.session_id))}
              </a>
            </p>
            <RequestCard key={promptKey(current)} prompt={current} active />
          </div>
        )}
      </div>
    </main>
  );
}

function Row({ p, current }: { p: PendingPrompt; current: boolean }) {
  const t = w.value;
  const { icon, title, object } = promptTitle(p.prompt, t);
  return (
    <a
      class={`irow${current ? " sel" : ""}`}
      href={`#/inbox/${encodeURIComponent(promptKey(p))}`}
      aria-current={current ? "true" : undefined}
    >
      <span class="badge">
        <Icon name={icon} />
      </span>
      <span class="l1" dir="auto">
        {plain(title)} {object !== "" && <code class="cut">{plain(object)}</code>}
      </span>
      <span class="l2">{plain(sessionName(p.session_id))}</span>
      <span class="age">{age(p.asked_at, now.value, t, lang.value)}</span>
    </a>
  );
}
