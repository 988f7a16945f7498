// A request is shown once, in its place in the conversation; elsewhere one line leads to it. Messages of a person read well.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { begin, open, said, say, sessionId, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser } = shared;
const server = () => shared.server;

test("a request is in the conversation, once; out of view one line leads to it and answers nothing", async () => {
  const page = await open(browser, server());
  await begin(page, "bulk 40");
  await turns(page, 1);
  await say(page, "permission");
  const card = page.locator(".ask-card");
  await card.waitFor();
  assert.equal(await page.locator(".thread .ask-card").count(), 1);
  assert.equal(await page.locator(".dock .ask-card").count(), 0);
  assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 1);
  assert.equal(await page.locator(".step", { hasText: "rm -rf .cache/theme" }).count(), 1, "its row is the card");
  assert.equal(await page.locator(".thread .slot[data-kind=tool] .step").count(), 0, "and there is no other");
  const away = page.locator(".dock .away");
  assert.equal(await away.count(), 0);
  await page.locator(".dock").getByText("Waits for you").waitFor();
  await page.locator(".scroll").first().evaluate((e) => e.scrollTo(0, 0));
  await away.getByText("Waits for you").waitFor();
  await away.getByText("Run this command?").or(away.getByText(/Run/)).first().waitFor();
  assert.equal(await page.locator(".dock").getByRole("button", { name: /Allow|Deny/ }).count(), 0);
  await away.getByRole("button", { name: "Show" }).click();
  await away.waitFor({ state: "detached" });
  const [box, dock] = await Promise.all([card.boundingBox(), page.locator(".dock").boundingBox()]);
  assert.ok(box.y >= 0 && box.y < dock.y, "the card is in view");
  await card.getByRole("button", { name: "Allow once" }).click();
  await card.waitFor({ state: "detached" });
  await turns(page, 2);
  await page.locator(".step", { hasText: "rm -rf .cache/theme" }).waitFor();
  await page.context().close();
});

test("an edit that is asked for has the colours of its language; what was decided of a plan is said in words", async () => {
  const page = await open(browser, server());
  await begin(page, "edit");
  await page.locator(".ask-card .diff td.tx i").first().waitFor();
  await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).click();
  await turns(page, 1);
  await say(page, "plan");
  const card = page.locator(".ask-card");
  await card.getByRole("textbox").fill("Leave the fuzz targets alone.");
  await card.getByRole("button", { name: "Keep planning" }).click();
  await turns(page, 2);
  const row = page.locator(".answered").last();
  await row.getByText("Split the nightly build").waitFor();
  await row.getByText("Keep planning: “Leave the fuzz targets alone.”").waitFor();
  assert.doesNotMatch(await row.innerText(), /[{}]|"behavior"/);
  assert.equal(await row.locator(".bad").count(), 0, "a choice is no fault");
  await page.context().close();
});

test("what a person decides is no fault: a question that is skipped, a turn that is stopped, a call that is denied or done", async () => {
  const page = await open(browser, server());
  const bad = () => page.locator(".thread :is(.bad, .badc)").count();
  await begin(page, "question");
  for (const question of ["Which checks", "Where should"]) {
    await page.locator(".ask-card:not([data-moving])", { hasText: question }).waitFor();
    await page.locator(".ask-card").getByRole("button", { name: "Skip" }).click();
  }
  await page.locator(".answered").getByText("Skipped, the agent decides").waitFor();
  await turns(page, 1);
  assert.equal(await bad(), 0, "skipped");
  await say(page, "careful");
  await page.locator(".ask-card").getByRole("button", { name: "Deny", exact: true }).click();
  await said(page, "The answer was deny.");
  await turns(page, 2);
  await page.locator(".step .chip", { hasText: "denied" }).waitFor();
  assert.equal(await bad(), 0, "denied");
  await say(page, "permission");
  await page.locator(".ask-card:not([data-moving])").getByRole("button", { name: "Allow once" }).click();
  await page.locator(".step .out", { hasText: "built 12 pages" }).waitFor();
  await turns(page, 3);
  assert.equal(await bad(), 0, "allowed, and done");
  await say(page, "hold");
  await said(page, "I work until I am stopped.");
  await page.getByRole("button", { name: /^Stop/ }).click();
  await turns(page, 4);
  assert.match(await page.locator(".turn-foot").last().innerText(), /[Ss]topped/);
  assert.equal(await bad(), 0, "stopped");
  await page.context().close();
});

