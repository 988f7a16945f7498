// Settings: what a person chooses for this browser, in groups.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { hello, w } from "../state/app";
import { density, diffView, lang, letters, notify, theme } from "../state/prefs";
import { Button, Hint } from "./button";
import { Dialog } from "./dialog";
import { askToNotify } from "./notify";
import { PushSetting } from "./pushsetting";
import { Seg } from "./segmented";
import { Storage } from "./storage";

export const settingsOpen = signal(false);

interface Group {
  title: () => string;
  Body: () => ComponentChildren;
  /** Shown to those who run the server alone. */
  admin?: boolean;
}

/** The groups of settings, in their order. Another one is added here. */
const groups: readonly Group[] = [
  { title: () => w.value.appearance, Body: Appearance },
  { title: () => w.value.notifications, Body: Notifications },
  { title: () => w.value.keyboard_, Body: Keyboard },
  { title: () => w.value.storage_.title, Body: Storage, admin: true },
  { title: () => w.value.about, Body: About },
];

export function Settings() {
  const t = w.value;
  const close = () => {
    settingsOpen.value = false;
  };
  return (
    <Dialog title={t.settings} close={close}>
      {groups.filter((g) => !g.admin || hello.value?.role === "admin").map(({ title, Body }) => (
        <section key={title()} aria-label={title()}>
          <h3 class="set-h">{title()}</h3>
          <dl class="dlg-b rows">
            <Body />
          </dl>
        </section>
      ))}
      <p class="dlg-b dim">
        {t.helpHint} <Hint of="?" />
      </p>
    </Dialog>
  );
}

/** One setting with its name. */
export function Setting({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A choice of few that is kept in a signal. */
function Choice<T extends string>(p: { name: string; of: { value: T }; options: readonly (readonly [T, string])[] }) {
  return (
    <Setting name={p.name}>
      <Seg
        label={p.name}
        value={p.of.value}
        options={p.options}
        set={(v) => {
          p.of.value = v;
        }}
      />
    </Setting>
  );
}

function Appearance() {
  const t = w.value;
  return (
    <>
      <Choice
        name={t.theme}
        of={theme}
        options={[
          ["system", t.themes.system],
          ["light", t.themes.light],
          ["dark", t.themes.dark],
        ]}
      />
      <Choice
        name={t.language}
        of={lang}
        options={[
          ["en", "English"],
          ["zh", "中文"],
        ]}
      />
      <Choice
        name={t.density}
        of={density}
        options={[
          ["comfortable", t.densities.comfortable],
          ["compact", t.densities.compact],
        ]}
      />
      <Choice
        name={t.diffViewSetting}
        of={diffView}
        options={[
          ["split", t.changes_.split],
          ["inline", t.changes_.inline],
        ]}
      />
    </>
  );
}

function Notifications() {
  const t = w.value;
  return (
    <>
      <Setting name={t.notifications}>
        <Button small icon="bell" onClick={() => void askToNotify()}>
          {notify.value ? t.notifyOn : t.notifyMe}
        </Button>
      </Setting>
      <PushSetting />
    </>
  );
}

function Keyboard() {
  const t = w.value;
  return (
    <Setting name={t.letterKeys}>
      <input
        type="checkbox"
        aria-label={t.letterKeys}
        checked={letters.value}
        onChange={(e) => {
          letters.value = e.currentTarget.checked;
        }}
      />
    </Setting>
  );
}

function About() {
  const t = w.value;
  const h = hello.value;
  return <Setting name={t.server}>{h ? `${h.name} ${h.version} · ${t.roles[h.role] ?? h.role}` : "–"}</Setting>;
}
