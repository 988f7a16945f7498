// The base of the suite: a separate server, a browser, and functions for actions of a person.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

// Chromium reads the last list alone, so it repeats Playwright's. Then come what each new window and tab of a whole browser
// starts beside the page: a third of all processor time.
const withoutFeatures = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",

  "SpareRendererForSitePerProcess",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "PreloadTopChromeWebUI",
];

const flags = [
  `--disable-features=${withoutFeatures}`,
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--force-color-profile=srgb",
];

export const browserPath = process.env.PARLEY_CHROMIUM ?? "/usr/bin/chromium";

export function launch() {
  return chromium.launch({ executablePath: browserPath, args: flags });
}

export const soak = process.env.PARLEY_SOAK === "1";

/** Skips a test that repeats others in another setting, except in make soak. */
export const sampled = !soak && "only with PARLEY_SOAK=1: other tests check the same in another setting";

const testdata = (name) => fileURLToPath(new URL(`../../../testdata/${name}`, import.meta.url));
const recordings = [
  "-codex-corpus",
  process.env.PARLEY_CODEX_CORPUS ?? ["codex/0.166.0", "codex/0.144.6"].map(testdata).join(","),
  "-acp-corpus",
  process.env.PARLEY_ACP_AGENTS_CORPUS ?? testdata("acp-agents"),
];

/** A server in its own directory. It ends with its standard input, so also with this process, which does not wait for one that a failed test left. */
export class Server {
  constructor(dir, addr, more = []) {
    this.own = dir === undefined;
    this.dir = dir ?? mkdtempSync(join(tmpdir(), "parley-web-"));
    this.addr = addr ?? "127.0.0.1:0";
    this.more = more;
  }

  async start() {
    const binary = process.env.PARLEY_WEBSERVER;
    if (!binary) throw new Error("PARLEY_WEBSERVER is not set; run scripts/test-web");
    const args = ["-dir", this.dir, "-addr", this.addr, "-corpus", process.env.PARLEY_WIRE_CORPUS ?? "", ...recordings, ...this.more];
    this.process = spawn(binary, args, {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env.PATH, HOME: this.dir, TMPDIR: tmpdir() },
    });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    const lines = createInterface({ input: this.process.stdout });
    this.url = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      this.process.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    this.addr = new URL(this.url).host;
    for (const held of this.held()) held.unref();
    return this;
  }

  held() {
    return [this.process, this.process.stdin, this.process.stdout];
  }

  /** Kills it without notice, like a crash. */
  async kill() {
    this.process.ref();
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async stop() {
    this.process.ref();
    this.process.stdin.end();
    await this.ended;
    if (this.own) rmSync(this.dir, { recursive: true, force: true });
  }
}

const script = fileURLToPath(new URL("claude.script.json", import.meta.url));

/** Returns the server's settings for offering the real CLI too. */
export const withCLI = () => {
  const cli = process.env.PARLEY_CLI;
  if (!cli) throw new Error("PARLEY_CLI is not set; run scripts/test-web");
  return ["-cli", cli, "-script", script];
};

/** Serves the page of a folder, such as web/dist/page, in place of the embedded one: a page that was built is tried without a build of the server. */
const fromFolder = (dir) => async (route) => {
  const { pathname } = new URL(route.request().url());
  const file = join(dir, pathname === "/" ? "index.html" : pathname);
  if (!existsSync(file)) return route.fallback();
  const embedded = await route.fetch({ url: new URL("/", route.request().url()).href });
  const { "content-security-policy": policy = "" } = embedded.headers();
  await route.fulfill({ path: file, headers: { "content-security-policy": policy } });
};

