// The settings: one column, with an address for each section, that act at once.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { overflow, violations } from "./axe.mjs";
import { eventually, open } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, git: server } = shared;

async function show(page, section = "") {
  await page.evaluate((s) => {
    location.hash = s === "" ? "#/settings" : `#/settings/${s}`;
  }, section);
  await page.locator("[data-section=general]").waitFor();
}

describe("settings", { concurrency: 2 }, () => {
  test("a section has an address, is in the list, and is found by its text; no mouse is needed", async () => {
    const page = await open(browser, server);
    await show(page, "keyboard");
    await page.waitForFunction(() => {
      const r = document.querySelector("[data-section=keyboard]").getBoundingClientRect();
      return r.top >= 0 && r.top < innerHeight / 2;
    });
    const nav = page.getByRole("navigation", { name: "Sections" });
    const names = ["General", "Agents", "Permissions", "MCP servers", "Notifications", "Budgets", "Tokens and devices", "Keyboard", "About"];
    assert.deepEqual(await nav.getByRole("link").allInnerTexts(), names);
    assert.deepEqual(await page.locator("[data-section] > h2").allInnerTexts(), names);
    await nav.getByRole("link", { name: "Budgets" }).press("Enter");
    await page.waitForFunction(() => location.hash === "#/settings/budgets");
    await page.keyboard.press("/");
    await page.keyboard.type("theme");
    await page.locator("[data-section=budgets]").waitFor({ state: "hidden" });
    assert.deepEqual(await page.locator(".set-row:visible .set-n").allInnerTexts(), ["Theme"]);
    await page.getByRole("searchbox", { name: "Find a setting" }).fill("no such thing");
    await page.getByText("No setting matches.").waitFor();
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("the default agent, model and mode are those of a new session in a project without a choice", async () => {
    const page = await open(browser, server);
    await show(page, "agents");
    await page.getByLabel("Agent", { exact: true }).selectOption("claude");
    await page.getByLabel("Model", { exact: true }).selectOption("sonnet");
    await page.getByLabel("Permission mode", { exact: true }).selectOption("plan");
    await page.evaluate(() => {
      location.hash = "#/new";
    });
    const box = page.locator(".hero");
    await box.waitFor();
    assert.equal(await box.getByLabel("Agent", { exact: true }).inputValue(), "claude");
    assert.equal(await box.getByLabel("Model", { exact: true }).inputValue(), "sonnet");
    assert.equal(await box.getByLabel("Permission mode", { exact: true }).inputValue(), "plan");
    await box.getByLabel("Model", { exact: true }).selectOption("haiku");
    await show(page, "agents");
    assert.equal(await page.getByLabel("Model", { exact: true }).inputValue(), "sonnet", "the project's choice is its own");
    await page.context().close();
  });

  test("a switch that the browser refuses is off again, and it is said why", async () => {
    const page = await open(browser, server);
    await page.evaluate(() => {
      Notification.requestPermission = async () => "denied";
      Object.defineProperty(Notification, "permission", { value: "default", configurable: true });
    });
    await show(page, "notifications");
    await page.getByRole("switch", { name: "While the page is open" }).click();
    await page.getByText("The browser blocks notifications for this page").waitFor();
    await page.waitForFunction(() => !document.querySelector("[data-section=notifications] [role=switch]").checked);
    await page.context().close();
  });

  test("a permission rule is added to its file, removed, and brought back", async () => {
    const page = await open(browser, server);
    await show(page, "permissions");
    const rules = page.getByRole("region", { name: "Permissions" });
    await rules.getByLabel("Rule", { exact: true }).fill("Bash(go vet:*)");
    await rules.getByLabel("Effect", { exact: true }).selectOption("deny");
    await rules.getByLabel("Kept in", { exact: true }).selectOption("project");
    await rules.getByText(".claude/settings.json is shared with everyone who clones the project").waitFor();
    await rules.getByRole("button", { name: "Add" }).click();
    const row = rules.locator(".perm", { hasText: "Bash(go vet:*)" });
    await row.getByText("Deny").waitFor();
    await row.getByText("this project, everyone").waitFor();
    const file = join(server.dir, "project", ".claude", "settings.json");
    const denied = () => JSON.parse(readFileSync(file, "utf8")).permissions.deny;
    assert.deepEqual(denied(), ["Bash(go vet:*)"]);
    await row.getByRole("button", { name: "Remove Bash(go vet:*)" }).click();
    await row.waitFor({ state: "detached" });
    assert.deepEqual(denied(), []);
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
    assert.deepEqual(denied(), ["Bash(go vet:*)"]);
    rmSync(file);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("an MCP server is added and edited; its secret is written and never shown; it is removed", async () => {
    const page = await open(browser, server);
    await show(page, "mcp");
    const mcp = page.getByRole("region", { name: "MCP servers" });
    await mcp.getByRole("button", { name: "Add server" }).click();
    await mcp.getByLabel("Name", { exact: true }).fill("tracker");
    await mcp.getByRole("group", { name: "Kind" }).getByRole("button", { name: "Address" }).click();
    await mcp.getByLabel("Address", { exact: true }).fill("https://tracker.example/mcp");
    await mcp.getByLabel(/^Headers/).fill("Authorization=Bearer sesame");
    await mcp.getByRole("button", { name: "Save server" }).click();
    const row = mcp.locator(".mcp-row", { hasText: "tracker" });
    await row.getByText("http, https://tracker.example/mcp · this project, everyone").waitFor();
    const file = join(server.dir, "project", ".mcp.json");
    const kept = () => JSON.parse(readFileSync(file, "utf8")).mcpServers.tracker;
    assert.deepEqual(kept().headers, { Authorization: "Bearer sesame" });
    await row.getByRole("button", { name: "Edit tracker" }).click();
    assert.equal(await mcp.getByLabel(/^Headers/).inputValue(), "Authorization=", "the secret is not shown");
    await mcp.getByLabel("Address", { exact: true }).fill("https://tracker.example/v2");
    await mcp.getByRole("button", { name: "Save server" }).click();
    await row.getByText("http, https://tracker.example/v2").waitFor();
    assert.deepEqual(kept(), { type: "http", url: "https://tracker.example/v2", headers: { Authorization: "Bearer sesame" } });
    await row.getByRole("button", { name: "Test" }).click();
    await page.getByText("A server is tested in a session of this project.").waitFor();
    await row.getByRole("button", { name: "Remove tracker" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).mcpServers, {});
    rmSync(file);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("sections lead to the pages of the documentation about them", async () => {
    const page = await open(browser, server);
    await show(page, "devices");
    const guides = page.locator(".set-col").getByRole("link", { name: "Guide" });
    await page.locator("[data-section=devices]").getByRole("link", { name: "Guide" }).waitFor();
    const links = await guides.evaluateAll((all) => all.map((a) => a.href));
    assert.equal(links.length, 7);
    for (const link of links) assert.equal((await page.request.get(link)).status(), 200, link);
    const [docs] = await Promise.all([
      page.waitForEvent("popup"),
      page.locator("[data-section=devices]").getByRole("link", { name: "Guide" }).click(),
    ]);
    await docs.getByRole("heading", { level: 1 }).waitFor();
    assert.match(docs.url(), /\/docs\/guide\/security\.html$/);
    await page.context().close();
  });

  test("a budget is set and removed by its field, and a wrong one is put back with the reason", async () => {
    const page = await open(browser, server);
    await show(page, "budgets");
    const field = page.getByLabel("This month: limit in dollars");
    await field.fill("much");
    await field.press("Enter");
    await page.getByText("The limit must be a number above 0.").waitFor();
    assert.equal(await field.inputValue(), "");
    await field.fill("100");
    await field.press("Enter");
    await page.getByText(/ of \$100/).waitFor();
    const monthly = () =>
      page.evaluate(async () => {
        const { budgets } = await window.parleyTest.call("budget.list", {});
        return (budgets ?? []).filter((b) => b.scope === "server" && b.period === "month").map((b) => b.limit_usd);
      });
    assert.deepEqual(await monthly(), [100]);
    await field.fill("");
    await field.press("Enter");
    await eventually(page, async () => {
      const { budgets } = await window.parleyTest.call("budget.list", {});
      return !(budgets ?? []).some((b) => b.period === "month");
    });
    await page.context().close();
  });

  test("a token is shown once and revoked; a viewer sees what it may not change", async () => {
    const page = await open(browser, server);
    await show(page, "devices");
    const devices = page.getByRole("region", { name: "Tokens and devices" });
    await devices.getByRole("button", { name: "New token" }).click();
    await devices.getByLabel("Name of the token").fill("wall screen");
    await devices.getByRole("button", { name: "Create" }).click();
    const token = await devices.locator(".set-token").innerText();
    assert.match(token, /^pt_/);
    await devices.getByRole("button", { name: "Done" }).click();
    assert.equal(await devices.getByText(token).count(), 0);
    const row = devices.locator(".device", { hasText: "wall screen" });
    await row.getByText("can view, not seen since the server started").waitFor();
    const wall = await open(browser, server, { url: `http://${server.addr}/#token=${token}` });
    await show(wall, "devices");
    await wall.getByText("Only an administrator of this server can change this.").first().waitFor();
    assert.equal(await wall.getByRole("button", { name: "Show a code" }).count(), 0);
    await show(wall, "budgets");
    assert.equal(await wall.getByLabel("Today: limit in dollars").isDisabled(), true);
    await row.getByText(/last seen/).waitFor({ timeout: 40_000 });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await wall.locator("#token").waitFor();
    await wall.context().close();
    await page.context().close();
  });

  for (const [name, options] of [
    // Wide, in light and in dark: views.test.mjs.
    ["phone, Chinese, dark", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, locale: "zh-CN", colorScheme: "dark" }],
  ]) {
    test(`axe finds no fault in the settings and nothing overflows: ${name}`, async () => {
      const page = await open(browser, server, { bypassCSP: true, colorScheme: "light", ...options });
      await show(page);
      await page.locator(".storage").first().waitFor();
      assert.deepEqual([...(await violations(page)), ...(await overflow(page))], []);
      await page.context().close();
    });
  }
});
