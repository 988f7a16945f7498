// Add context: one of the nine kinds, or a picture.

import { useState } from "preact/hooks";
import type { Obj } from "../../fold/json";
import { w } from "../../state/app";
import { asks, type ContextKind, type FieldName, makeContext } from "../../state/contexts";
import { plain } from "../../state/safe";
import { searchFiles, type Where } from "../../state/where";
import { Button } from "../button";
import { Dialog } from "../dialog";
import { Icon } from "../icon";
import { kindIcon } from "./tags";

const kinds: ContextKind[] = [
  "file",
  "folder",
  "symbol",
  "web",
  "selection",
  "terminal",
  "problems",
  "git",
  "workspace",
  "image",
];

interface AddProps {
  where: Where;
  add: (c: Obj) => void;
  take: (files: readonly File[]) => Promise<void>;
  close: () => void;
}

export function AddContext({ where, add, take, close }: AddProps) {
  const [kind, setKind] = useState<ContextKind>("file");
  const [values, setValues] = useState<Partial<Record<FieldName, string>>>({});
  const t = w.value;
  const made = makeContext(kind, values);
  const done = () => {
    if (!made) return;
    add(made);
    close();
  };
  return (
    <Dialog title={t.addContext} close={close} class="addctx">
      <div class="dlg-b kinds">
        <div role="radiogroup" aria-label={t.contextKind} class="kindlist">
          {kinds.map((k) => (
            <button
              key={k}
              type="button"
              role="radio"
              aria-checked={k === kind}
              class="kind"
              onClick={() => {
                setKind(k);
                setValues({});
              }}
            >
              <Icon name={kindIcon(k)} />
              {t.contexts[k]}
            </button>
          ))}
        </div>
        <form
          class="kindform"
          onSubmit={(e) => {
            e.preventDefault();
            done();
          }}
        >
          {kind === "workspace" && <p class="dim">{t.contextNotes.workspace}</p>}
          {kind === "image" ? (
            <label class="field">
              <span class="l">{t.chooseFile}</span>
              <input
                type="file"
                accept="image/png,image/jpeg,image/gif,image/webp"
                multiple
                onChange={(e) => void take([...(e.currentTarget.files ?? [])]).then(close)}
              />
            </label>
          ) : (
            asks[kind].map((f) => (
              <AskField
                key={`${kind}${f}`}
                kind={kind}
                name={f}
                value={values[f] ?? ""}
                where={where}
                set={(v) => setValues({ ...values, [f]: v })}
              />
            ))
          )}
          {kind !== "image" && (
            <div class="acts end">
              <button type="submit" class="btn primary" disabled={!made}>
                {t.add}
              </button>
              <Button kind="ghost" onClick={close}>
                {t.cancel}
              </Button>
            </div>
          )}
        </form>
      </div>
    </Dialog>
  );
}

interface AskFieldProps {
  kind: ContextKind;
  name: FieldName;
  value: string;
  where: Where;
  set: (v: string) => void;
}

function AskField({ kind, name, value, where, set }: AskFieldProps) {
  const [found, setFound] = useState<readonly string[]>([]);
  const id = `ctx-${name}`;
  const onInput = (v: string) => {
    set(v);
    if (name !== "path") return;
    void searchFiles(where, v, 12).then((all) =>
      setFound(all.filter((f) => (f.is_dir === true) === (kind === "folder")).map((f) => f.path)),
    );
  };
  return (
    <div class="field">
      <label for={id}>{w.value.contextFields[name]}</label>
      {name === "content" ? (
        <textarea id={id} class="inp mono" rows={6} value={value} onInput={(e) => onInput(e.currentTarget.value)} />
      ) : (
        <input
          id={id}
          class="inp"
          value={value}
          list={name === "path" ? "ctx-paths" : undefined}
          onInput={(e) => onInput(e.currentTarget.value)}
        />
      )}
      {name === "path" && (
        <datalist id="ctx-paths">
          {found.map((f) => (
            <option key={f} value={f}>
              {plain(f)}
            </option>
          ))}
        </datalist>
      )}
    </div>
  );
}
