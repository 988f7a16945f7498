// What lies over the page when it is asked for: search, help, settings, toasts.

import { signal } from "@preact/signals";
import { dismiss, toasts, w } from "../state/app";
import { letters } from "../state/prefs";
import { Button, IconButton } from "./button";
import { Dialog, Dialogs } from "./dialog";
import { Icon } from "./icon";
import { Inspector, inspected } from "./inspector";
import { Palette } from "./palette";

export const palette = signal(false);
export const help = signal(false);

export function Overlays() {
  return (
    <>
      {palette.value && (
        <Palette
          close={() => {
            palette.value = false;
          }}
        />
      )}
      {help.value && <Help />}
      {inspected.value && <Inspector of={inspected.value} />}
      <Dialogs />
      <Toasts />
    </>
  );
}

function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((t) => (
        <div key={t.id} class={`toast${t.bad ? " bad" : ""}`}>
          <Icon name={t.bad ? "alert" : "info"} />
          <span>{t.text}</span>
          {t.action && (
            <Button
              small
              kind="ghost"
              onClick={() => {
                t.action?.run();
                dismiss(t.id);
              }}
            >
              {t.action.label}
            </Button>
          )}
          <IconButton small icon="x" label={w.value.close} onClick={() => dismiss(t.id)} />
        </div>
      ))}
    </div>
  );
}

function Help() {
  const t = w.value;
  const close = () => {
    help.value = false;
  };
  return (
    <Dialog title={t.keyboardHelp} close={close} class="wide">
      <div class="dlg-b help">
        {t.keys.map(([group, rows]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {rows.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    <Keys of={key} />
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label class="dlg-b pick">
        <input
          type="checkbox"
          checked={letters.value}
          onChange={(e) => {
            letters.value = e.currentTarget.checked;
          }}
        />
        <span>{t.lettersOn}</span>
      </label>
    </Dialog>
  );
}

function Keys({ of }: { of: string }) {
  return (
    <span class="keys">
      {of.split(" ").map((k, i) => (
        <kbd key={i}>{k}</kbd>
      ))}
    </span>
  );
}
