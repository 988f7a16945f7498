// The settings of push messages: how things stand, and what can be done about it.

import { useEffect } from "preact/hooks";
import { pushBusy, pushState, refreshPush, testPush, turnOffPush, turnOnPush } from "../state/push";
import { reach } from "../state/words.reach";
import { Button } from "./button";

export function PushSetting() {
  useEffect(() => void refreshPush(), []);
  const t = reach.value;
  const state = pushState.value;
  return (
    <>
      <dt>{t.push}</dt>
      <dd class="push" data-state={state}>
        <span role="status">{t.pushStates[state]}</span>
        {state === "off" && (
          <Button small icon="bell" busy={pushBusy.value} onClick={() => void turnOnPush()}>
            {t.pushOn}
          </Button>
        )}
        {state === "on" && (
          <>
            <Button small busy={pushBusy.value} onClick={() => void testPush()}>
              {t.pushTest}
            </Button>
            <Button small busy={pushBusy.value} onClick={() => void turnOffPush()}>
              {t.pushOff}
            </Button>
          </>
        )}
      </dd>
    </>
  );
}
