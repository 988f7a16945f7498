// Every view in light and in dark: no fault that axe knows, of any weight, and nothing wider than the window.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bothThemes, overflow } from "./axe.mjs";
import { begin, open } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes, work } from "./work.mjs";

const { browser, git: server } = shared;

test("axe finds nothing in any view, light and dark", { timeout: 300_000 }, async () => {
  const page = await open(browser, server, { bypassCSP: true });
  const faults = [];
  const look = async (where) => {
    for (const v of await bothThemes(page)) faults.push(`${where}: ${v}`);
    for (const c of await overflow(page)) faults.push(`${where}: overflows: ${c}`);
    const names = await page.locator("h1").evaluateAll((all) => all.filter((e) => e.checkVisibility()).map((e) => e.textContent.trim()));
    if (names.length === 0 || names.includes("")) faults.push(`${where}: the headings of level 1 are ${JSON.stringify(names)}`);
  };
  const place = async (hash, selector) => {
    await page.evaluate((h) => {
      location.hash = h;
    }, hash);
    await page.locator(selector).first().waitFor();
  };
  await page.locator(".switch input").check(); // of a worktree
  await look("new");
  const { id } = await work(page, server, "rework");
  await look("session");
  await changes(page, id);
  await page.locator(".chunk-h .btn").first().click();
  await page.locator(".cmt-form textarea").fill("Why six?");
  await page.locator(".cmt-form .btn.primary").click();
  await page.locator(".ch-side .cmt").waitFor();
  await page.locator(".chunk-h").nth(1).locator(".btn").first().click();
  await page.locator(".cmt-form textarea").fill("And here?");
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
  for (const s of await page.locator(".plot summary").all()) await s.click();
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
