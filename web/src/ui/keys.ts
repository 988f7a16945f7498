// Keys of the whole page. Letters act only outside of text fields, and can be switched off.

import { letters, sidebar } from "../state/prefs";
import { go, route } from "../state/route";
import { focusRequest } from "./ask/request";
import { help, palette } from "./overlays";
import { togglePanel } from "./panel";

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

let afterG = 0;

/** Follows the keys of the window. To be called once. */
export function watchKeys(): void {
  addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === "k") {
      e.preventDefault();
      palette.value = !palette.peek();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || typing(e.target) || !letters.peek()) return;
    if (document.querySelector("dialog[open]")) return;
    if (press(e.key)) e.preventDefault();
  });
}

function press(key: string): boolean {
  const g = Date.now() - afterG < 1500;
  afterG = 0;
  if (g && jump(key)) return true;
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
      const box = document.querySelector<HTMLElement>("[data-search], [data-composer]");
      box?.focus();
      return box !== null;
    }
    case "j":
    case "k":
      return move(key === "j" ? 1 : -1);
    default:
      return false;
  }
}

/** The pages that G leads to. */
function jump(key: string): boolean {
  const r = route.peek();
  if (key === "i") go({ page: "inbox" });
  else if (key === "s") go({ page: "sessions" });
  else if (key === "u") go({ page: "usage" });
  else if (key === "c" && r.page === "session" && r.ids[0]) go({ page: "changes", id: r.ids[0] });
  else return false;
  return true;
}

/** The next request, or the next row of a list. */
function move(by: number): boolean {
  if (route.peek().page === "inbox") return dispatchEvent(new CustomEvent("parley-move", { detail: by }));
  const cards = [...document.querySelectorAll<HTMLElement>("[data-request], .folded, .list tbody a, .srow")];
  const inPage = cards.filter((c) => c.matches("[data-request], .folded"));
  const list = inPage.length > 0 ? inPage : cards;
  if (list.length === 0) return false;
  const at = list.findIndex((c) => c.contains(document.activeElement));
  const next = list[(at + by + list.length) % list.length];
  if (next?.dataset["request"]) focusRequest(next.dataset["request"]);
  else if (next?.matches(".folded")) next.click();
  else next?.focus();
  return true;
}
