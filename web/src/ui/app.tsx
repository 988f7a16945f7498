// The page as a whole.

import { useEffect } from "preact/hooks";
import { status, w } from "../state/app";
import { panel, sidebar } from "../state/prefs";
import { refreshProviders } from "../state/providers";
import { route } from "../state/route";
import { Banner, drawer, TabBar } from "./frame";
import { HomePage } from "./home";
import { NewPage } from "./new/page";
import { Overlays } from "./overlays";
import { Sidebar } from "./sidebar";
import { Late, late } from "./late";
import { SignIn } from "./signin";

const views = {
  sessions: late(() => import("./sessions").then((m) => m.SessionsPage)),
  session: late(() => import("./session").then((m) => m.SessionPage)),
  machines: late(() => import("./machines").then((m) => m.default)),
  usage: late(() => import("./usage/page").then((m) => m.UsagePage)),
  settings: late(() => import("./settings/page").then((m) => m.default)),
  changes: late(() => import("./changes/late").then((m) => m.default)),
  history: late(() => import("./history").then((m) => m.HistoryPage)),
};

/** Prefetches the most likely next view at the first input. */
function fetchSoon(): void {
  const stop = new AbortController();
  for (const event of ["keydown", "pointermove", "pointerdown"])
    addEventListener(
      event,
      () => {
        stop.abort();
        void views.session.fetch().catch(() => {}); // the view reports the error when it is shown
      },
      { signal: stop.signal, passive: true },
    );
}
fetchSoon();

export function App() {
  const r = route.value;
  useEffect(() => {
    if (status.value === "open") void refreshProviders();
  }, [status.value]);
  if (status.value === "refused") return <SignIn />;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          document.getElementById("main")?.querySelector<HTMLElement>("[tabindex='0'], textarea")?.focus();
        }}
      >
        {w.value.skipLink}
      </a>
      <div
        class={`app${sidebar.value && r.page !== "changes" ? "" : " railed"}${r.page === "session" && r.ids.length === 1 && panel.value ? " three" : ""}`}
      >
        <Sidebar />
        {drawer.value && (
          <div
            class="scrim"
            onClick={() => {
              drawer.value = false;
            }}
          />
        )}
        <div class="middle">
          <Banner />
          <Page />
        </div>
        <TabBar />
      </div>
      <Overlays />
    </>
  );
}

function Page() {
  const { page } = route.value;
  if (page === "home") return <HomePage />;
  if (page === "new") return <NewPage />;
  return <Late key={page} of={views[page]} />;
}