test("a request shows what changes its effect, and no member of its input that is off", async () => {
  const page = await open(browser, server());
  await begin(page, "edit");
  const card = page.locator(".ask-card");
  await card.locator(".diff").waitFor();
  assert.doesNotMatch(await card.innerText(), /replace_all|false|every occurrence/);
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await turns(page, 1);
  await say(page, "edit all");
  await card.getByText("every occurrence").waitFor();
  assert.doesNotMatch(await card.innerText(), /replace_all/);
  await card.getByRole("button", { name: "Allow once" }).click();
  await turns(page, 2);
  await page.locator(".step .chip", { hasText: "every occurrence" }).waitFor();
  await page.context().close();
});

test("outside of the project is a reason only for a path that is outside; a file that is there is changed, not created", async () => {
  const name = join(server().dir, "project", "docs", "long.md");
  mkdirSync(join(name, ".."), { recursive: true });
  writeFileSync(name, "line\nline\nline\n");
  const page = await open(browser, server());
  const card = page.locator(".ask-card");
  const deny = async (n) => {
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await turns(page, n);
  };
  await begin(page, "blocked docs/long.md");
  await card.waitFor();
  assert.doesNotMatch(await card.innerText(), /outside/);
  await deny(1);
  await say(page, "blocked /etc/hosts");
  await card.getByText("it is outside this project:").waitFor();
  await deny(2);
  await say(page, "write 5");
  await card.getByText("+2 −0").waitFor();
  await card.getByRole("heading", { name: "Change docs/long.md?" }).waitFor();
  assert.equal(await card.locator("tr.ctx").count(), 3, "the lines that stay");
  rmSync(name);
  rmSync(join(server().dir, "project", "site.yaml"), { force: true }); // of another test
  await deny(3);
  await say(page, "edit"); // its old text is in no file, so line numbers would be wrong
  await card.locator("tr.add").first().waitFor();
  assert.match((await card.locator("td.ln").allInnerTexts()).join(""), /^\s*$/);
  assert.doesNotMatch(await card.innerText(), /lines \d/);
  await page.context().close();
});

test("what is written for a request, and into a message that is changed, is there again after another view", async () => {
  const page = await open(browser, server());
  const away = async () => {
    const here = page.url();
    await page.evaluate(() => {
      location.hash = "#/usage";
    });
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await page.goto(here);
    await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"), undefined, { timeout: 5000 });
  };
  const card = page.locator(".ask-card");
  await begin(page, "permission");
  await card.getByRole("button", { name: "Deny with a reason…" }).click();
  await card.getByRole("textbox").fill("Keep the cache.");
  await away();
  assert.equal(await card.getByRole("textbox").inputValue(), "Keep the cache.", "and it takes no focus");
  const id = sessionId(page);
  await page.evaluate(() => {
    location.hash = "#/home";
  });
  const there = page.locator(".home-card", { has: page.locator(`a[href="#/s/${id}"]`) });
  assert.equal(await there.getByRole("textbox").inputValue(), "Keep the cache.");
  await there.getByRole("button", { name: "Deny with this reason" }).click();
  await there.locator(".ask-card").waitFor({ state: "detached" });
  await begin(page, "plan");
  await card.getByRole("button", { name: "Edit plan" }).click();
  await card.locator("textarea").fill("1. Something else");
  await card.locator("input").fill("Smaller steps.");
  await away();
  assert.equal(await card.locator("textarea").inputValue(), "1. Something else");
  assert.equal(await card.locator("input").inputValue(), "Smaller steps.");
  await begin(page, "question");
  await card.getByText("Something else").first().click();
  await card.locator("input.inp").fill("Neither of them");
  await away();
  assert.equal(await card.locator("input.inp").inputValue(), "Neither of them");
  await begin(page, "elicit");
  await card.getByLabel("Title").fill("Slow builds");
  await away();
  assert.equal(await card.getByLabel("Title").inputValue(), "Slow builds");
  // A message that is changed, far out of view.
  await begin(page, "hello");
  await turns(page, 1);
  await page.locator(".user").hover();
  await page.locator(".user").getByRole("button", { name: "Edit and resend" }).click();
  await page.getByRole("textbox", { name: "Edit and resend" }).fill("hello there");
  await say(page, "bulk 60");
  await turns(page, 1);
  await page.locator(".scroll").first().evaluate((e) => e.scrollTo(0, e.scrollHeight));
  await page.locator(".editing").waitFor({ state: "detached" });
  await page.locator(".scroll").first().evaluate((e) => e.scrollTo(0, 0));
  await page.locator(".editing").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Edit and resend" }).inputValue(), "hello there");
  await page.context().close();
});

