// The documentation at /docs: no serious faults that axe finds, nothing wider than the window, and readable without JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { overflow, serious } from "./axe.mjs";
import { soak } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;
const at = (path) => `http://${server.addr}/docs/${path}`;

/** Opens a page in a new context, and returns it with its errors. */
async function visit(path, options = {}) {
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (m) => m.type() === "error" && page.faults.push(m.text()));
  page.on("pageerror", (e) => page.faults.push(String(e)));
  const response = await page.goto(at(path));
  assert.equal(response.status(), 200, path);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  return page;
}

describe("documentation", { concurrency: 2 }, () => {
  const settings = [
    ["wide, light", { viewport: { width: 1440, height: 900 }, colorScheme: "light" }],
    ["wide, dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
    ["phone, dark", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, colorScheme: "dark" }],
  ];
  for (const [nth, [name, options]] of settings.entries()) {
    test(`axe finds no serious fault in the documentation and nothing overflows: ${name}`, async () => {
      const faults = [];
      const paths = [
        "",
        "guide/start.html",
        "guide/conversations.html",
        "comparison.html",
        "reference/commands.html",
        "search.html?q=permission",
        "search.html?q=zzzz",
      ];
      for (const [i, path] of paths.entries()) {
        const page = await visit(path, { ...options, bypassCSP: true });
        // One run takes up to six seconds: in make test axe sees each page in one setting.
        if (soak || i % settings.length === nth) for (const v of await serious(page)) faults.push(`/docs/${path}: ${v}`);
        for (const c of await overflow(page)) faults.push(`/docs/${path}: overflows: ${c}`);
        assert.deepEqual(page.faults, [], path);
        await page.context().close();
      }
      assert.deepEqual(faults, []);
    });
  }

  test("without JavaScript a page is readable, and the server answers the search", async () => {
    const page = await visit("guide/permissions.html", { javaScriptEnabled: false });
    assert.match(await page.locator("main").innerText(), /CanUseTool/);
    await page.getByRole("searchbox").fill("rate limit");
    await page.getByRole("searchbox").press("Enter");
    await page.waitForURL(/search\.html\?q=rate/);
    assert.ok((await page.locator("main a").count()) > 0, "the search finds pages");
    await page.locator("main a").first().click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().close();
  });
});
