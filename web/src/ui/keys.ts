// Keyboard handling of the page. On a view with a composer, characters go to the composer; a letter answers a
// request only while that request is armed. On other views letters are shortcuts, which the settings can turn off.

import { afterAnswer } from "../state/actions";
import { armed, disarm, gap, hold, mayAnswer, mayChoose, noteCharacter, ready } from "../state/arming";
import { promptKey } from "../state/inbox";
import { letters, sidebar } from "../state/prefs";
import { go, route } from "../state/route";
import { takesClick } from "./ask/place";
import { answersOf, armRequest } from "./ask/request";
import { composes, focusInput, hasInput, takesText, typeInto } from "./composer/focus";
import { help, palette } from "./open";
import { togglePanel } from "./viewport";

/** Letters that come faster than this are a sentence, not keys. */
const sentence = 300;

let afterG = 0;
/** The focused element on which space is held down. */
let spaceOn: EventTarget | null = null;
/** Since when the focus has been where Tab moved it. */
let tabbed: number | undefined;

/** Follows the keys of the window. Call it once. */
export function watchKeys(): void {
  addEventListener(
    "keydown",
    (e) => {
      guard(e);
      if (e.key === " ") spaceOn = e.defaultPrevented || document.activeElement !== e.target ? null : e.target;
    },
    { capture: true },
  );
  addEventListener("keyup", (e) => pressedWhole(e) || stop(e), { capture: true });
  addEventListener("click", (e) => aimed(e) || stop(e), { capture: true });
  // On-screen keyboards and dictation send no key events.
  addEventListener("input", (e) => takesText(e.target) && noteCharacter(performance.now()), { capture: true });
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || command(e) || composes(e) || takesText(e.target) || !letters.peek()) return;
    if (hasInput() || document.querySelector("dialog[open]")) return;
    if (press(e.key)) e.preventDefault();
  });
  let byTab = false;
  addEventListener("keydown", (e) => (byTab = isTab(e) && !command(e)), { capture: true });
  addEventListener("pointerdown", (e) => {
    byTab = false;
    leave(e.target);
  });
  addEventListener("focusin", (e) => {
    tabbed = byTab ? performance.now() : undefined;
    leave(e.target);
  });
  addEventListener("blur", () => disarm());
  afterAnswer.push((p) => {
    disarm();
    const at = document.activeElement;
    if (at instanceof HTMLElement && cardOf(at)?.dataset["request"] === promptKey(p)) at.blur(); // a reason that was sent
    focusInput(p.session_id);
  });
}

/** Whether a key is a command. Option, Alt Gr or both keys for it write a sign on many keyboards, which is text. */
function command(e: KeyboardEvent): boolean {
  if (e.metaKey) return true;
  if (e.altKey && [...e.key].length === 1 && !/[\w ]/.test(e.key)) return false;
  return e.ctrlKey || e.altKey;
}

/** Whether a key is Tab. With Shift WebKitGTK has only its code. */
function isTab(e: KeyboardEvent): boolean {
  return e.key === "Tab" || (e.key === "Unidentified" && e.keyCode === 9);
}

/**
 * Reports whether a click was aimed at an answer. Clicks without a pointer, such as a screen reader's,
 * always are.
 */
function aimed(e: MouseEvent): boolean {
  const card = cardOf(e.target);
  return e.detail === 0 || !card || takesClick(card, e.timeStamp);
}

/** The card of the request that an element is in. */
function cardOf(e: EventTarget | null): HTMLElement | null {
  return e instanceof Element ? e.closest<HTMLElement>("[data-request]") : null;
}

/** Disarms the request when the person acts elsewhere. */
function leave(to: EventTarget | null): void {
  if (armed.peek() !== "" && cardOf(to)?.dataset["request"] !== armed.peek()) disarm();
}

/** Handles every key first: it sends typed text to the input instead of an answer. */
function guard(e: KeyboardEvent): void {
  // The time of the key press, not of its handling: on a busy page fast typing would look slow.
  const now = e.timeStamp;
  const isCharacter = [...e.key].length === 1 && !command(e);
  if (isCharacter || composes(e)) noteCharacter(now, /^\d$/.test(e.key));
  if (command(e)) {
    if (pressesEarly(e, now)) stop(e);
    else if (!e.altKey && e.key.toLowerCase() === "k") {
      e.preventDefault();
      palette.value = !palette.peek();
    }
    return;
  }
  if (composes(e) || document.querySelector("dialog[open]")) return;
  if (isTab(e) && e.shiftKey && armBefore(e.target)) {
    e.preventDefault();
    e.stopPropagation();
    return;
  }
  if (takesText(e.target)) return;
  const card = cardOf(e.target);
  if (card && armed.peek() === card.dataset["request"]) {
    if (onArmed(e, isCharacter, now)) stop(e);
    return;
  }
  const target = e.target instanceof Element ? e.target : null;
  const presses = target?.matches("button, a, summary, input") === true && (e.key === "Enter" || e.key === " ");
  if (presses && !pressesEarly(e, now)) return;
  // A view without an input has no place for a space in mid-sentence, and it must not press an answer.
  if (presses && (e.key === "Enter" || !hasInput())) return stop(e);
  // A space outside of all controls scrolls.
  if (!isCharacter || !hasInput() || (e.key === " " && !presses)) return;
  if (!typeInto(target, "", e.key)) stop(e);
  else e.stopPropagation();
}

