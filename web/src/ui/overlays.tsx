// Overlays of the page: search, help, settings, toasts.

import { useLayoutEffect, useRef } from "preact/hooks";
import { dismiss, toasts, w } from "../state/app";
import { letters } from "../state/prefs";
import { Button, IconButton } from "./button";
import { Dialog, Dialogs } from "./dialog";
import { Icon } from "./icon";
import { Inspector, inspected } from "./inspector";
import { help, palette } from "./open";
import { Palette } from "./palette";

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
      {inspected.value && <Inspector of={inspected.value} />}
      <Dialogs />
      <Toasts />
    </>
  );
}

/** Distance from the top, in pixels, of toasts without room at the bottom: below the bar. */
const belowBar = 64;

/** Places toasts above the dock or footer of a page, at the top, or between: where they cover the fewest fields. */
function placeToasts(box: HTMLElement): void {
  const feet = [...document.querySelectorAll(".dock, .commit, .tabs")].map((e) => e.getBoundingClientRect());
  const low = Math.min(innerHeight, ...feet.filter((r) => r.height > 0 && r.top > 0).map((r) => r.top)) - 8;
  const { left, right, height } = box.getBoundingClientRect();
  const fields = [...document.querySelectorAll<HTMLElement>("input, textarea, select")]
    .filter((e) => e !== document.activeElement)
    .map((e) => e.getBoundingClientRect())
    .filter((r) => r.width > 1 && r.left < right && r.right > left);
  const focus = document.activeElement?.matches("input, textarea") ? document.activeElement.getBoundingClientRect() : undefined;
  const lies = (top: number, r: DOMRect) => r.top < top + height && r.bottom > top && r.left < right && r.right > left;
  const cost = (top: number) => fields.filter((r) => lies(top, r)).length + (focus && lies(top, focus) ? 100 : 0);
  // The end of each field is a place as well.
  const places = [low - height, belowBar, ...fields.flatMap((r) => [r.top - height - 4, r.bottom + 4])];
  let best = low - height;
  for (const top of places) if (top >= belowBar && top + height <= low && cost(top) < cost(best)) best = top;
  box.style.bottom = "auto";
  box.style.top = `${best}px`;
}

function Toasts() {
  const box = useRef<HTMLDivElement>(null);
  const shown = toasts.value.length > 0;
  useLayoutEffect(() => {
    const e = box.current;
    if (!e || !shown) return;
    const place = () => placeToasts(e);
    place();
    const observer = new ResizeObserver(place);
    for (const foot of document.querySelectorAll(".dock, .commit")) observer.observe(foot);
    addEventListener("resize", place);
    addEventListener("focusin", place);
    const again = setInterval(place, 200); // a footer that is replaced is not observed
    return () => {
      observer.disconnect();
      clearInterval(again);
      removeEventListener("resize", place);
      removeEventListener("focusin", place);
    };
  }, [shown, toasts.value]);
  return (
    <div class="toasts" ref={box} role="status" aria-live="polite">
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
