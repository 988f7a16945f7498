// A server that is killed in mid turn, while its agent runs on in the host, and started again.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { begin, open, said, same, say, turns } from "./driver.mjs";
import { Parley } from "./parley.mjs";
import { shared } from "./shared.mjs";

const server = new Parley("host.script.json", { flags: ["--host"] });
after(() => server.stop());

const counted = `${Array.from({ length: 90 }, (_, i) => `boat ${i + 1},`).join(" ")} and no more.`;

/** Kills the server, which the page shows, and starts it again. It calls f between the two. */
async function crash(page, f = async () => {}) {
  await server.kill();
  await f();
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor();
  await server.start();
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor({ state: "detached" });
}

test("a killed server: the answer goes on without a gap, and an open request is answered afterwards", { timeout: 120_000 }, async () => {
  await server.start();
  const page = await open(shared.browser, server);
  await page.evaluate(() => {
    window.sameDocument = true;
  });
  const answer = page.locator(".step.say .md");
  await begin(page, "count the boats");
  await said(page, "boat 9,");
  await crash(page, async () => assert.doesNotMatch(await answer.first().innerText(), /and no more/, "it has not ended"));
  await turns(page, 1);
  assert.deepEqual(await answer.allInnerTexts(), [counted]);
  await same(page);

  await say(page, "make the file");
  const card = page.locator(".ask-card");
  await card.getByText("echo kept >> kept.txt").waitFor();
  await crash(page);
  assert.equal(await card.count(), 1);
  assert.equal(existsSync(join(server.project, "kept.txt")), false, "nothing runs before the answer");
  await card.getByRole("button", { name: "Allow once" }).click();
  await said(page, "The file is made.");
  await turns(page, 2);
  assert.equal(readFileSync(join(server.project, "kept.txt"), "utf8"), "kept\n", "it has run once");
  assert.equal(await page.locator(".user").count(), 2);
  assert.equal(await card.count(), 0);
  await same(page);
  assert.equal(await page.evaluate(() => window.sameDocument), true, "the page was not loaded again");
  assert.deepEqual(page.faults.filter((f) => !/ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|WebSocket/.test(f)), []);
  await page.context().close();
});
