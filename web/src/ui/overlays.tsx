// What lies over the page when it is asked for: search, help, settings, toasts.

import { signal } from "@preact/signals";
import { dismiss, hello, toasts, w } from "../state/app";
import { lang, letters, notify, theme } from "../state/prefs";
import { Button, Hint, IconButton } from "./button";
import { Dialog, Dialogs } from "./dialog";
import { Icon } from "./icon";
import { askToNotify } from "./notify";
import { Palette } from "./palette";
import { PushSetting } from "./pushsetting";

export const palette = signal(false);
export const help = signal(false);
export const settingsOpen = signal(false);

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
      {settingsOpen.value && <Settings />}
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

function Settings() {
  const t = w.value;
  const close = () => {
    settingsOpen.value = false;
  };
  const seg = <T extends string>(
    value: T,
    all: readonly (readonly [T, string])[],
    set: (v: T) => void,
    label: string,
  ) => (
    <span class="seg" role="group" aria-label={label}>
      {all.map(([v, name]) => (
        <button key={v} type="button" aria-pressed={v === value} onClick={() => set(v)}>
          {name}
        </button>
      ))}
    </span>
  );
  return (
    <Dialog title={t.settings} close={close}>
      <dl class="dlg-b rows">
        <dt>{t.theme}</dt>
        <dd>
          {seg(
            theme.value,
            [
              ["system", t.themes.system],
              ["light", t.themes.light],
              ["dark", t.themes.dark],
            ],
            (v) => {
              theme.value = v;
            },
            t.theme,
          )}
        </dd>
        <dt>{t.language}</dt>
        <dd>
          {seg(
            lang.value,
            [
              ["en", "English"],
              ["zh", "中文"],
            ],
            (v) => {
              lang.value = v;
            },
            t.language,
          )}
        </dd>
        <dt>{t.notifications}</dt>
        <dd>
          <Button small icon="bell" onClick={() => void askToNotify()}>
            {notify.value ? t.notifyOn : t.notifyMe}
          </Button>
        </dd>
        <PushSetting />
        <dt>{t.letterKeys}</dt>
        <dd>
          <input
            type="checkbox"
            aria-label={t.letterKeys}
            checked={letters.value}
            onChange={(e) => {
              letters.value = e.currentTarget.checked;
            }}
          />
        </dd>
        <dt>{t.server}</dt>
        <dd>
          {hello.value
            ? `${hello.value.name} ${hello.value.version} · ${t.roles[hello.value.role] ?? hello.value.role}`
            : "–"}
        </dd>
      </dl>
      <p class="dlg-b dim">
        {t.helpHint} <Hint of="?" />
      </p>
    </Dialog>
  );
}