/** Opens a signed-in page in a separate context that records every error in it. */
export async function open(browser, server, options = {}) {
  // The service worker has separate tests; here it would answer requests that the tests observe.
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    serviceWorkers: "block",
    reducedMotion: "reduce", // a spinner in motion is drawn 60 times a second
    ...options,
  });
  await context.addInitScript(() => {
    window.parleyTest = (t) => {
      window.parleyTest = t;
    };
  });
  if (process.env.PARLEY_PAGE) {
    await context.route("**", fromFolder(process.env.PARLEY_PAGE));
    await context.grantPermissions(["local-network-access"]); // a fulfilled request does not count as one of the loopback network
  }
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.faults = [];
  page.hosts = new Set();
  page.on("console", (m) => {
    const blocked = m.text().includes("Service Worker registration blocked by Playwright");
    if ((m.type() === "error" || m.type() === "warning") && !blocked) page.faults.push(m.text());
  });
  page.on("pageerror", (e) => page.faults.push(String(e)));
  page.on("request", (r) => page.hosts.add(new URL(r.url()).host));
  const wait = page.waitForFunction.bind(page);
  page.waitForFunction = (f, ...rest) => {
    // A promise is truthy, so such a wait would end at once.
    if (Object.prototype.toString.call(f) === "[object AsyncFunction]") throw new Error("use eventually");
    return wait(f, ...rest);
  };
  await page.goto(options.url ?? server.url);
  await page.waitForSelector("[data-composer]");
  return page;
}

/** Starts a session with its first message, from the page for a new one. */
export async function begin(page, text) {
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  const box = page.locator(".hero [data-composer]");
  await box.fill(text);
  await box.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/s/"));
  await page.locator(".dock").waitFor();
}

export async function say(page, text) {
  const box = page.locator(".dock [data-composer]");
  await box.fill(text);
  await box.press("Enter");
}

/** Arms the last request of a session, and waits until its keys act. */
export async function arm(page) {
  await page.locator(".ask-card").last().waitFor();
  await page.locator(".dock [data-composer]").press("Shift+Tab");
  await page.locator(".ask-card.armed").waitFor();
  await page.waitForTimeout(1100);
}

/** Waits until a number of turns has ended. */
export async function turns(page, n) {
  await page
    .locator(".turn-foot")
    .nth(n - 1)
    .waitFor();
}

export function sessionId(page) {
  return decodeURIComponent(new URL(page.url()).hash.split("/")[2] ?? "");
}

/** Waits until the agent has written a text. */
export async function said(page, text) {
  await page.locator(".md:not(.bubble *)", { hasText: text }).first().waitFor();
}

/** Waits until a function of the page, which may be asynchronous, returns something that counts as true, and returns it. */
export async function eventually(page, f, arg, timeout = 30_000) {
  const end = performance.now() + timeout;
  for (let pause = 5; ; pause = Math.min(80, 2 * pause)) {
    const value = await page.evaluate(f, arg);
    if (value) return value;
    if (performance.now() > end) throw new Error(`still ${value} after ${timeout} ms: ${f}`);
    // Each try may read a whole conversation, and takes time from what it waits for.
    await page.waitForTimeout(pause);
  }
}

/** The page and the server agree, byte for byte. */
export async function same(page) {
  const id = sessionId(page);
  await eventually(page, async (s) => window.parleyTest.state(s) === (await window.parleyTest.history(s)), id).catch(
    async () => {
      const [mine, its] = [await foldedState(page, id), await serverState(page, id)];
      let at = 0;
      while (at < mine.length && mine[at] === its[at]) at++;
      const near = (text) => text.slice(Math.max(0, at - 200), at + 300);
      assert.equal(near(mine), near(its), `they differ at ${at}`);
    },
  );
}

/** Pastes a picture into the input of a session. */
export async function paste(page) {
  await page.evaluate(() => {
    const png = Uint8Array.from(
      atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
      (c) => c.charCodeAt(0),
    );
    const data = new DataTransfer();
    data.items.add(new File([png], "dot.png", { type: "image/png" }));
    document
      .querySelector(".dock [data-composer]")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".box .tag[data-kind=image]").waitFor();
}

/** Returns the folded conversation of the page, in the form that can be compared. */
export function foldedState(page, id) {
  return page.evaluate((s) => window.parleyTest.state(s), id);
}

/** The same of the server. */
export function serverState(page, id) {
  return page.evaluate((s) => window.parleyTest.history(s), id);
}
