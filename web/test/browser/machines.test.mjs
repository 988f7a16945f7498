// Machines: one is added with the command and the code that the page shows, listed, shown as unreachable, and revoked.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { violations } from "./axe.mjs";
import { open } from "./driver.mjs";
import { Parley } from "./parley.mjs";
import { shared } from "./shared.mjs";

const server = new Parley("host.script.json");
let machine;
after(async () => {
  machine?.kill("SIGINT");
  await machine?.ended;
  await server.stop();
});

/** Runs the command that joins a server, as a person would on the other machine; code is typed, or already exchanged. */
function joinServer(args, code) {
  const home = join(server.dir, "other");
  mkdirSync(join(home, "src"), { recursive: true });
  const child = spawn(process.env.PARLEY_PROGRAM, [...args, "--data", join(home, "data"), "--cli", process.env.PARLEY_CLI], {
    cwd: home,
    env: { HOME: home, PATH: process.env.PATH },
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end(code);
  return child;
}

test("a machine joins with a code, is listed with its state in both languages, and its token is revoked", { timeout: 120_000 }, async () => {
  await server.start();
  const page = await open(shared.browser, server, { bypassCSP: true });
  await page.getByRole("link", { name: "Machines" }).click();
  await page.getByText("Agents can run on other machines too.").waitFor();
  await page.getByRole("button", { name: "Add machine" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a machine" });
  await dialog.getByLabel("Name").fill("crane");
  await dialog.getByLabel("Folders it offers").fill("src");
  await dialog.getByLabel("Agents at once").fill("3");
  const command = dialog.locator(".copied code").first();
  const code = dialog.locator(".copied code").nth(1);
  const base = new URL(server.url).origin;
  assert.equal(await command.innerText(), `parley host join --name crane --dir src --slots 3 ${base}`);
  await code.filter({ hasText: /^[\w-]{22}$/ }).waitFor();
  const secret = await code.innerText();
  assert.ok(!(await command.innerText()).includes(secret), "the command has no secret");
  assert.deepEqual(await violations(page), []);
  if (process.env.PARLEY_SHOTS) await page.screenshot({ path: join(process.env.PARLEY_SHOTS, "machines-add.png") });

  machine = joinServer((await command.innerText()).split(" ").slice(1), `${secret}\n`);
  await page.getByText("crane has joined with Claude").waitFor();
  await dialog.waitFor({ state: "detached" });
  const card = page.getByRole("region", { name: "crane" });
  await card.getByText("connected for").waitFor();
  const text = (await card.innerText()).replace(/\s+/g, " ");
  assert.match(text, /at most 3 agents at once Agents Claude Folders .*\/other\/src Sandbox no sandbox/);
  assert.deepEqual(await violations(page), []);
  if (process.env.PARLEY_SHOTS) {
    for (const [scheme, width] of [["light", 1440], ["dark", 1440], ["dark", 390]]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 844 });
      await page.screenshot({ path: join(process.env.PARLEY_SHOTS, `machines-${scheme}-${width}.png`) });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  }

  machine.kill("SIGINT");
  await machine.ended;
  await card.getByText("unreachable since").waitFor();
  await card.getByText("Its agents keep running.").waitFor();
  machine = joinServer(["host", "join", "--name", "crane", "--dir", "src", base], ""); // with the kept token
  await card.getByText("connected for").waitFor();

  await page.evaluate(() => localStorage.setItem("parley.lang", "zh"));
  await page.reload();
  await card.getByText("已连接").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.evaluate(() => localStorage.setItem("parley.lang", "en"));
  await page.reload();

  await card.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog", { name: "Revoke the token of crane?" }).getByRole("button", { name: "Revoke" }).click();
  await page.getByText("The token of crane is revoked").waitFor();
  assert.equal(await machine.ended, 1, "the command ends");
  await card.getByText("unreachable since").waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
