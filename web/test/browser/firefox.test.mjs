// The main flow in Firefox from the distribution, over WebDriver BiDi.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { firefox } from "playwright-core";
import { arm, begin, open, say, Server, turns } from "./driver.mjs";

const path = [process.env.PARLEY_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].find((p) => p && existsSync(p));

// This Firefox does not know these commands of the protocol.
const plain = { serviceWorkers: "allow", colorScheme: null, reducedMotion: null, forcedColors: null, contrast: null };

test("Firefox: start, stream, approve, settings, back", { skip: path ? false : "there is no Firefox; install it, or set PARLEY_FIREFOX", timeout: 300_000 }, async () => {
  const server = await new Server().start();
  const browser = await firefox.launch({ executablePath: path, channel: "moz-firefox" });
  try {
    const page = await open(browser, server, plain);
    await begin(page, "story");
    await turns(page, 1);
    await say(page, "permission");
    await page.locator(".ask-card").waitFor();
    await arm(page);
    await page.keyboard.press("o");
    await turns(page, 2);
    assert.equal(await page.locator(".ask-card").count(), 0);
    await page.evaluate(() => {
      location.hash = "#/settings";
    });
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.getByRole("group", { name: "Theme" }).getByRole("button", { name: "Dark" }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.evaluate(() => {
      location.hash = "#/home";
    });
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    assert.deepEqual(page.faults, []);
  } finally {
    await browser.close();
    await server.stop();
  }
});
