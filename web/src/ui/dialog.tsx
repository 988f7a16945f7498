// Dialogs: the browser's own element, which keeps the focus inside and closes with Esc.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { w } from "../state/app";
import { plain } from "../state/safe";
import { Button, IconButton } from "./button";

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
  class?: string;
}

export function Dialog({ title, close, children, class: extra = "" }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(); // not the button that closes it
    // It belongs to the view that it was opened in.
    const leave = () => latest.current();
    addEventListener("hashchange", leave);
    return () => {
      removeEventListener("hashchange", leave);
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={extra}
      aria-label={title}
      onClose={close}
      onClick={(e) => e.target === ref.current && close()}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <div class="dlg">
        <header class="dlg-h">
          <h2>{title}</h2>
          <IconButton icon="x" label={w.value.close} onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Ask {
  title: string;
  text?: string;
  list?: readonly string[];
  ok: string;
  danger?: boolean;
  /** A text to enter, with its initial value. */
  input?: { label: string; value: string };
}

interface Open extends Ask {
  resolve: (v: string | undefined) => void;
}

const current = signal<Open | undefined>(undefined);

/** Asks for confirmation. */
export async function confirm(a: Ask): Promise<boolean> {
  return (await ask(a)) !== undefined;
}

/** Asks for a text; undefined if cancelled. */
export function ask(a: Ask): Promise<string | undefined> {
  current.peek()?.resolve(undefined);
  return new Promise((resolve) => {
    current.value = { ...a, resolve };
  });
}

export function Dialogs() {
  const a = current.value;
  return a ? <AskDialog key={a.title} a={a} /> : null;
}

function AskDialog({ a }: { a: Open }) {
  const [value, setValue] = useState(a.input?.value ?? "");
  const done = (v: string | undefined) => {
    current.value = undefined;
    a.resolve(v);
  };
  return (
    <Dialog title={a.title} close={() => done(undefined)}>
      <form
        class="dlg-b"
        onSubmit={(e) => {
          e.preventDefault();
          done(value);
        }}
      >
        {a.text && <p>{a.text}</p>}
        {a.list && a.list.length > 0 && (
          <ul class="paths">
            {a.list.slice(0, 50).map((f) => (
              <li key={f} class="mono">
                {plain(f)}
              </li>
            ))}
          </ul>
        )}
        {a.input && (
          <div class="field">
            <label for="dlg-input">{a.input.label}</label>
            <input id="dlg-input" class="inp" value={value} onInput={(e) => setValue(e.currentTarget.value)} />
          </div>
        )}
        <div class="acts end">
          <Button kind="ghost" onClick={() => done(undefined)}>
            {w.value.cancel}
          </Button>
          <button type="submit" class={`btn ${a.danger ? "danger" : "primary"}`}>
            {a.ok}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
