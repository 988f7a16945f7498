// Previews and push messages, with a separate server and an agent that starts a web server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { begin, open, Server, sessionId, turns } from "./driver.mjs";
import { deliver, pretend } from "./push.mjs";
import { shared } from "./shared.mjs";

const { browser } = shared;
const dev = fileURLToPath(new URL("devserver.mjs", import.meta.url));
let server;

before(async () => {
  server = await new Server(undefined, undefined, ["-dev", `${process.execPath} ${dev}`]).start();
});
after(async () => {
  await server.stop();
});

/** Opens the preview of the session from the panel, as a person does. */
async function preview(page) {
  const button = page.getByRole("button", { name: /^Open the preview of port / }).first();
  const [tab] = await Promise.all([page.context().waitForEvent("page"), button.click()]);
  await tab.getByRole("heading", { name: "The agent's page" }).waitFor();
  return tab;
}

test("a previewed page cannot reach Parley's cookie, storage, window or API", async () => {
  const page = await open(browser, server);
  await begin(page, "story");
  await turns(page, 1);
  const id = sessionId(page);
  const tab = await preview(page);
  const at = new URL(tab.url());
  const base = new URL("/", server.url).href;
  assert.match(at.hostname, /^p[0-9a-f]+\.localhost$/);
  assert.equal(at.pathname, "/", "the code has left the address");
  const cookies = await page.context().cookies();
  const own = cookies.find((c) => c.name.startsWith("parley_") && !c.name.startsWith("parley_preview_"));
  const theirs = cookies.find((c) => c.name.startsWith("parley_preview_"));
  assert.ok(own?.httpOnly && theirs?.httpOnly, "both cookies are hidden from scripts");
  assert.equal(theirs.domain, at.hostname);
  assert.equal(cookies.find((c) => c.name === "wide")?.domain, at.hostname, "a cookie is for its own name alone");

  const stored = () => page.evaluate(() => localStorage.getItem("parley.theme"));
  const before = await stored();
  await tab.goto(`${at.origin}/?${new URLSearchParams({ page: base, session: id, cookie: own.name })}`);
  const report = await tab.evaluate(() => window.report);
  assert.deepEqual(report, {
    cookie: "app=1; wide=1",
    storage: "",
    opener: true,
    parent: true,
    call: "error",
    form: "error",
    read: "error",
    opaque: "error",
    events: "error",
    socket: "error",
    worker: "error",
    foreign: "error",
    frame: "closed",
    window: "error",
    toss: "tried",
  });
  const name = await page.getByRole("button", { name: /^Open the preview of port / }).first().getAttribute("aria-label");
  const seen = await tab.evaluate(async () => (await fetch("/seen")).json());
  assert.equal(seen.host, `localhost:${/\d+/.exec(name)[0]}`, "the server sees its own name");
  assert.doesNotMatch(seen.cookie, /parley/, "and no cookie of Parley");
  assert.equal(await stored(), before, "the storage of the page is its own");
  const after = (await page.context().cookies()).filter((c) => c.name === own.name && c.domain === own.domain);
  assert.deepEqual(
    after.map((c) => c.value),
    [own.value],
    "the page's cookie is as it was",
  );
  await page.reload();
  await page.locator(".dock").waitFor();
  assert.equal(await page.evaluate(async (b) => (await fetch(`${b}v1/openapi.json`)).status, base), 200);
  await page.context().close();
});

test("a preview needs its own cookie, streams pass, and two previews are two origins", async () => {
  const page = await open(browser, server);
  await begin(page, "story");
  await turns(page, 1);
  const first = await preview(page);
  assert.equal(
    await first.evaluate(
      () =>
        new Promise((done) => {
          const e = new EventSource("/stream");
          e.onmessage = (m) => {
            e.close();
            done(m.data);
          };
        }),
    ),
    "hot",
  );
  await begin(page, "story");
  await turns(page, 1);
  const second = await preview(page);
  const origin = new URL(first.url()).origin;
  assert.notEqual(new URL(second.url()).origin, origin);
  assert.equal(
    await second.evaluate(async (o) => {
      try {
        return (await fetch(`${o}/seen`, { credentials: "include" })).status;
      } catch {
        return "error";
      }
    }, origin),
    "error",
  );
  const stranger = await browser.newContext();
  const outside = await stranger.newPage();
  assert.equal((await outside.goto(`${origin}/`)).status(), 403);
  await stranger.close();
  await page.context().close();
});

test("push: turned on with a click, a message is a notification, and a click on it opens the session", async () => {
  const page = await open(browser, server, { permissions: ["notifications"], serviceWorkers: "allow" });
  await page.context().addInitScript(pretend);
  await page.reload();
  await begin(page, "story");
  await turns(page, 1);
  const id = sessionId(page);
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.getByRole("button", { name: "Settings" }).first().click();
  const setting = page.locator(".push");
  await setting.getByText("Off", { exact: true }).waitFor();
  await setting.getByRole("button", { name: "Turn on" }).click();
  await setting.getByText("This browser gets a message for questions and finished turns").waitFor();
  assert.deepEqual(await page.evaluate(() => [window.subscribed.userVisibleOnly, window.subscribed.length]), [true, 65]);

  const worker = await page.evaluate(async () => {
    const r = await navigator.serviceWorker.ready;
    return { scope: r.scope, script: r.active.scriptURL };
  });
  const base = new URL("/", server.url).href;
  assert.deepEqual(worker, { scope: base, script: `${base}sw.js` });
  const script = await page.request.get(`${base}sw.js`);
  assert.match(script.headers()["content-security-policy"], /^default-src 'none'; connect-src 'self';/);
  assert.equal(script.headers()["service-worker-allowed"], undefined);

  const shown = await deliver(page, base, { kind: "needs_answer", session_id: id, title: "Make retries safe" });
  assert.deepEqual(shown, {
    title: "Make retries safe",
    body: "The agent waits for an answer.",
    tag: id,
    data: { session: id },
    actions: [],
  });
  await page.keyboard.press("Escape");
  const [active] = page.context().serviceWorkers();
  await active.evaluate(async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  });
  await page.waitForFunction((s) => location.hash === `#/s/${s}`, id);
  await page.locator(".dock").waitFor();
  assert.equal(
    await page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).length),
    0,
    "the notification is gone",
  );

  await page.getByRole("button", { name: "Settings" }).first().click();
  await setting.getByRole("button", { name: "Turn off" }).click();
  await setting.getByText("Off", { exact: true }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
