// The beginning: theme and language, the token, the connection, the page.

import { render } from "preact";
import { start } from "./state/app";
import { signIn, socketAddress } from "./state/login";
import { keepPrefs } from "./state/prefs";
import { followRoute, formatRoute, takeToken } from "./state/route";
import { App } from "./ui/app";
import { watchKeys } from "./ui/keys";
import { watchInbox } from "./ui/notify";
import { watchViewport } from "./ui/viewport";
import "./ui/css/all.css";

async function main(): Promise<void> {
  keepPrefs(document.documentElement);
  const token = takeToken(location.hash);
  if (token !== undefined) {
    // The token leaves the address before anything else can read it there.
    history.replaceState(null, "", location.pathname + location.search);
    await signIn(token);
  }
  // A link that was shared names its session beside the token.
  const shared = new URLSearchParams(location.search).get("session");
  if (shared !== null)
    history.replaceState(null, "", location.pathname + formatRoute({ page: "session", ids: [shared] }));
  followRoute();
  watchKeys();
  watchViewport(document.documentElement);
  watchInbox();
  start(socketAddress(document.baseURI));
  const root = document.getElementById("app");
  if (root) render(<App />, root);
}

void main();
