// Ctrl+F in a conversation: a field, how many rows have the text, and the way through them.

import { useEffect, useRef, useState } from "preact/hooks";
import { w } from "../state/app";
import { findRows } from "../state/find";
import type { SessionStore } from "../state/session";
import { IconButton } from "./button";
import { Icon } from "./icon";

/** A row to scroll to. Setting the same one again scrolls again. */
export interface Jump {
  key: string;
  query: string;
  n: number;
}

interface FindProps {
  store: SessionStore;
  jump: (j: Jump | undefined) => void;
  /** Loads older messages, if there are any. */
  older?: (() => void) | undefined;
}

export function FindBar({ store, jump, older }: FindProps) {
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const n = useRef(0);
  const t = w.value;
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.key.toLowerCase() !== "f") return;
      // A second press opens the browser's own search.
      if (document.activeElement === field.current || document.querySelector("dialog[open]")) return;
      e.preventDefault();
      setOpen(true);
      requestAnimationFrame(() => field.current?.select());
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  void store.version.value;
  const found = open ? findRows(store.rows.get(), query) : [];
  const show = (i: number) => {
    const key = found[i];
    setAt(i);
    if (key !== undefined) jump({ key, query: query.trim(), n: ++n.current });
  };
  // The newest match is shown first, because it was just read.
  useEffect(() => {
    if (!open) return;
    if (found.length > 0) show(found.length - 1);
    else jump(undefined);
  }, [query, open]);
  useEffect(() => {
    if (open && query.trim() !== "") older?.();
  }, [open, query, older]);
  if (!open) return null;
  const close = () => {
    setOpen(false);
    jump(undefined);
    store.version.value++;
    document.querySelector<HTMLElement>(".dock [data-composer]")?.focus();
  };
  const step = (by: number) => found.length > 0 && show((at + by + found.length) % found.length);
  return (
    <search class="findbar">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={t.find_.inConversation}
        placeholder={t.find_.inConversation}
        value={query}
        onInput={(e) => setQuery(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter") step(e.shiftKey ? 1 : -1);
          else if (e.key === "Escape") close();
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
      />
      <span class="dim num" role="status">
        {query.trim() === "" ? "" : found.length === 0 ? t.nothingFound : t.ofSteps(Math.min(at, found.length - 1) + 1, found.length)}
      </span>
      <IconButton small icon="chevronUp" label={t.find_.previous} disabled={found.length === 0} onClick={() => step(-1)} />
      <IconButton small icon="chevronDown" label={t.find_.next} disabled={found.length === 0} onClick={() => step(1)} />
      <IconButton small icon="x" label={t.close} onClick={close} />
    </search>
  );
}

/** Marks matches in the drawn text, in browsers that can do so without changing the document. */
export function highlight(box: HTMLElement, query: string): void {
  if (typeof Highlight === "undefined" || !CSS.highlights) return;
  CSS.highlights.delete("found");
  if (query === "") return;
  const ranges: Range[] = [];
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const q = query.toLowerCase();
  for (let node = walk.nextNode(); node && ranges.length < 2000; node = walk.nextNode()) {
    const text = node.nodeValue?.toLowerCase() ?? "";
    for (let i = text.indexOf(q); i >= 0; i = text.indexOf(q, i + q.length)) {
      if (i + q.length > (node.nodeValue?.length ?? 0)) break;
      const r = new Range();
      r.setStart(node, i);
      r.setEnd(node, i + q.length);
      ranges.push(r);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
