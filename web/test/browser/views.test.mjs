// Every view in light and in dark: no fault that axe knows, of any weight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.mjs";
import { begin, open } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes, work } from "./work.mjs";

const { browser, git: server } = shared;

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing in any view: ${colorScheme}`, { timeout: 300_000 }, async () => {
    const page = await open(browser, server, { bypassCSP: true, colorScheme });
    const faults = [];
    const look = async (where) => {
      for (const v of await violations(page)) faults.push(`${where}: ${v.text}`);
      const names = await page.locator("h1").evaluateAll((all) => all.filter((e) => e.checkVisibility()).map((e) => e.textContent.trim()));
      if (names.length === 0 || names.includes("")) faults.push(`${where}: the headings of level 1 are ${JSON.stringify(names)}`);
    };
    const place = async (hash, selector) => {
      await page.evaluate((h) => {
        location.hash = h;
      }, hash);
      await page.locator(selector).first().waitFor();
    };
    await look("new");
    const { id } = await work(page, server, "rework");
    await look("session");
    await changes(page, id);
    await page.locator(".chunk").first().waitFor();
    await look("changes");
    await begin(page, "permission");
    await page.locator(".ask-card").waitFor();
    await look("request");
    await place("#/home", ".home-card");
    await look("home");
    await place("#/sessions", ".list tbody a");
    await page.locator(".list tbody a").first().focus();
    await page.locator(".s-detail").waitFor();
    await look("sessions");
    await place("#/usage", ".chart");
    await look("usage");
    await place("#/settings", ".storage");
    await look("settings");
    await place("#/machines", "main h1");
    await look("machines");
    await place(`#/s/${id}/${await page.evaluate(async () => (await window.parleyTest.call("session.list", {})).sessions[0].session_id)}`, ".sides .dock");
    await look("side by side");
    const past = await page.evaluate(async () => (await window.parleyTest.call("history.list", { limit: 5 })).sessions?.[0]?.session_id);
    await place(`#/h/${past}`, "main h1, main .bar-t");
    await look("history");
    await page.keyboard.press("Control+k");
    await page.locator("dialog[open]").waitFor();
    await look("palette");
    await page.keyboard.press("Escape");
    assert.deepEqual(faults, []);
    await page.context().close();
  });
