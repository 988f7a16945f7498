// Browser notifications and the count in the title of the window.

import { effect } from "@preact/signals";
import { status, w } from "../state/app";
import { fresh, inbox, promptKey, windowTitle } from "../state/inbox";
import { notify } from "../state/prefs";
import { go, type Route, route } from "../state/route";
import { live } from "../state/sessions";
import { promptTitle } from "../state/tools";
import { toast } from "../state/app";

/** Asks the browser for permission to notify. */
export async function askToNotify(): Promise<void> {
  if (notify.peek()) {
    notify.value = false;
    return;
  }
  if (typeof Notification === "undefined") return toast(w.peek().notifyUnsupported, true);
  const answer = Notification.permission === "granted" ? "granted" : await Notification.requestPermission();
  if (answer === "granted") notify.value = true;
  else toast(w.peek().notifyBlocked, true);
}

/** Follows the inbox. Call it once. */
export function watchInbox(): void {
  let known: Set<string> | undefined;
  effect(() => {
    const all = inbox.value;
    if (status.value !== "open") return;
    const before = known;
    known = new Set(all.map(promptKey));
    if (before === undefined || !notify.peek() || !document.hidden || typeof Notification === "undefined") return;
    for (const p of fresh(before, all).slice(0, 3)) {
      const { title, object } = promptTitle(p.prompt, w.peek());
      // A notification cannot show the whole request, so it only links to it.
      const n = new Notification(title, { body: object, tag: promptKey(p) });
      n.onclick = () => {
        window.focus();
        go({ page: "session", ids: [p.session_id] });
        n.close();
      };
    }
  });
  effect(() => {
    const r = route.value;
    document.title = windowTitle(inbox.value.length, pageTitle(r));
  });
}

function pageTitle(r: Route): string {
  const t = w.value;
  const named = (id: string | undefined) => live.value.find((s) => s.session_id === id)?.title ?? "";
  switch (r.page) {
    case "session":
      return named(r.ids[0]);
    case "changes":
      return [t.changes, named(r.id)].filter((x) => x !== "").join(" · ");
    case "home":
      return t.home.title;
    case "sessions":
      return t.sessions;
    case "usage":
      return t.usage_.title;
    default:
      return "";
  }
}
