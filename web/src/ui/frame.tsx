// The frame of the page on a phone: the drawer and the tab bar; and the banner of a simulated agent.

import { signal } from "@preact/signals";
import { hello, retryAt, status, w } from "../state/app";
import { waiting } from "../state/inbox";
import { simulationShown } from "../state/providers";
import { formatRoute, route } from "../state/route";
import { IconButton } from "./button";
import { Icon } from "./icon";

export const drawer = signal(false);

/** Opens the list of sessions on a phone, and shows the number of open requests. */
export function MenuButton() {
  return (
    <IconButton
      icon="menu"
      class="only-phone"
      label={w.value.menu}
      badge={waiting.value}
      onClick={() => {
        drawer.value = true;
      }}
    />
  );
}

/** On a phone, lists have a bar of tabs below. */
export function TabBar() {
  const t = w.value;
  const page = route.value.page;
  if (page === "session" || page === "history" || page === "changes") return null;
  const tabs = [
    ["home", "home", t.home.title],
    ["sessions", "menu", t.sessions],
    ["new", "plus", t.newShort],
    ["usage", "usage", t.usage_.title],
  ] as const;
  return (
    <nav class="tabbar" aria-label={t.pages}>
      {tabs.map(([p, icon, label]) => (
        <a key={p} href={formatRoute({ page: p })} aria-current={page === p ? "page" : undefined}>
          <Icon name={icon} />
          {label}
          {p === "home" && waiting.value > 0 && <span class="count">{waiting.value}</span>}
        </a>
      ))}
    </nav>
  );
}

/** Shows that no model is asked and, on pages without a dock, that the connection is lost. */
export function Banner() {
  const r = route.value;
  const lost = status.value !== "open" && r.page !== "session" && hello.value !== undefined;
  // The page comes from the cache: the server has not answered yet.
  const kept = status.value !== "open" && hello.value === undefined && retryAt.value > 0;
  return (
    <>
      {kept && (
        <div class="banner" role="alert">
          <Icon name="offline" />
          <span>{w.value.set_.unreachable}</span>
        </div>
      )}
      {lost && (
        <div class="banner" role="alert">
          <Icon name="offline" />
          <span>
            <b>{w.value.reconnecting}</b>
          </span>
        </div>
      )}
      {simulationShown() && (
        <div class="banner" role="region" aria-label={w.value.simulated}>
          <Icon name="alert" />
          <span>
            <b>{w.value.simulated}</b> {w.value.simulatedNote}
          </span>
        </div>
      )}
    </>
  );
}
