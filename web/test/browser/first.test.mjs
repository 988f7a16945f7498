// The first minute of a person who has never seen the page, with the real CLI and without a mouse.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { open, said, Server, turns, withCLI } from "./driver.mjs";
import { shared } from "./shared.mjs";

const server = await new Server(undefined, undefined, [...withCLI(), "-git"]).start();
after(() => server.stop());

/** Goes to a control with Tab, as the keyboard does. */
async function tabTo(page, label) {
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((l) => document.activeElement?.getAttribute("aria-label") === l, label)) return;
  }
  throw new Error(`Tab does not reach ${label}`);
}

test("the first minute: project, model, file, send, approve, diff; without a mouse", { timeout: 180_000 }, async () => {
  const page = await open(shared.browser, server);
  let clicks = 0;
  await page.exposeFunction("countClick", () => clicks++);
  await page.evaluate(() => addEventListener("pointerdown", () => window.countClick(), true));
  const began = Date.now();
  await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
  await page.keyboard.press("Control+p");
  await page.getByRole("combobox", { name: "Find a folder" }).waitFor();
  await page.keyboard.type("proj");
  await page.locator("#projects[data-query=proj] [role=option]").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
  await tabTo(page, "Agent");
  await page.keyboard.type("cla");
  await tabTo(page, "Model");
  await page.keyboard.type("son");
  const chosen = await page.evaluate(() => document.activeElement.value);
  assert.equal(chosen, "sonnet");
  for (let i = 0; i < 30 && !(await page.evaluate(() => document.activeElement?.matches("[data-composer]"))); i++)
    await page.keyboard.press("Shift+Tab");
  await page.keyboard.type("Write the first minute down, beside @retry");
  await page.locator("[role=option]", { hasText: "retry.go" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator("[role=option]").first().waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.locator(".ask-card").waitFor();
  assert.equal(existsSync(join(server.dir, "project", "first-minute.txt")), false, "nothing is written before the answer");
  await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
  await page.keyboard.press("Shift+Tab");
  await page.locator(".ask-card.armed").waitFor();
  await page.waitForTimeout(1100);
  await page.keyboard.press("o");
  await said(page, "It is written down.");
  await turns(page, 1);
  assert.ok(existsSync(join(server.dir, "project", "first-minute.txt")));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "combobox", "the field of a dialog has the focus at once");
  await page.keyboard.type("Changes");
  await page.getByRole("option", { name: "Changes" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".cfile", { hasText: "first-minute.txt" }).waitFor();
  await page.getByText("a minute is enough").first().waitFor();
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`first minute: ${seconds} s, ${clicks} clicks`);
  assert.equal(clicks, 0);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
