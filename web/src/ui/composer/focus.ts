// Keeps the focus in the input of a view, unless the person has moved it.

import { draft } from "../../state/drafts";
import { route } from "../../state/route";

/** Reports whether an element takes typed text itself. */
export function takesText(e: EventTarget | Element | null): boolean {
  if (!(e instanceof HTMLElement)) return false;
  if (e.isContentEditable || e.matches("textarea, select")) return true;
  return e.matches("input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file], [type=range])");
}

/**
 * Gives a field the focus when it is put on the page, as its ref. An arrow function in its place would be another
 * ref each time that the field is drawn, and would take the focus back from where the person went.
 */
export function takeFocus(e: HTMLElement | null): void {
  e?.focus();
}

/** Whether a key belongs to a word that an input method still composes. Safari has ended it when its Enter comes. */
export function composes(e: KeyboardEvent): boolean {
  return e.isComposing || e.keyCode === 229;
}

/** Returns the input of the view, or of the session with an id if several are side by side. */
export function inputOf(near?: Element | null, id?: string): HTMLTextAreaElement | undefined {
  const all = [...document.querySelectorAll<HTMLTextAreaElement>("[data-composer]")];
  const side = near?.closest(".centre");
  return all.find((e) => e.dataset["composer"] === id) ?? all.find((e) => side?.contains(e)) ?? all[0];
}

/** Focus opens an on-screen keyboard, so there the person has to tap. */
export function touches(): boolean {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

/** Puts the focus into the input, unless something else is being written or chosen. */
export function focusInput(id?: string): void {
  if (touches() || document.querySelector("dialog[open]")) return;
  if (takesText(document.activeElement)) return;
  inputOf(undefined, id)?.focus({ preventScroll: true });
}

/** Whether the view has an input, also before it is drawn. */
export function hasInput(): boolean {
  const { page } = route.peek();
  return page === "new" || page === "session";
}

/**
 * Moves the focus to the input in the middle of a key press, so that the browser writes the character
 * there, after the text that came before it. It returns false where the input cannot be written in yet:
 * then the draft has the text, and the browser must not write it.
 */
export function typeInto(near: Element | null, text: string, key: string): boolean {
  const box = inputOf(near);
  box?.focus({ preventScroll: true });
  if (!box || document.activeElement !== box) {
    const r = route.peek();
    const d = draft(r.page === "session" ? (r.ids[0] ?? "") : "new");
    d.text.value += text + key;
    return false;
  }
  if (text !== "") {
    box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return true;
}