test("what is thought and what runs in the background is state, in words; a turn without content has no row", async () => {
  const page = await open(browser, server());
  await begin(page, "ponder");
  const line = page.locator(".dock .act");
  await line.getByText("Thinking").waitFor();
  await line.getByText("412 tokens").waitFor();
  const panel = page.getByRole("complementary", { name: "This session" });
  await panel.locator(".sec", { hasText: "In the background" }).getByText("Watch the tide gauge").waitFor();
  assert.deepEqual(await page.locator(".thread .slot[data-kind=unknown]").count(), 0);
  assert.doesNotMatch(await page.locator(".thread").innerText(), /tokens|tide|_/);
  await page.keyboard.press("Escape");
  await turns(page, 1);
  await say(page, "twice");
  await said(page, "Fine.");
  await say(page, "hello again");
  await page.locator(".step.say", { hasText: "hello again" }).waitFor();
  await turns(page, 3);
  await page.waitForFunction(() => !document.querySelector(".act .spin"));
  assert.equal(await page.locator(".turn-foot").count(), 3, "the second end has nothing to show");
  await page.context().close();
});

test("a person's message is Markdown, folds at a line where it is long, and can be copied", async () => {
  const page = await open(browser, server(), { permissions: ["clipboard-read", "clipboard-write"] });
  await begin(page, "hello");
  await turns(page, 1);
  const text = "Use **both** and `Load`:\nin two lines\n\n```go\nfunc main() {}\n```";
  const box = page.locator(".dock [data-composer]");
  await box.fill(text);
  await box.press("Enter");
  await turns(page, 2);
  const message = page.locator(".user").nth(1);
  await message.locator("strong", { hasText: "both" }).waitFor();
  await message.locator("code", { hasText: "Load" }).waitFor();
  await message.locator(".code i.k", { hasText: "func" }).waitFor();
  assert.match(await message.innerText(), /:\nin two lines/, "a line break that was typed is kept");
  await message.hover();
  await message.getByRole("button", { name: "Copy the message" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  const answer = page.locator(".step.say").last();
  await answer.hover();
  await answer.getByRole("button", { name: "Copy the answer" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text, "the scene answers with the same");
  await answer.getByRole("button", { name: "Copy the code" }).click();
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trim(), "func main() {}");
  const long = Array.from({ length: 60 }, (_, i) => `entry ${i + 1} of the log`).join("\n");
  await box.fill(long);
  await box.press("Enter");
  await turns(page, 3);
  const folded = page.locator(".user", { hasText: "entry 1 of the log" }).locator(".bubble");
  assert.match(await folded.innerText(), /entry 12 of the log\s+48 more lines/);
  await folded.getByRole("button", { name: "48 more lines" }).click();
  await folded.getByText("entry 60 of the log").waitFor();
  await page.context().close();
});
