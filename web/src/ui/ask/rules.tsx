// The rules to keep with an answer: a row for each suggestion, all off at first, each with a scope. On a phone it
// is a sheet.

import { w } from "../../state/app";
import { type Choice, coverage, type Scope, scopes } from "../../state/rules";
import { plain } from "../../state/safe";
import { Button } from "../button";

interface RulesProps {
  all: readonly Choice[];
  chosen: ReadonlyMap<string, Scope>;
  setChosen: (m: ReadonlyMap<string, Scope>) => void;
  close: () => void;
  keep: () => void;
}

export function Rules({ all, chosen, setChosen, close, keep }: RulesProps) {
  const t = w.value;
  const toggle = (c: Choice, on: boolean) => {
    const next = new Map(chosen);
    if (on) next.set(c.id, c.scope);
    else next.delete(c.id);
    setChosen(next);
  };
  return (
    <fieldset class="rules">
      <legend>{t.ask.chooseKeep}</legend>
      {all.map((c) => (
        <Rule
          key={c.id}
          choice={c}
          scope={chosen.get(c.id)}
          toggle={(on) => toggle(c, on)}
          setScope={(s) => setChosen(new Map(chosen).set(c.id, s))}
        />
      ))}
      <div class="acts p-only">
        <Button kind="primary" onClick={keep} disabled={chosen.size === 0}>
          {t.ask.keep(chosen.size)}
        </Button>
        <Button onClick={close}>{t.cancel}</Button>
      </div>
    </fieldset>
  );
}

interface RuleProps {
  choice: Choice;
  scope: Scope | undefined;
  toggle: (on: boolean) => void;
  setScope: (s: Scope) => void;
}

function Rule({ choice: c, scope, toggle, setScope }: RuleProps) {
  const t = w.value;
  const known = scopes.includes(c.scope) ? scopes : [...scopes, c.scope];
  return (
    <div class={`rule${scope === undefined ? "" : " on"}`}>
      <label class="pick">
        <input type="checkbox" checked={scope !== undefined} onChange={(e) => toggle(e.currentTarget.checked)} />
        <span>
          <span class="mono">{plain(c.kind === "mode" ? (t.modes[c.text] ?? c.text) : c.text)}</span>
          <small>{say(c)}</small>
        </span>
      </label>
      <select
        class="inp sm"
        aria-label={t.ask.scopeOf(c.text)}
        value={scope ?? c.scope}
        onChange={(e) => setScope(e.currentTarget.value)}
      >
        {known.map((s) => (
          <option key={s} value={s}>
            {t.scopes[s] ?? s}
          </option>
        ))}
      </select>
    </div>
  );
}

function say(c: Choice): string {
  const t = w.value.ask;
  if (c.kind === "mode") return c.text === "acceptEdits" ? t.acceptsEdits : t.changesMode;
  if (c.kind === "directory") return t.addsDirectory;
  if (c.kind === "other") return "";
  const { kind, what } = coverage(c.text);
  const prefix = c.behavior === "deny" ? t.alwaysDenies : c.behavior === "ask" ? t.alwaysAsks : "";
  return (
    prefix +
    (kind === "all" ? t.coversAll(plain(what)) : kind === "prefix" ? t.coversPrefix(plain(what)) : t.coversExact)
  );
}
