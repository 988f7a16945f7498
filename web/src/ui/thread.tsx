// The conversation: a list that draws only visible rows and does not move under the reader when
// rows above grow or older ones are prepended.

import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { toast, w } from "../state/app";
import type { Row } from "../state/rows";
import type { SessionStore } from "../state/session";
import { Heights, type Range, rangeFor } from "../state/virtual";
import { lookForRequests, Requests } from "./ask/inthread";
import { Button } from "./button";
import { highlight, type Jump } from "./find";
import { Step } from "./step";
import { PendingMessage } from "./user";

interface ThreadProps {
  store: SessionStore;
  /** Loads older messages; undefined at the beginning. */
  older?: (() => void) | undefined;
  /** The key of the row that a link names: it is shown and marked. */
  target?: string | undefined;
  /** A search match: its row is shown and the words are marked. */
  jump?: Jump | undefined;
}

const over = 600;
/** The distance from the end within which the view follows it. */
const near = 48;

interface View {
  heights: Heights;
  range: Range;
  follow: boolean;
  /** The last scroll position; a smaller one is a step up. */
  top: number;
  anchor: { key: string; offset: number };
  width: number;
  seen: number;
  observed: WeakSet<Element>;
  /** The person's messages that were scrolled into view. */
  sent: Set<string>;
  /** Words are marked. */
  lit: boolean;
}

function guess(key: string): number {
  return key.includes("/") ? 72 : 96;
}

export function Thread({ store, older, target, jump }: ThreadProps) {
  const version = store.version.value;
  const waits = store.settled.prompts.length;
  const rows = store.rows.get();
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const state = useRef<View | undefined>(undefined);
  const v = (state.current ??= {
    heights: new Heights(guess),
    range: { from: 0, to: 0 },
    follow: true,
    top: 0,
    anchor: { key: "", offset: 0 },
    width: 0,
    seen: 0,
    observed: new WeakSet(),
    sent: new Set(),
    lit: false,
  });
  // A person's new message is scrolled into view from any position.
  const pad = store.sending.value;
  if (pad.some((m) => !v.sent.has(m.id))) v.follow = true;
  for (const m of pad) v.sent.add(m.id);
  v.heights.setRows(rows, store.rows.same);
  const el = box.current;
  if (el && v.follow) v.range = rangeFor(v.heights, v.heights.total - el.clientHeight, el.clientHeight, over);
  else if (el) {
    const top = anchoredTop(v) ?? el.scrollTop;
    v.range = rangeFor(v.heights, top, el.clientHeight, over);
  } else v.range = { from: Math.max(0, rows.length - 30), to: rows.length };

  const observer = useRows(box, v, redraw);
  useLayoutEffect(() => {
    const e = box.current;
    if (!e) return;
    settle(e, v, observer);
    if (jump || v.lit) highlight(e, jump?.query ?? "");
    v.lit = jump !== undefined;
    if (v.follow) v.seen = rows.length;
    lookForRequests(store, e);
  });
  useScroll(box, v, redraw, () => box.current && lookForRequests(store, box.current), older);
  useEffect(() => {
    if (!jump) return;
    v.follow = false;
    v.anchor = { key: jump.key, offset: -80 };
    redraw(0);
  }, [jump?.n]);
  const named = target && rows.find((r) => r.key === target || r.block?.uuid === target)?.key;
  useTarget(v, named ?? target, rows, older, () => redraw(0));

  const { from, to } = v.range;
  const fresh = !v.follow && rows.length > v.seen;
  void version;
  void waits;
  return (
    <>
      <div class="scroll" ref={box} tabIndex={0} role="log" aria-live="off" aria-label={w.value.conversation}>
        <div class="thread">
          <div class="space" style={{ height: `${v.heights.top(from)}px` }} />
          {rows.slice(from, to).map((r, i) => (
            <Slot key={r.key} row={r} at={from + i} store={store} marked={r.key === (jump?.key ?? named)} />
          ))}
          <div class="space" style={{ height: `${Math.max(0, v.heights.total - v.heights.top(to))}px` }} />
          <Requests store={store} />
          {pad.map((m) => (
            <PendingMessage key={m.id} m={m} store={store} />
          ))}
        </div>
      </div>
      {!v.follow && (
        <div class="below">
          <Button
            small
            icon="chevronDown"
            onClick={() => {
              v.follow = true;
              redraw(0);
            }}
          >
            {fresh ? w.value.newBelow : w.value.toEnd}
          </Button>
        </div>
      )}
    </>
  );
}

interface SlotProps {
  row: Row;
  at: number;
  store: SessionStore;
  marked: boolean;
}

