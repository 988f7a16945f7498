// Usage, cost and limits, from transcripts in the CLI's form.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { open, say, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { work } from "./work.mjs";

const { browser, git: server } = shared;

async function clean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual([...page.hosts], [server.addr]);
  await page.context().close();
}

// Two at a time: each has a separate page, session and worktree.
describe("usage", { concurrency: 2 }, () => {
  test("days, models, projects and blocks as plots with tables", async () => {
    const page = await open(browser, server);
    await page.evaluate(() => {
      location.hash = "#/sessions";
    });
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    const rows = await page.evaluate(async () => {
      const { call } = window.parleyTest;
      const all = {};
      for (const by of ["day", "model", "project", "block"])
        all[by] = (await call("usage.summary", { group_by: by })).rows.filter((r) => r.cost_usd > 0.01);
      return all;
    });
    assert.ok(rows.day.length >= 12 && rows.model.length === 2 && rows.project.length === 2, JSON.stringify(rows));
    const dollars = (n) => `$${n.toFixed(2)}`;
    const plot = page.getByRole("region", { name: "Cost by day" });
    await plot.getByRole("img", { name: /^Cost by day: 30 bars, the highest \$/ }).waitFor();
    assert.equal(await plot.locator("title").count(), 30, "each bar says what it stands for");
    await plot.getByText("As a table").click();
    const table = await plot.getByRole("table").innerText();
    for (const r of rows.day) assert.ok(table.includes(r.group) && table.includes(dollars(r.cost_usd)), r.group);
    const models = page.getByRole("region", { name: "By model" });
    for (const r of rows.model)
      await models
        .getByRole("row", { name: new RegExp(r.group) })
        .getByText(dollars(r.cost_usd))
        .waitFor();
    await page.getByRole("region", { name: "By project" }).getByRole("row", { name: /quay/ }).waitFor();
    await page.getByRole("region", { name: "Tokens by day" }).getByRole("img").waitFor();
    await page.getByRole("region", { name: "5-hour blocks" }).getByRole("img").waitFor();
    await page
      .getByText("5-hour block now")
      .locator("..")
      .getByText(/^ends at \d\d:\d\d, in/)
      .waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await plot.getByRole("img", { name: /^Cost by day: 7 bars/ }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    assert.equal((await download).suggestedFilename(), "usage.csv");
    await clean(page);
  });

  test("budgets and rate limits with the time of their reset", async () => {
    const page = await open(browser, server);
    const { id } = await work(page, server, "limited");
    await page.evaluate(async () => {
      const { call } = window.parleyTest;
      await call("budget.set", { budget: { scope: "server", period: "day", limit_usd: 40, action: "notify" } });
      await call("budget.set", { budget: { scope: "session", limit_tokens: 2_000_000 } });
    });
    const notice = page.locator(".slot [data-code=rate_limited]");
    await notice
      .getByText(/It resets at /)
      .first()
      .waitFor();
    await page.evaluate(() => {
      location.hash = "#/usage";
    });
    const limits = page.getByRole("region", { name: "Rate limits" });
    await limits.getByText(/reached; reset at .+, in 1 h \d+ min|reached; reset at .+, in \d+ min/).waitFor();
    const budgets = page.getByRole("region", { name: "Budgets" });
    await budgets.getByText("of $40.00").waitFor();
    await budgets.getByText(/only notifies · resets/).waitFor();
    await budgets.getByText("Each session").waitFor();
    await page.evaluate((s) => {
      location.hash = `#/s/${s}`;
    }, id);
    const panel = page.getByRole("complementary", { name: "This session" });
    await panel.getByText("5-hour window").waitFor();
    await panel.getByText(/reached · reset at/).waitFor();
    await panel.getByText("of 2.0M tokens").waitFor();
    await clean(page);
  });

  test("the cost of each turn, and how full the context is", async () => {
    const page = await open(browser, server);
    await work(page, server, "rework");
    await say(page, "more");
    await turns(page, 2);
    const panel = page.getByRole("complementary", { name: "This session" });
    await panel.getByText("Cost per turn").click();
    await panel.getByRole("row", { name: /^Turn 1 \$0\.18/ }).waitFor();
    await panel.getByRole("row", { name: /^Turn 2 \$0\.06/ }).waitFor();
    await panel.getByRole("img", { name: /^Context \d+% full$/ }).waitFor();
    await page.locator(".figs").getByText("$0.24").waitFor();
    await clean(page);
  });
});
