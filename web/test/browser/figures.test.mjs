// Figures are correct: the cost of a session, its changed files, its duration, and the number of sessions.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { begin, eventually, open, say, sessionId, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes, gitServer, work } from "./work.mjs";

const { browser } = shared;

/** Writes a session of the Claude CLI with one prompt into its directory. */
function seedSession(server, k) {
  const dir = join(server.dir, "claude", "home", ".claude", "projects", "-srv-harbour");
  mkdirSync(dir, { recursive: true });
  const sessionId = `00000000-0000-4000-8000-${String(k).padStart(12, "0")}`;
  const line = {
    type: "user",
    uuid: `${String(k).padStart(8, "0")}-0000-4000-8000-000000000000`,
    parentUuid: null,
    isSidechain: false,
    sessionId,
    timestamp: new Date(Date.now() - k * 60_000).toISOString(),
    cwd: "/srv/harbour",
    message: { role: "user", content: `Question ${k}` },
  };
  writeFileSync(join(dir, `${sessionId}.jsonl`), `${JSON.stringify(line)}\n`);
}

test("the cost of a session stays after a restart, and the list counts every session", async () => {
  const server = await gitServer();
  for (let k = 0; k < 204; k++) seedSession(server, k);
  const page = await open(browser, server);
  const { id } = await work(page, server, "rework");
  await page.locator(".bar .figs").getByText("$0.18").waitFor();
  await server.kill();
  await server.start();
  await page.goto(server.url);
  await page.evaluate((s) => {
    location.hash = `#/s/${s}`;
  }, id);
  await page.locator(".bar .figs").getByText("$0.18").waitFor();
  await say(page, "more");
  await turns(page, 2);
  await page.locator(".bar .figs").getByText("$0.24").waitFor();
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.getByRole("row", { name: /rework/ }).getByText("$0.24").waitFor();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).locator("..").getByText("205", { exact: true }).waitFor();
  await page.context().close();
  await server.stop();
});

/** The number of files and of lines in a text such as "2 files +16 −4". */
const figures = (text) => (text.match(/\+\d+\s+−\d+/)?.[0] ?? "").replace(/\s+/g, " ");

test("strip, panel, turn and page count the same files, each once, and while the turn runs", async () => {
  const page = await open(browser, shared.git);
  const { id } = await work(page, shared.git);
  await say(page, "reworking");
  const panel = page.getByRole("complementary", { name: "This session" });
  await panel.locator(".frow", { hasText: "retry.go" }).waitFor();
  await page.getByRole("button", { name: /^Stop/ }).waitFor(); // the turn still runs
  assert.equal(await panel.locator(".frow.go").count(), 2);
  const during = figures(await panel.locator(".sec", { hasText: "Changes" }).first().innerText());
  await page.keyboard.press("Escape");
  await turns(page, 1);
  await say(page, "more");
  await turns(page, 2);
  const foot = page.locator(".turn-end").nth(1);
  await foot.getByText("1 changed file").waitFor();
  assert.equal(await page.locator(".turn-end").first().locator(".changed .chip").count(), 2);
  await eventually(page, (was) => !document.querySelector(".panel .sec .counts")?.innerText.includes(was), during);
  const all = figures(await panel.locator(".sec", { hasText: "Changes" }).first().innerText());
  await page.setViewportSize({ width: 1000, height: 800 });
  const strip = page.locator(".strip .files");
  await strip.getByText("2 files").waitFor();
  assert.equal(figures(await strip.innerText()), all);
  await changes(page, id);
  await page.getByRole("heading", { name: "2 changed files" }).waitFor();
  const rows = await page.locator(".ch-side button.frow .counts").allInnerTexts();
  const sum = rows.map((r) => r.match(/\d+/g).map(Number)).reduce((a, b) => [a[0] + b[0], a[1] + b[1]]);
  assert.equal(`+${sum[0]} −${sum[1]}`, all);
  await page.context().close();
});

test("a file outside of the project is no change of it, where only the agent reports what it has changed", async () => {
  const page = await open(browser, shared.server);
  await begin(page, "outside");
  await turns(page, 1);
  await page.locator(".turn-end").getByText("1 changed file").waitFor();
  const panel = page.getByRole("complementary", { name: "This session" });
  await panel.locator(".frow.go", { hasText: "retry.go" }).waitFor();
  assert.equal(await panel.locator(".frow.go").count(), 1);
  await page.locator(".card", { hasText: "outside.md" }).first().waitFor(); // the call itself is shown
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.locator(".strip .files").getByText("1 file", { exact: true }).waitFor();
  await changes(page, sessionId(page));
  await page.locator(".cfile", { hasText: "retry.go" }).waitFor();
  assert.equal(await page.locator(".cfile").count(), 1);
  await page.context().close();
});

test("a turn's run time is without the time that it waited for a person, also after a reload", async () => {
  const page = await open(browser, shared.server);
  await begin(page, "permission");
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await page.waitForTimeout(3000);
  await allow.click();
  await turns(page, 1);
  const told = async () => {
    const foot = page.locator(".turn-foot");
    await foot.getByText(/more waiting for you$/).waitFor();
    const text = await foot.innerText();
    const [ran, waited] = text.match(/[\d.]+(?= s)/g).map(Number);
    const whole = await page.evaluate((s) => {
      const c = JSON.parse(window.parleyTest.state(s));
      return c.threads[0].items.find((i) => i.result).result.duration_ms / 1000;
    }, sessionId(page));
    assert.ok(waited >= 3 && Math.abs(ran + waited - whole) < 1.1, `${text}, of ${whole} s`);
  };
  await told();
  await page.reload();
  await told();
  await page.context().close();
});
