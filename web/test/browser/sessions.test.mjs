// The list of sessions: tags, forks, the detail of one, side by side, names of worktrees.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { violations } from "./axe.mjs";
import { begin, open, say, sessionId, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { work } from "./work.mjs";

const { browser, git: server } = shared;

async function list(page) {
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.locator(".list tbody tr").first().waitFor();
}

const detail = (page) => page.getByRole("complementary", { name: "Details" });

describe("sessions", { concurrency: 2 }, () => {
  test("several are selected with the mouse and with X, archived with an undo, and deleted after one question", async () => {
    const page = await open(browser, server, { bypassCSP: true });
    const ids = [];
    await page.getByLabel("Agent", { exact: true }).selectOption("sim");
    for (const name of ["one", "two", "three"]) {
      await begin(page, `say picked ${name}`);
      await turns(page, 1);
      ids.push(sessionId(page));
    }
    await list(page);
    const row = (id) => page.locator(`.list tbody tr[data-id="${id}"]`);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await row(ids[0]).getByRole("checkbox").check();
    await row(ids[1]).locator("a").focus();
    await page.keyboard.press("x");
    await page.getByText("2 selected").waitFor();
    assert.equal(await detail(page).count(), 0, "the detail gives way");
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await row(ids[0]).waitFor({ state: "detached" });
    await row(ids[1]).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row(ids[0]).waitFor();
    await row(ids[1]).waitFor();
    await row(ids[2]).locator("a").focus();
    await page.keyboard.press("x");
    await row(ids[0]).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 2 sessions?" });
    await dialog.getByRole("button", { name: "Delete" }).click();
    await row(ids[2]).waitFor({ state: "detached" });
    await row(ids[0]).waitFor({ state: "detached" });
    assert.equal(await row(ids[1]).count(), 1, "what is not chosen stays");
    assert.equal(await page.getByRole("checkbox").count(), 0);
    await page.context().close();
  });

  test("the detail follows the row; a tag is given and narrows the list; a session is deleted", async () => {
    const page = await open(browser, server);
    await page.getByLabel("Agent", { exact: true }).selectOption("sim");
    await begin(page, "say tagged one");
    await turns(page, 1);
    const id = sessionId(page);
    await list(page);
    const row = page.locator(".list tbody tr", { has: page.locator(`a[href="#/s/${id}"]`) });
    await row.locator("a").focus();
    await detail(page).getByRole("link", { name: "Open" }).waitFor();
    assert.match(await detail(page).innerText(), /1 turn/);
    const acts = await detail(page).locator(".sd-acts button").evaluateAll((all) => all.map((b) => getComputedStyle(b.parentElement).opacity));
    assert.deepEqual([...new Set(acts)], ["1"], "the actions are seen");
    await detail(page).getByRole("button", { name: "Add a tag" }).click();
    await page.getByRole("dialog").getByLabel("Tag").fill("keep");
    await page.getByRole("dialog").getByRole("button", { name: "Tag" }).click();
    await row.locator(".chip", { hasText: "keep" }).waitFor();
    await page.getByLabel("Tag", { exact: true }).selectOption("keep");
    assert.equal(await page.locator(".list tbody tr").count(), 1);
    await detail(page).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a fork is below its session, in the list and in the detail; side by side opens both", async () => {
    const page = await open(browser, server);
    await page.getByLabel("Agent", { exact: true }).selectOption("sim");
    await begin(page, "say the trunk");
    await turns(page, 1);
    const trunk = sessionId(page);
    await list(page);
    const rowOf = (id) => page.locator(".list tbody tr", { has: page.locator(`a[href="#/s/${id}"]`) });
    await rowOf(trunk).locator("a").focus();
    await detail(page).getByRole("button", { name: "Fork" }).click();
    await page.waitForFunction((t) => location.hash.startsWith("#/s/") && !location.hash.includes(t), trunk);
    const fork = sessionId(page);
    await list(page);
    await rowOf(fork).locator(".tline.fork").waitFor();
    const order = await page.locator(".list tbody a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    assert.equal(order.indexOf(`#/s/${fork}`), order.indexOf(`#/s/${trunk}`) + 1);
    await rowOf(fork).locator("a").focus();
    const tree = detail(page).locator(".s-tree li");
    assert.equal(await tree.count(), 2);
    await tree.first().getByRole("button").click();
    assert.equal(await rowOf(trunk).getAttribute("aria-current"), "true");
    await detail(page).getByRole("button", { name: "Side by side" }).click();
    await page.waitForFunction(([a, b]) => location.hash === `#/s/${b}/${a}`, [trunk, fork]);
    assert.equal(await page.locator(".dock").count(), 2);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a prompt says who sent it, where it was not the owner", async () => {
    const page = await open(browser, server);
    await begin(page, "story");
    await turns(page, 1);
    const id = sessionId(page);
    const { token } = await page.evaluate(() => window.parleyTest.call("tokens.create", { role: "operator", name: "Ada" }));
    const other = await open(browser, server, { url: `http://${server.addr}/#token=${token}` });
    await other.evaluate((s) => {
      location.hash = `#/s/${s}`;
    }, id);
    await say(other, "story");
    await turns(page, 2);
    await page.locator(".user", { has: page.locator(".sent-by", { hasText: "Ada" }) }).waitFor();
    assert.equal(await page.locator(".sent-by").count(), 1, "the owner's prompt has no name");
    await other.context().close();
    await page.context().close();
  });

  test("a worktree has the name of its project and branch, never a hash", async () => {
    const page = await open(browser, server);
    const { id, dir } = await work(page, server, "rework", { branch: "wt/tides" });
    await list(page);
    const row = page.locator(".list tbody tr", { has: page.locator(`a[href="#/s/${id}"]`) });
    await row.locator("a").focus();
    const text = `${await row.innerText()} ${await detail(page).innerText()}`;
    assert.match(text, /project/);
    assert.match(text, /wt\/tides/);
    assert.equal(text.includes(dir.split("/").pop()), false, text);
    await page.context().close();
  });
});
