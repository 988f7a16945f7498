// Real Codex and a real agent of the Agent Client Protocol, with a scripted model; and the simulated agent as a demo.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { open, said, say, Server, sessionId, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes } from "./work.mjs";

const { browser } = shared;

/** The agents, or the names of those that are not installed. */
const installed = { "-codex": process.env.PARLEY_CODEX, "-adapter": process.env.PARLEY_ADAPTER, "-cli": process.env.PARLEY_CLI };
const missing = Object.keys(installed).filter((flag) => !installed[flag]);
const skip = missing.length > 0 && process.env.CI !== "true" ? `needs ${missing.join(", ")}` : false;

/** Starts a session of an agent in the project, and shows it. */
async function connect(page, server, provider) {
  await page.evaluate(
    async ([provider, cwd]) => {
      const { session_id } = await window.parleyTest.call("session.connect", { provider, cwd });
      location.hash = `#/s/${session_id}`;
    },
    [provider, join(server.dir, "project")],
  );
  await page.locator(".dock").waitFor();
}

const wire = /commandExecution|fileChange|\/bin\/bash|```|Preparing|[a-z]+_[a-z]+|\{"/;

for (const provider of ["codex", "acp:claude-agent-acp"])
  test(`${provider}: prompt, stream, permission, diff`, { skip }, async () => {
    const server = await new Server(undefined, undefined, [...Object.entries(installed).flat(), "-git"]).start();
    const page = await open(browser, server);
    page.setDefaultTimeout(120_000); // these programs take long to start on a busy machine
    await connect(page, server, provider);
    assert.equal(await page.getByRole("region", { name: "Simulated agent." }).count(), 0);
    await say(page, "model:say hello");
    await said(page, "Answer hello.");
    await turns(page, 1);

    await say(page, "model:run made.txt");
    const card = page.locator(".ask-card");
    await card.getByText("touch made.txt && echo made-it").waitFor();
    await card.getByRole("heading", { name: "Run this command?" }).waitFor();
    assert.equal(await page.locator(".dock .notice").count(), 0, "what the agent warned of before has its row");
    assert.doesNotMatch(await card.innerText(), wire);
    await card.getByRole("button", { name: "Allow once" }).click();
    await turns(page, 2);
    await said(page, "Done made.txt.");
    const command = page.locator(".step .card", { hasText: "touch made.txt" });
    assert.equal(await command.locator(".out").innerText(), "made-it");
    await command.getByText("allowed", { exact: true }).waitFor();

    await say(page, `model:edit ${join(server.dir, "project", "added.go")}`);
    await Promise.race([card.waitFor(), turns(page, 3)]);
    if (await card.count()) {
      await card.locator(".diff").getByText("func main() {}").waitFor();
      assert.doesNotMatch(await card.innerText(), wire);
      await card.getByRole("button", { name: "Allow once" }).click();
    }
    await turns(page, 3);
    await page.locator(".step .diff").getByText("func main() {}").waitFor();
    await page.locator(".turn-foot").nth(2).getByText("1 changed file").or(page.getByText("1 changed file").last()).waitFor();
    assert.equal(await page.locator(".panel").getByText("No files changed yet.").count(), 0);
    assert.doesNotMatch((await page.locator(".step").allInnerTexts()).join("\n"), wire);
    assert.doesNotMatch(await page.locator(".thread").innerText(), /\d steps/, "the steps of the model are not known");
    await changes(page, sessionId(page));
    await page.locator(".diff").getByText("func main() {}").first().waitFor();
    assert.deepEqual(page.faults, []);
    await page.context().close();
    await server.stop();
  });

test("the simulated agent changes a file of the project, asks with previews and spends a budget", async () => {
  const server = await new Server(undefined, undefined, ["-demo", "-git"]).start();
  const page = await open(browser, server);
  await connect(page, server, "sim");
  await say(page, "Show me an edit");
  const card = page.locator(".ask-card");
  await card.getByText("parley-demo-notes.md").first().waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await card.locator(".diff").getByText("- done").waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await turns(page, 1);
  await page.getByRole("heading", { name: "Show me an edit", level: 1 }).waitFor();
  await say(page, "Ask me a question");
  await card.locator("pre", { hasText: "code: \"#b3261e\"" }).waitFor();
  await card.getByRole("button", { name: "Skip" }).click();
  await card.getByRole("heading", { name: "Which days?" }).waitFor();
  await card.getByRole("button", { name: "Skip" }).click();
  await turns(page, 2);
  const id = sessionId(page);
  await changes(page, id);
  await page.locator(".diff").getByText("- done").waitFor();
  await page.evaluate((session) => {
    location.hash = `#/s/${session}`;
    return window.parleyTest.call("budget.set", { budget: { scope: "session", target: session, limit_tokens: 10 } });
  }, id);
  await say(page, "Show me markdown");
  await page.getByRole("button", { name: "Raise the budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Raise the budget" });
  await dialog.getByLabel("New limit in tokens").fill("1000000");
  await dialog.getByRole("button", { name: "Raise and continue" }).click();
  await turns(page, 3);
  await page.locator(".user", { hasText: "Show me markdown" }).waitFor();
  assert.equal(await page.locator(".user.failed").count(), 0, "the prompt was sent again, once");
  assert.equal(await page.locator(".user", { hasText: "Show me markdown" }).count(), 1);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await server.stop();
});
