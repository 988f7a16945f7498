// The page as a whole.

import { useEffect } from "preact/hooks";
import { status, w } from "../state/app";
import { panel, sidebar } from "../state/prefs";
import { refreshProviders } from "../state/providers";
import { route } from "../state/route";
import { Banner, drawer, TabBar } from "./frame";
import { HistoryPage } from "./history";
import { HomePage } from "./home";
import { NewPage } from "./new/page";
import { Overlays } from "./overlays";
import { SessionPage } from "./session";
import { Sidebar } from "./sidebar";
import { Late } from "./late";
import { SignIn } from "./signin";

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
  const r = route.value;
  switch (r.page) {
    case "home":
      return <HomePage />;
    case "sessions":
      return <Late key="sessions" load={() => import("./sessions").then((m) => ({ default: m.SessionsPage }))} />;
    case "session":
      return <SessionPage ids={r.ids} />;
    case "machines":
      return <Late key="machines" load={() => import("./machines")} />;
    case "usage":
      return <Late key="usage" load={() => import("./usage/page").then((m) => ({ default: m.UsagePage }))} />;
    case "settings":
      return <Late key="settings" load={() => import("./settings/page")} />;
    case "changes":
      return <Late key="changes" load={() => import("./changes/late")} />;
    case "history":
      return <HistoryPage id={r.id} message={r.message} />;
    default:
      return <NewPage />;
  }
}