/**
 * Reports whether a key would press an answer to which the person has not moved, or is held down.
 */
function pressesEarly(e: KeyboardEvent, now: number): boolean {
  if (e.key !== "Enter" && e.key !== " ") return false;
  const button = e.target instanceof HTMLButtonElement && cardOf(e.target) !== null;
  return button && (e.repeat || !ready(tabbed, e.key === " ", now));
}

/**
 * Whether a space that ends on an answer began there. A browser presses the button when the key is released, also after a press that was
 * not for it: one of before, which has moved the focus away, counts as well.
 */
function pressedWhole(e: KeyboardEvent): boolean {
  const began = spaceOn;
  if (e.key === " ") spaceOn = null;
  return e.key !== " " || cardOf(e.target) === null || began === e.target;
}

function stop(e: Event): void {
  e.preventDefault();
  e.stopPropagation();
}

/** Shift and Tab: from the input to the request before it, from an armed request to the one above. */
function armBefore(from: EventTarget | null): boolean {
  if (!(from instanceof HTMLElement)) return false;
  const input = from.matches("[data-composer]:not([aria-activedescendant])");
  if (!input && (armed.peek() === "" || from.dataset["request"] !== armed.peek())) return false;
  const all = [...(from.closest(".centre")?.querySelectorAll<HTMLElement>("[data-request]") ?? [])];
  const next = input ? all[all.length - 1] : all[all.indexOf(from) - 1];
  if (!next) return false;
  armRequest(next.dataset["request"] ?? "");
  return true;
}

/** Handles a key on the armed request. It returns true if the browser must ignore the key. */
function onArmed(e: KeyboardEvent, isCharacter: boolean, now: number): boolean {
  if (e.key === "Escape") {
    const [session] = armed.peek().split("/");
    disarm();
    (e.target as HTMLElement).blur();
    focusInput(session);
    return true;
  }
  if (!isCharacter && e.key !== "Enter") return false;
  if (e.repeat) return true;
  const may = mayAnswer(isCharacter, now);
  const target = e.target as HTMLElement;
  if (target.matches("button, a, summary, input") && (e.key === "Enter" || e.key === " ")) {
    if (!may && e.key === " ") hold(" ");
    return !may;
  }
  if (route.peek().page === "home" && (e.key === "j" || e.key === "k") && letters.peek()) return move(e.key);
  // With Shift it is the beginning of a sentence.
  const answer = isCharacter && !letters.peek() ? undefined : answersOf(armed.peek())[e.key];
  if (answer) {
    if (/^\d$/.test(e.key) ? mayChoose(now) : may) answer();
    if (isCharacter) hold(e.key); // a sentence that begins with it stays whole
    return true;
  }
  if (!isCharacter) return true;
  const text = disarm();
  return !hasInput() || !typeInto(target, text, e.key);
}

function press(key: string): boolean {
  const g = Date.now() - afterG < 1500;
  afterG = 0;
  if (g && jump(key)) return true;
  if (gap() < sentence) return false;
  switch (key) {
    case "g":
      afterG = Date.now();
      return true;
    case "c":
      go({ page: "new" });
      return true;
    case "?":
      help.value = true;
      return true;
    case "[":
      sidebar.value = !sidebar.peek();
      return true;
    case "]":
      togglePanel();
      return true;
    case "/": {
      const box = document.querySelector<HTMLElement>("[data-search]");
      box?.focus();
      return box !== null;
    }
    case "j":
    case "k":
      return move(key);
    default:
      return false;
  }
}

/** The pages that G leads to. */
function jump(key: string): boolean {
  if (key === "h" || key === "i") go({ page: "home" });
  else if (key === "s") go({ page: "sessions" });
  else if (key === "u") go({ page: "usage" });
  else return false;
  return true;
}

/** The next request, which is armed, or the next row of a list. */
function move(key: "j" | "k"): boolean {
  const by = key === "j" ? 1 : -1;
  if (route.peek().page === "home") return dispatchEvent(new CustomEvent("parley-move", { detail: by }));
  const list = [...document.querySelectorAll<HTMLElement>(".list tbody a, .srow")];
  if (list.length === 0) return false;
  const at = list.findIndex((c) => c.contains(document.activeElement));
  list[(at + by + list.length) % list.length]?.focus();
  return true;
}
