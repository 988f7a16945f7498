// Search for messages: in every session, from the palette, and inside a conversation.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { begin, open, say, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, git: server } = shared;

/** A session that Claude keeps on disk. */
function seed(id, ...texts) {
  const dir = join(server.dir, "claude", "home", ".claude", "projects", "-srv-harbour");
  mkdirSync(dir, { recursive: true });
  const uuid = (i) => (i < 0 ? null : `0aaaaaaa-0000-4000-8000-00000000000${i}`);
  const lines = texts.map((content, i) =>
    JSON.stringify({
      type: "user",
      uuid: uuid(i),
      parentUuid: uuid(i - 1),
      isSidechain: false,
      sessionId: id,
      timestamp: "2026-01-02T03:04:05.000Z",
      cwd: "/srv/harbour",
      version: "2.0.0",
      message: { role: "user", content },
    }),
  );
  writeFileSync(join(dir, `${id}.jsonl`), `${lines.join("\n")}\n`);
}

test("a search looks in every session of every agent, also those that run, and leads to the place", async () => {
  seed("0bbbbbbb-0000-4000-8000-000000000001", "Clean the lantern on the tower", "Oil the hinges of the lighthouse door");
  const page = await open(browser, server);
  await begin(page, "permission"); // it keeps running
  await page.locator(".ask-card").waitFor();
  await begin(page, "The pilot waits near the lantern buoy");
  await turns(page, 1);
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  const field = page.getByPlaceholder("Search in all sessions");
  await field.fill("LANTERN");
  const rows = page.locator(".list tbody tr");
  await page.getByText("3 matches in 2 sessions").waitFor();
  await rows.filter({ has: page.locator(".hit mark", { hasText: "lantern" }), hasText: "lantern buoy" }).waitFor();
  await rows.filter({ has: page.locator(".hit mark"), hasText: "on the tower" }).waitFor();
  assert.equal(await rows.count(), 2);
  await rows.filter({ hasText: "lantern buoy" }).getByRole("link").first().click();
  await page.locator(".slot.marked", { hasText: "lantern buoy" }).waitFor();
  // The palette finds it by a message too.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("hinges of the");
  await page.locator("#palette-list .hit mark", { hasText: "hinges of the" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/h/0bbbbbbb"), undefined);
  await page.locator(".slot.marked", { hasText: "hinges" }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("find inside of a conversation sees rows that are not drawn", async () => {
  const page = await open(browser, server);
  await begin(page, "A beacon stands far above");
  await turns(page, 1);
  await say(page, "bulk 200");
  await page.locator(".md", { hasText: "Message 200 of many" }).waitFor();
  assert.equal(await page.locator(".slot", { hasText: "beacon" }).count(), 0, "it is not drawn");
  await page.keyboard.press("Control+f");
  await page.getByRole("searchbox", { name: "Find in this conversation" }).fill("Beacon");
  await page.locator(".findbar").getByText("2 of 2").waitFor();
  await page.waitForFunction(beaconInView, undefined);
  assert.ok(await page.evaluate(() => CSS.highlights.get("found")?.size > 0), "the word is marked");
  await page.keyboard.press("Enter");
  await page.locator(".findbar").getByText("1 of 2").waitFor();
  await page.getByRole("searchbox", { name: "Find in this conversation" }).fill("no such word");
  await page.locator(".findbar").getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".findbar").waitFor({ state: "detached" });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

/** Whether the marked row is in view. */
function beaconInView() {
  const e = document.querySelector(".slot.marked");
  const box = e?.closest(".scroll")?.getBoundingClientRect();
  const r = e?.getBoundingClientRect();
  return !!r && r.top >= box.top && r.top < box.bottom && e.textContent.includes("beacon");
}
