// The output of a tool: text with its end first, pictures, or raw JSON.

import { useState } from "preact/hooks";
import { w } from "../../state/app";
import { plain } from "../../state/safe";
import { untag } from "../../state/tidy";
import { Dialog } from "../dialog";

const lastLines = 12;
/** More than this is never drawn at once. */
const most = 200_000;

/** ANSI sequences colour a terminal, not a page. */
export function withoutAnsi(text: string): string {
  return text.replace(
    /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f\u001b]/g,
    "",
  );
}

/** Returns the last lines of a text, and the number of lines before them. */
export function tail(text: string, lines: number): { shown: string; hidden: number } {
  const trimmed = text.replace(/\n+$/, "");
  let at = trimmed.length;
  for (let n = 0; n < lines; n++) {
    const next = trimmed.lastIndexOf("\n", at - 1);
    if (next < 0) return { shown: trimmed, hidden: 0 };
    at = next;
  }
  let hidden = 0;
  for (let i = 0; i <= at && i < trimmed.length; i++) if (trimmed.charCodeAt(i) === 10) hidden++;
  return { shown: trimmed.slice(at + 1), hidden };
}

export function Output({ text, bad, live }: { text: string; bad?: boolean; live?: boolean }) {
  const [all, setAll] = useState(false);
  const clean = untag(withoutAnsi(text.length > most ? text.slice(-most) : text));
  const { shown, hidden } = all ? { shown: clean, hidden: 0 } : tail(clean, lastLines);
  if (shown === "" && !live) return null;
  return (
    <>
      {hidden > 0 && (
        <button type="button" class="more top" onClick={() => setAll(true)}>
          {w.value.moreLines(hidden)}
        </button>
      )}
      <pre class={`out${bad ? " bad" : ""}`} tabIndex={0} dir="ltr">
        {plain(shown)}
        {live && <span class="caret" />}
      </pre>
    </>
  );
}

export function Raw({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return (
    <div class="rawbox">
      <div class="label">{label}</div>
      <pre tabIndex={0} dir="ltr">
        {plain(text.slice(0, most))}
      </pre>
    </div>
  );
}

/** Pictures, each of which opens large. */
export function Pictures({ images }: { images: { type: string; data: string }[] }) {
  const [large, setLarge] = useState<number>();
  const src = (i: { type: string; data: string }) => `data:${i.type};base64,${i.data}`;
  const shown = large === undefined ? undefined : images[large];
  return (
    <div class="pictures">
      {images.map((i, n) => (
        <button key={n} type="button" class="pic" title={w.value.openLarge} onClick={() => setLarge(n)}>
          <img src={src(i)} alt={w.value.picture(n + 1)} />
        </button>
      ))}
      {shown && (
        <Dialog class="zoom" title={w.value.picture((large ?? 0) + 1)} close={() => setLarge(undefined)}>
          <img src={src(shown)} alt={w.value.picture((large ?? 0) + 1)} />
        </Dialog>
      )}
    </div>
  );
}