/** A row is drawn again when it was replaced; changes inside of it are drawn by its signals. */
const Slot = memo(function Slot({ row, at, store, marked }: SlotProps) {
  return (
    <div class={`slot${marked ? " marked" : ""}`} data-at={at} data-key={row.key} data-kind={row.kind}>
      <Step row={row} store={store} />
    </div>
  );
});

/** Returns the scroll position at which the anchor row stays where it was. */
function anchoredTop(v: View): number | undefined {
  const i = v.heights.indexOf(v.anchor.key);
  return i < 0 ? undefined : Math.max(0, v.heights.top(i) + v.anchor.offset);
}

/** Measures the drawn rows and scrolls to the reader's position. */
function settle(e: HTMLElement, v: View, observer: ResizeObserver | null): void {
  for (const slot of e.querySelectorAll<HTMLElement>(".slot")) {
    v.heights.measure(Number(slot.dataset["at"]), slot.getBoundingClientRect().height);
    if (v.observed.has(slot)) continue;
    v.observed.add(slot);
    observer?.observe(slot);
  }
  const first = e.querySelector<HTMLElement>(".space");
  if (first) first.style.height = `${v.heights.top(v.range.from)}px`;
  const top = v.follow ? e.scrollHeight - e.clientHeight : anchoredTop(v);
  if (top !== undefined && Math.abs(e.scrollTop - top) > 1) e.scrollTop = top;
  v.top = e.scrollTop;
}

/** Draws again when a row changes its height by itself: a fold, a picture, the width. */
function useRows(box: { current: HTMLElement | null }, v: View, redraw: (n: number) => void): ResizeObserver | null {
  const observer = useRef<ResizeObserver | null>(null);
  if (observer.current === null && typeof ResizeObserver !== "undefined") {
    observer.current = new ResizeObserver((entries) => {
      const changed = entries.some((e) => {
        const slot = e.target as HTMLElement;
        return Math.abs(v.heights.height(Number(slot.dataset["at"])) - slot.getBoundingClientRect().height) > 0.5;
      });
      if (changed) redraw(0);
    });
  }
  useEffect(() => () => observer.current?.disconnect(), []);
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const frame = new ResizeObserver(() => {
      if (v.width !== 0 && Math.abs(v.width - e.clientWidth) > 1) v.heights.forget();
      v.width = e.clientWidth;
      redraw(0);
    });
    frame.observe(e);
    const thread = e.firstElementChild;
    // The dock over the end is a padding of it, which the border box has.
    if (thread) frame.observe(thread, { box: "border-box" });
    return () => frame.disconnect();
  }, []);
  return observer.current;
}

/** How many older pages are asked for to find the message of a link. */
const mostPages = 25;

/** Scrolls once to the row that a link names, and shows a message if it is missing. */
function useTarget(
  v: View,
  target: string | undefined,
  rows: readonly Row[],
  older: (() => void) | undefined,
  redraw: () => void,
): void {
  const state = useRef({ target: "", pages: 0 });
  useEffect(() => {
    const s = state.current;
    if (target === undefined || s.target === target || rows.length === 0) return;
    if (rows.some((r) => r.key === target)) {
      s.target = target;
      v.follow = false;
      v.anchor = { key: target, offset: -80 };
      return redraw();
    }
    if (older && s.pages++ < mostPages) return older();
    s.target = target;
    toast(w.peek().link.gone, true);
  }, [target, rows.length]);
}

function useScroll(
  box: { current: HTMLElement | null },
  v: View,
  redraw: (n: number) => void,
  moved: () => void,
  older?: () => void,
): void {
  const load = useRef(older);
  load.current = older;
  const look = useRef(moved);
  look.current = moved;
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const onScroll = () => {
      const was = v.follow;
      // A loaded picture moves the end, which is not a scroll of the reader.
      if (e.scrollHeight - e.scrollTop - e.clientHeight < near) v.follow = true;
      else if (e.scrollTop < v.top) v.follow = false;
      v.top = e.scrollTop;
      const i = v.heights.at(e.scrollTop);
      v.anchor = { key: v.heights.keyAt(i), offset: e.scrollTop - v.heights.top(i) };
      if (e.scrollTop < 400) load.current?.();
      look.current();
      const want = rangeFor(v.heights, e.scrollTop, e.clientHeight, over / 2);
      if (was !== v.follow || want.from < v.range.from || want.to > v.range.to) redraw(0);
    };
    // A wheel or key upward while text streams in means: stay here.
    const onWheel = (ev: WheelEvent) => {
      if (ev.deltaY < 0 && e.scrollTop > 0) v.follow = false;
    };
    e.addEventListener("scroll", onScroll, { passive: true });
    e.addEventListener("wheel", onWheel, { passive: true });
    return () => {
      e.removeEventListener("scroll", onScroll);
      e.removeEventListener("wheel", onWheel);
    };
  }, []);
}
