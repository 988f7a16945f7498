// The beginning: theme and language, the token, the connection, the page.

import { render } from "preact";
import { start } from "./state/app";
import { signIn, signInWithCode, socketAddress } from "./state/login";
import { keepPrefs, lang, startPage } from "./state/prefs";
import { registerWorker } from "./state/push";
import { followRoute, formatRoute, takeCode, takeToken } from "./state/route";
import { fetchWords } from "./state/words";
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
  const code = takeCode(location.hash);
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname + location.search);
    await signInWithCode(code);
  }
  // A shared link has the session next to the token.
  const shared = new URLSearchParams(location.search).get("session");
  if (shared !== null)
    history.replaceState(null, "", location.pathname + formatRoute({ page: "session", ids: [shared] }));
  if (location.hash.length < 3 && startPage.peek() === "home") history.replaceState(null, "", formatRoute({ page: "home" }));
  await fetchWords(lang.peek()).catch(() => {}); // then English
  followRoute();
  watchKeys();
  watchViewport(document.documentElement);
  watchInbox();
  start(socketAddress(document.baseURI));
  const root = document.getElementById("app");
  if (root) render(<App />, root);
  registerWorker();
}

void main();
