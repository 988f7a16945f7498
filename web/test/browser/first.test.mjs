// The first minute of a person who has never seen the page, with the real CLI and without a mouse.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, test } from "node:test";
import { open, said, say, Server, turns, withCLI } from "./driver.mjs";
import { shared } from "./shared.mjs";

const server = await new Server(undefined, undefined, [...withCLI(), "-git"]).start();
const project = join(server.dir, "project");

/** An MCP server that nobody is logged in to, with the addresses that a login needs. */
const tracker = createServer(async (req, res) => {
  const base = `http://${req.headers.host}`;
  const answer = (status, body) => res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (req.url === "/.well-known/oauth-authorization-server")
    return answer(200, {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    });
  if (req.url === "/register") return answer(201, { ...(await json(req)), client_id: "parley" });
  answer(req.url === "/mcp" ? 401 : 404, {});
});
await new Promise((resolve) => tracker.listen(0, "127.0.0.1", resolve));
const config = { tracker: { type: "http", url: `http://127.0.0.1:${tracker.address().port}/mcp` } };
writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: config }));
mkdirSync(join(project, ".claude"), { recursive: true });
writeFileSync(join(project, ".claude", "settings.local.json"), JSON.stringify({ enableAllProjectMcpServers: true }));
execFileSync("git", ["add", "--all"], { cwd: project });
execFileSync("git", ["commit", "--quiet", "--message=Servers"], { cwd: project });
after(async () => {
  await server.stop();
  tracker.closeAllConnections();
  tracker.close();
});

/** Goes to a control with Tab, as the keyboard does. */
async function tabTo(page, label) {
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((l) => document.activeElement?.getAttribute("aria-label") === l, label)) return;
  }
  throw new Error(`Tab does not reach ${label}`);
}

let page;

test("the first minute: project, model, file, send, approve, diff; without a mouse", { timeout: 180_000 }, async () => {
  page = await open(shared.browser, server);
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
  await page.keyboard.type("/");
  await page.getByText("The agent lists its commands after its first message.").waitFor();
  await page.keyboard.press("Backspace");
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
});

test("a file outside of the project is asked for as that, and is no change of the project", { timeout: 120_000 }, async () => {
  await page.goBack();
  await say(page, "Write one outside as well");
  const card = page.locator(".ask-card");
  await card.getByRole("heading", { name: /^Write \/.+\/outside\.txt\?$/ }).waitFor();
  await card.getByText(/^it is outside this project: \/.+\/outside\.txt$/).waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await said(page, "It is outside.");
  await turns(page, 2);
  assert.ok(existsSync(join(server.dir, "outside.txt")));
  const panel = page.getByRole("complementary", { name: "This session" });
  await panel.getByText("first-minute.txt").waitFor();
  assert.equal(await panel.getByText("outside.txt").count(), 0);
  assert.equal(await page.locator(".changed").count(), 1, "the second turn has changed no file of the project");
});

test("a scale of small costs has no two lines of one name", { timeout: 60_000 }, async () => {
  await page.evaluate(() => {
    location.hash = "#/usage";
  });
  await page.locator(".chart").first().waitFor();
  const scale = await page.locator(".chart").first().locator("g > .gl + text").allTextContents();
  assert.deepEqual(scale, [...new Set(scale)], "each line is another sum");
});

test("the settings say that an MCP server needs a login, and how to log in", { timeout: 60_000 }, async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(() => {
    location.hash = "#/settings/mcp";
  });
  const row = page.locator(".mcp-row", { hasText: "tracker" });
  assert.equal(await row.getByRole("button", { name: "Log in…" }).count(), 0);
  await row.getByRole("button", { name: "Test" }).click();
  await row.getByText("needs a login").waitFor();
  await row.getByRole("button", { name: "Log in…" }).click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "claude /mcp");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
