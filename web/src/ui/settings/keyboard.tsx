// The shortcuts, and whether single letters are shortcuts.

import { w } from "../../state/app";
import { letters } from "../../state/prefs";
import { Row, Switch } from "./row";

export function KeyboardSettings() {
  const t = w.value;
  const s = t.set_;
  return (
    <div class="set-card">
      <Row name={t.letterKeys} note={s.lettersNote}>
        <Switch
          label={t.letterKeys}
          on={letters.value}
          set={(on) => {
            letters.value = on;
          }}
        />
      </Row>
      <Row name={s.armedOnly} note={s.armedNote}>
        <span class="dim">{s.always}</span>
      </Row>
      <div class="set-row set-keys">
        {t.keys.map(([group, rows]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {rows.map(([key, what]) => (
                <div key={key}>
                  <dt>{what}</dt>
                  <dd>
                    {key.split(" ").map((k, i) => (
                      <kbd key={i}>{k}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </div>
  );
}
