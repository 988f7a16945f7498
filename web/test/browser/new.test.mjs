// Settings of a session before its first message.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { begin, eventually, open, Server, sessionId, turns, withCLI } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser } = shared;
const server = await new Server(undefined, undefined, [...withCLI(), "-git"]).start();
const project = join(server.dir, "project");
for (const [name, text] of [
  ["tools/harness/.git/HEAD", "ref: refs/heads/develop\n"],
  ["data/charts/readme.txt", "x\n"],
  [".claude/commands/tidy.md", "Tidy up.\n"],
]) {
  mkdirSync(join(project, name, ".."), { recursive: true });
  writeFileSync(join(project, name), text);
}
after(() => server.stop());

const row = (page) =>
  eventually(
    page,
    async (id) => {
      const { sessions } = await window.parleyTest.call("session.list", {});
      return sessions.find((s) => s.session_id === id && s.model);
    },
    sessionId(page),
  );

test("a project is found by a part of its name, with its branch, and remembered", async () => {
  const page = await open(browser, server);
  const field = page.getByRole("combobox", { name: "Find a folder" });
  const chosen = page.locator(".project > button");
  await chosen.getByText("project", { exact: true }).waitFor();
  await page.locator(".box-head").getByText("main", { exact: true }).waitFor();
  await page.keyboard.press("Control+p");
  await field.fill("har");
  await page.locator("#projects[data-query=har]").waitFor();
  const options = (await page.locator("#projects [role=option]").allInnerTexts()).map((s) => s.replace(/\s+/g, " "));
  assert.match(options.join("; "), /^harness .*\/tools develop; charts .*\/data main$/);
  await field.fill("nowhere");
  await page.getByText(/^No folder below .* is called “nowhere”\.$/).waitFor();
  await field.fill("harn");
  await page.locator("#projects[data-query=harn]").waitFor();
  await field.press("Enter");
  await chosen.getByText("harness", { exact: true }).waitFor();
  await page.locator(".box-head").getByText("develop", { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"), undefined);
  await begin(page, "hello");
  await turns(page, 1);
  assert.match((await row(page)).cwd, /\/tools\/harness$/);
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  await chosen.getByText("harness", { exact: true }).waitFor();
  await page.getByRole("heading", { name: "Recent in harness" }).waitFor();
  await page.locator(".recent-row").first().waitFor();
  await page.locator(".hero [data-composer]").fill("w");
  await page.locator(".recent-row").first().waitFor({ state: "detached" });
  await page.locator(".hero [data-composer]").fill("");
  await page.keyboard.press("Control+p");
  await page.locator("#projects[data-query='']").waitFor();
  assert.match(await page.locator("#projects").innerText(), /^Recent\s+harness/);
  await page.keyboard.press("Escape");
  await page.locator("#projects").waitFor({ state: "detached" });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("a folder that no repository contains is named as that", async () => {
  const page = await open(browser, shared.server);
  await page.keyboard.press("Control+p");
  await page.locator("#projects [role=option]").getByText("not a git repository").first().waitFor();
  await page.context().close();
});

test("agent, model, effort, thinking and mode are chosen before the first message", async () => {
  const page = await open(browser, server);
  const foot = page.locator(".hero .box-foot");
  await begin(page, "hello"); // its agent reports its models and commands
  await turns(page, 1);
  await page.locator("option[value=claude-scene-2]").waitFor({ state: "attached" });
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  await foot.getByRole("combobox", { name: "Model" }).selectOption("claude-scene-2");
  await foot.getByRole("combobox", { name: "Thinking" }).selectOption("high");
  await foot.getByRole("combobox", { name: "Permission mode" }).selectOption("plan");
  await begin(page, "hello");
  await turns(page, 1);
  const made = await row(page);
  assert.deepEqual([made.model, made.permission_mode], ["claude-scene-2", "plan"]);
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  assert.equal(await foot.getByRole("combobox", { name: "Model" }).inputValue(), "claude-scene-2", "remembered");
  // Claude takes these before any of its sessions has run.
  await foot.getByRole("combobox", { name: "Agent" }).selectOption("claude");
  await foot.getByRole("combobox", { name: "Model" }).selectOption("opus");
  await foot.getByRole("combobox", { name: "Effort" }).selectOption("high");
  await page.context().close();
});

test("files after @ and commands after / are found before there is a session", async () => {
  const page = await open(browser, server);
  const box = page.locator(".hero [data-composer]");
  const option = page.locator(".hero .menu [role=option][aria-selected=true]"); // which Enter takes
  await box.pressSequentially("look at @retry_t");
  await option.getByText("upload/retry_test.go").waitFor();
  await box.press("Enter");
  await page.locator(".hero .mirror mark", { hasText: "upload/retry_test.go" }).waitFor();
  assert.equal(await page.locator(".hero .tag:not(.add)").count(), 0, "it is shown once, in the sentence");
  await box.press("Backspace"); // the space after it
  await box.press("Backspace");
  assert.equal(await box.inputValue(), "look at ", "it goes as a whole");
  await box.pressSequentially("@upload/retry_test.go and");
  assert.equal(await page.locator(".hero :is(mark, .tag:not(.add))").count(), 0, "what was taken out does not go along");
  await page.locator(".hero").getByRole("combobox", { name: "Agent" }).selectOption("claude");
  await box.fill("");
  await box.pressSequentially("/ti");
  await option.getByText("/tidy").waitFor();
  await box.press("Tab");
  await page.waitForFunction(() => document.querySelector(".hero [data-composer]").value === "/tidy ", undefined);
  await page.context().close();
});

test("what is missing is shown, and only then", async () => {
  const page = await open(browser, server);
  await page.locator(".hero").getByRole("combobox", { name: "Agent" }).waitFor();
  assert.equal(await page.locator(".missing").count(), 0, "all is well");
  await page.context().close();
  const bare = await new Server().start();
  const poor = await open(browser, bare);
  await poor.locator(".missing", { hasText: "No agent is installed" }).waitFor();
  await poor.locator(".missing code", { hasText: "npm install" }).waitFor();
  await poor.evaluate(() => {
    location.hash = "#/settings/permissions";
  });
  const kept = poor.getByRole("region", { name: /^(Permissions|MCP servers)$/ });
  await kept.getByText("No agent of this server has such settings").nth(1).waitFor();
  assert.equal(await kept.getByRole("alert").count(), 0, "an agent without settings is no fault");
  await poor.context().close();
  await bare.stop();
});

test("a session that takes long to start leads nobody away who went elsewhere", async () => {
  const page = await open(browser, server);
  // The call is held back.
  await page.evaluate(() => {
    const { prototype } = WebSocket;
    const { send } = prototype;
    window.heldCalls = [];
    prototype.send = function (data) {
      if (String(data).includes('"session.connect"')) window.heldCalls.push(() => send.call(this, data));
      else send.call(this, data);
    };
  });
  const box = page.locator(".hero [data-composer]");
  await box.fill("hello from before");
  await box.press("Enter");
  await page.waitForFunction(() => window.heldCalls.length === 1);
  await page.evaluate(() => {
    location.hash = "#/usage";
  });
  await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  await page.evaluate(() => window.heldCalls[0]());
  const toast = page.locator(".toast", { hasText: "The session has started." });
  await toast.waitFor();
  assert.equal(new URL(page.url()).hash, "#/usage");
  await toast.getByRole("button", { name: "Open" }).click();
  await page.locator(".user", { hasText: "hello from before" }).waitFor();
  await page.context().close();
});
