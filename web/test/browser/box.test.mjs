// A session in a box of bubblewrap, chosen before the first message, and the report of its agent's reach.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { violations } from "./axe.mjs";
import { begin, open, said, turns } from "./driver.mjs";
import { bubblewrap, Parley } from "./parley.mjs";
import { shared } from "./shared.mjs";

const found = bubblewrap();
const skip = found === undefined && process.env.CI !== "true" ? "needs bubblewrap" : false;

const server = new Parley("box.script.json", {
  path: [found],
  flags: (s) => {
    writeFileSync(join(s.dir, "key"), "sk-ant-test-key-of-the-server-1234", { mode: 0o600 });
    writeFileSync(join(s.dir, "secret.txt"), "hidden\n");
    return ["--api-key-file", join(s.dir, "key"), "--api-upstream", s.upstream];
  },
});
after(() => server.stop());

test("a session is begun in a sandbox, which its bar and the panel show, in both languages", { skip, timeout: 120_000 }, async () => {
  await server.start();
  const page = await open(shared.browser, server, { bypassCSP: true });
  const foot = page.locator(".hero .box-foot");
  const modes = () => foot.getByRole("combobox", { name: "Permission mode" }).locator("option").allInnerTexts();
  const sandbox = foot.getByRole("combobox", { name: "Sandbox" });
  assert.deepEqual(await sandbox.locator("option").allInnerTexts(), ["No sandbox", "Sandbox, no network"]);
  assert.equal((await modes()).includes("Skip all permissions"), false);
  await sandbox.selectOption("Sandbox, no network");
  assert.ok((await modes()).includes("Skip all permissions"), "it can send nothing");
  await foot.getByRole("combobox", { name: "Permission mode" }).selectOption("bypassPermissions");
  await begin(page, "look around");
  await said(page, "I see little.");
  await turns(page, 1);
  const seen = readFileSync(join(server.project, "seen.txt"), "utf8");
  assert.match(seen, /No such file/);
  assert.doesNotMatch(seen, /hidden/);

  await page.locator(".bar").getByText("Sandbox, no network").waitFor();
  const panel = page.getByRole("complementary", { name: "This session" });
  await panel.locator("summary", { hasText: "Reach" }).click();
  const reach = panel.locator(".sec", { hasText: "Reach" });
  await reach.getByText("The sandbox was tested from inside").waitFor();
  const rows = (await reach.innerText()).replace(/\s+/g, " ");
  assert.match(rows, /Writes its directory/);
  assert.match(rows, /Network nothing Secrets nothing The API key stays with the server/);
  assert.match(rows, /Processes outside are hidden/);
  assert.match(rows, /Some tools run without asking/);
  assert.deepEqual(await violations(page), []);

  await page.evaluate(() => localStorage.setItem("parley.lang", "zh"));
  await page.reload();
  await page.locator(".bar").getByText("沙箱，无网络").waitFor();
  await page.locator(".panel summary", { hasText: "可及范围" }).click();
  await page.locator(".panel").getByText("已从沙箱内部验证").waitFor();
  assert.doesNotMatch(await page.locator(".panel .sec", { hasText: "可及范围" }).innerText(), /[a-z]{4}.* [a-z]{3}/, "no English sentence");
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  assert.equal(await page.getByRole("combobox", { name: "沙箱" }).inputValue(), "bwrap", "the choice is kept");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
