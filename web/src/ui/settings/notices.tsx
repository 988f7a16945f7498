// Notices: while the page is open, and on this device when it is closed.

import { useEffect, useReducer } from "preact/hooks";
import { hello, w } from "../../state/app";
import { notify } from "../../state/prefs";
import { changePush, pushBusy, pushEvents, pushKept, pushState, refreshPush, testPush, turnOffPush, turnOnPush } from "../../state/push";
import { reach } from "../../state/words.reach";
import { Button } from "../button";
import { askToNotify } from "../notify";
import { Row, Switch } from "./row";

export function NoticeSettings() {
  const t = w.value.set_;
  const r = reach.value;
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => void refreshPush(), []);
  const state = pushState.value;
  const kept = pushKept.value;
  const viewer = hello.value?.role === "viewer";
  return (
    <div class="set-card">
      <Row name={t.whileOpen} note={t.whileOpenNote}>
        <Switch label={t.whileOpen} on={notify.value} set={() => void askToNotify().then(() => redraw(0))} />
      </Row>
      <div class="push" data-state={state}>
        <Row name={r.push} note={<span role="status">{r.pushStates[state]}</span>}>
          {state === "off" && (
            <Button small icon="bell" busy={pushBusy.value} onClick={() => void turnOnPush()}>
              {r.pushOn}
            </Button>
          )}
          {state === "on" && (
            <>
              <Button small busy={pushBusy.value} onClick={() => void testPush()}>
                {r.pushTest}
              </Button>
              <Button small busy={pushBusy.value} onClick={() => void turnOffPush()}>
                {r.pushOff}
              </Button>
            </>
          )}
        </Row>
        {state === "on" && kept && (
          <>
            {pushEvents.map((e) => (
              <Row key={e} name={t.events[e]}>
                <Switch
                  label={t.events[e]}
                  on={kept.events.includes(e)}
                  disabled={pushBusy.value}
                  set={(on) =>
                    void changePush({ events: pushEvents.filter((x) => (x === e ? on : kept.events.includes(x))) })
                  }
                />
              </Row>
            ))}
            <Row name={t.allow} note={viewer ? t.allowViewer : t.allowNote}>
              <Switch
                label={t.allow}
                on={kept.allow}
                disabled={viewer || pushBusy.value}
                set={(allow) => void changePush({ allow })}
              />
            </Row>
          </>
        )}
      </div>
    </div>
  );
}
