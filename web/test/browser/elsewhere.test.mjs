// A session on another machine: chosen before its first message, cut off in mid turn, and continued.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { violations } from "./axe.mjs";
import { Cutter } from "./cutter.mjs";
import { begin, open, said, same, say, turns } from "./driver.mjs";
import { Parley } from "./parley.mjs";
import { shared } from "./shared.mjs";

const server = new Parley("host.script.json");
const way = new Cutter();
let machine;
after(async () => {
  machine?.kill("SIGINT");
  await machine?.ended;
  if (machine) {
    const stop = spawn(process.env.PARLEY_PROGRAM, ["host", "stop", "--data", machine.host], { stdio: "ignore" });
    await new Promise((resolve) => stop.once("exit", resolve));
  }
  way.stop();
  await server.stop();
});

/** Joins the server through the proxy, with the real CLI and the fake API, and offers src below its home. */
async function joinThrough(page, name) {
  const home = join(server.dir, name);
  const { token } = await page.evaluate((n) => window.parleyTest.call("tokens.create", { name: n, role: "host" }), name);
  const env = { ...Object.fromEntries(server.env.map((e) => [e.slice(0, e.indexOf("=")), e.slice(e.indexOf("=") + 1)])), HOME: home };
  const args = ["host", "join", "--name", name, "--dir", "src", "--data", join(home, "data"), "--cli", process.env.PARLEY_CLI];
  for (const key of Object.keys(env)) args.push("--pass-env", key);
  const child = spawn(process.env.PARLEY_PROGRAM, [...args, way.url], { cwd: home, env, stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
    child.host = /--data (\S+)/.exec(printed)?.[1] ?? child.host;
  });
  child.ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end(`${token}\n`);
  return child;
}

const counted = `${Array.from({ length: 90 }, (_, i) => `boat ${i + 1},`).join(" ")} and no more.`;

test("a session of another machine: its folders, its files, a cut in mid turn, and an answer after it", { timeout: 180_000 }, async () => {
  await server.start();
  await way.start(() => server.addr);
  const project = join(server.dir, "crane", "src", "tools", "harness");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/develop\n");
  writeFileSync(join(project, "chart-of-crane.md"), "x\n");
  const page = await open(shared.browser, server, { bypassCSP: true });
  const foot = page.locator(".hero .box-foot");
  assert.equal(await foot.getByRole("combobox", { name: "Machine" }).count(), 0, "there is no choice without another machine");
  machine = await joinThrough(page, "crane");
  const chooser = foot.getByRole("combobox", { name: "Machine" });
  await chooser.locator("option:not([disabled])", { hasText: "crane" }).waitFor({ state: "attached" });
  assert.deepEqual(await chooser.locator("option").allInnerTexts(), ["This machine", "crane"]);
  await chooser.selectOption("crane");
  await page.locator(".project > button").getByText("src", { exact: true }).waitFor();
  const modes = await foot.getByRole("combobox", { name: "Permission mode" }).locator("option").allInnerTexts();
  assert.ok(!modes.includes("Accept edits") && !modes.includes("Skip all permissions"), `modes above the limit: ${modes}`);

  await page.keyboard.press("Control+p");
  await page.getByRole("combobox", { name: "Find a folder" }).fill("harn");
  await page.locator("#projects[data-query=harn] [role=option]").first().waitFor();
  assert.match((await page.locator("#projects").innerText()).replace(/\s+/g, " "), /^Folders harness .*\/tools develop$/);
  await page.getByText(/^crane offers folders below .*\/crane\/src$/).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".box-head").getByText("develop", { exact: true }).waitFor();
  await page.locator(".hero [data-composer]").fill("@chart");
  await page.getByRole("option", { name: /chart-of-crane\.md/ }).waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(await violations(page), []);
  if (process.env.PARLEY_SHOTS) await page.screenshot({ path: join(process.env.PARLEY_SHOTS, "new-machine.png") });

  await begin(page, "count the boats");
  await page.locator(".bar").getByText("crane", { exact: true }).waitFor();
  await page.locator(".srow .s-meta").getByText("crane · harness").waitFor();
  await said(page, "boat 9,");
  way.cut();
  const away = page.locator(".dock [role=status]", { hasText: /^crane has been unreachable since/ });
  await away.getByText("Your messages wait until it is back.").waitFor();
  const answer = page.locator(".step.say .md");
  assert.match(await answer.first().innerText(), /boat 9,/, "what was written can be read");
  assert.doesNotMatch(await answer.first().innerText(), /and no more/, "the turn has not ended");
  await say(page, "make the file");
  await page.locator(".queue li", { hasText: "make the file" }).waitFor();
  assert.deepEqual(await violations(page), []);
  if (process.env.PARLEY_SHOTS) await page.screenshot({ path: join(process.env.PARLEY_SHOTS, "out-of-reach.png") });
  way.mend();
  await away.waitFor({ state: "detached" });
  await turns(page, 1);
  assert.equal(await answer.first().innerText(), counted, "no line is missing, and none is there twice");

  const card = page.locator(".ask-card");
  await card.getByText("echo kept >> kept.txt").waitFor();
  way.cut();
  await away.waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("The machine of this session is unreachable; its agent is waiting").waitFor();
  assert.equal(existsSync(join(project, "kept.txt")), false, "nothing runs before the answer");
  way.mend();
  await away.waitFor({ state: "detached" });
  await card.getByRole("button", { name: "Allow once" }).click();
  await said(page, "The file is made.");
  await turns(page, 2);
  assert.equal(readFileSync(join(project, "kept.txt"), "utf8"), "kept\n", "it has run once");
  await same(page);

  machine.kill("SIGINT");
  await machine.ended;
  await away.waitFor();
  await page.reload();
  await away.waitFor();
  assert.equal(await answer.first().innerText(), counted, "the conversation stays");
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.locator("tr").getByText("crane", { exact: true }).waitFor();
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  await page.locator(".fallback", { hasText: /^crane has been unreachable since/ }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Start the session" }).isDisabled(), true);
  await chooser.selectOption("This machine");
  await page.locator(".fallback").waitFor({ state: "detached" });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
