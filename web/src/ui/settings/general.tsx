// Settings of this browser: theme, language, density, changes, first page.

import { w } from "../../state/app";
import { density, diffView, lang, startPage, theme } from "../../state/prefs";
import { Seg } from "../segmented";
import { Row } from "./row";

interface ChoiceProps<T extends string> {
  name: string;
  note?: string;
  of: { value: T };
  options: readonly (readonly [T, string])[];
}

/** A choice of few that is kept in a signal. */
function Choice<T extends string>({ name, note, of, options }: ChoiceProps<T>) {
  return (
    <Row name={name} note={note}>
      <Seg
        label={name}
        value={of.value}
        options={options}
        set={(v) => {
          of.value = v;
        }}
      />
    </Row>
  );
}

export function General() {
  const t = w.value;
  const s = t.set_;
  return (
    <div class="set-card">
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
        note={s.densityNote}
        of={density}
        options={[
          ["comfortable", t.densities.comfortable],
          ["compact", t.densities.compact],
        ]}
      />
      <Choice
        name={t.diffViewSetting}
        note={s.diffNote}
        of={diffView}
        options={[
          ["split", t.changes_.split],
          ["inline", t.changes_.inline],
        ]}
      />
      <Choice
        name={s.startPage}
        note={s.startNote}
        of={startPage}
        options={[
          ["new", t.newSession],
          ["home", t.home.title],
        ]}
      />
    </div>
  );
}
