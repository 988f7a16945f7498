// The visible size: the width, which decides where the panel is, and the height above an on-screen
// keyboard.

import { signal } from "@preact/signals";
import { panel } from "../state/prefs";

const query = "(max-width: 1199px)";

/** Whether the panel lies over the page because there is no room at its side. */
export const narrow = signal(typeof matchMedia === "function" && matchMedia(query).matches);
const wideQuery = "(min-width: 900px)";

/** Whether two columns of code fit side by side. */
export const wide = signal(typeof matchMedia === "function" && matchMedia(wideQuery).matches);
/** Whether there is one pane. */
export const phone = () => typeof matchMedia === "function" && matchMedia("(max-width: 719px)").matches;
/** Whether the panel is shown when it covers the page. */
export const overlay = signal(false);

/** Shows or hides the panel, depending on the width. */
export function togglePanel(show?: boolean): void {
  const s = narrow.peek() ? overlay : panel;
  s.value = show ?? !s.peek();
}

/** Follows the window. Call it once. */
export function watchViewport(root: HTMLElement): void {
  matchMedia(query).addEventListener("change", (e) => {
    narrow.value = e.matches;
    overlay.value = false;
  });
  matchMedia(wideQuery).addEventListener("change", (e) => {
    wide.value = e.matches;
  });
  const v = window.visualViewport;
  if (!v) return;
  const resize = () => {
    // A page that is enlarged with two fingers keeps its size.
    const keyboard = v.scale < 1.01 && window.innerHeight - v.height > 60;
    if (!keyboard) {
      root.style.removeProperty("--view-h");
      root.style.removeProperty("--view-top");
      return;
    }
    root.style.setProperty("--view-h", `${v.height}px`);
    root.style.setProperty("--view-top", `${v.offsetTop}px`);
  };
  v.addEventListener("resize", resize);
  v.addEventListener("scroll", resize);
  resize();
}
