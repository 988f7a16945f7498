// The page with the real Claude CLI, which talks to a fake API on loopback. Effects of tools are
// checked in the file system, messages in the CLI's transcript.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  arm,
  begin,
  eventually,
  foldedState,
  open,
  paste,
  said,
  same,
  say,
  Server,
  sessionId,
  turns,
  withCLI,
} from "./driver.mjs";
import { shared } from "./shared.mjs";

const { dir } = shared.server;
let page;

let broken = "";

/** A test of the one session that all of them share, so that one CLI is started. */
function step(name, f) {
  test(`real CLI: ${name}`, { timeout: 180_000 }, async () => {
    assert.equal(broken, "", "an earlier step failed");
    broken = name;
    await f();
    broken = "";
  });
}

const made = (name) => existsSync(join(dir, "project", name));
const card = () => page.locator(".ask-card");

/** The lines of the transcript that the CLI wrote. */
function transcript() {
  const projects = join(dir, "claude", "home", ".claude", "projects");
  const found = readdirSync(projects, { recursive: true }).filter((n) => /^[^/]+\/[0-9a-f-]{36}\.jsonl$/.test(n));
  return found.flatMap((n) =>
    readFileSync(join(projects, n), "utf8")
      .split("\n")
      .filter((l) => l !== "")
      .map((l) => JSON.parse(l)),
  );
}

/** Returns the messages by block, in a form that both sides can be converted to. */
function spoken(lines) {
  const out = [];
  for (const l of lines.filter((x) => x.type === "assistant" && !x.isSidechain))
    for (const b of l.message.content) {
      if (b.type === "text") out.push(["text", b.text]);
      if (b.type === "thinking") out.push(["thinking", b.thinking]);
      if (b.type === "tool_use") out.push(["tool", b.id, JSON.stringify(b.input)]);
    }
  return out;
}

function shown(state) {
  const out = [];
  for (const { message } of JSON.parse(state).threads[0].items.filter((i) => i.message?.role === "assistant"))
    for (const b of message.blocks) {
      if (b.tool) out.push(["tool", b.tool.id, JSON.stringify(b.tool.input)]);
      else out.push([b.type, b.text]);
    }
  return out;
}

step("text, thinking and two tools in one message; the page equals the transcript", async () => {
  page = await open(shared.browser, shared.server);
  await page.getByLabel("Agent", { exact: true }).selectOption("claude");
  await begin(page, "tell the sea story");
  await turns(page, 1);
  await said(page, "Two files lie in");
  await same(page);
  const id = sessionId(page);
  const there = spoken(transcript());
  assert.deepEqual(
    there.map((b) => b[0]),
    ["thinking", "text", "tool", "tool", "text"],
  );
  assert.deepEqual(shown(await foldedState(page, sessionId(page))), there);
  await page.locator(".slot[data-kind=thinking] summary").first().click();
  await page.getByText("The reader wants the sea.").waitFor();
  assert.equal(await page.locator(".slot[data-kind=tool]").count(), 2);
  await page.getByText("tide", { exact: false }).first().waitFor();
  assert.equal(await page.locator(".md li").count(), 2, "the list of the answer");
  await page.locator(".md pre .k, .md pre .s").first().waitFor();
  assert.equal(await page.getByText("command_lifecycle").count(), 0, "bookkeeping is not drawn");
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.getByText("tell the sea story").or(page.getByText("Fake title")).first().waitFor();
  const disk = JSON.parse(await foldedState(page, id)).sessionId;
  assert.equal(await page.locator(`a[href="#/h/${disk}"]`).count(), 0, "what runs is not shown as past too");
  await page.goBack();
});

step("allow runs the tool, deny does not and carries its reason", async () => {
  await say(page, "make the file once");
  await card().waitFor();
  assert.equal(made("once.txt"), false, "nothing runs before the answer");
  await card().getByRole("button", { name: "Allow once" }).click();
  await said(page, "The file is made.");
  assert.equal(made("once.txt"), true);
  await say(page, "make the file of the deny");
  await card().waitFor();
  await arm(page);
  await page.keyboard.press("r");
  await page.getByLabel(/^Reason/).fill("leave the tree alone");
  await page.keyboard.press("Enter");
  await said(page, "I heard the reason and leave it.");
  assert.equal(made("denied.txt"), false);
});

step("always keeps the rule: the CLI does not ask again", async () => {
  await say(page, "make the file always, 1");
  await card().waitFor();
  await card().getByRole("button", { name: "Always…" }).click();
  const rule = card().getByRole("checkbox").first();
  await rule.check();
  await card().locator("select").first().selectOption("session");
  await card().getByRole("button", { name: "Allow and keep 1 rule" }).click();
  await said(page, "Made with a rule.");
  assert.equal(made("always.txt"), true);
  rmSync(join(dir, "project", "always.txt"));
  await say(page, "make the file always, 2");
  await said(page, "Made without a question.");
  assert.equal(made("always.txt"), true);
  assert.equal(await card().count(), 0);
});

step("a question with several answers, a plan refused", async () => {
  await say(page, "ask me which checks");
  await card().waitFor();
  await arm(page);
  await page.keyboard.press("1");
  await page.keyboard.press("3");
  await page.waitForTimeout(1100);
  await page.keyboard.press("Enter");
  await card().getByText("Four", { exact: true }).click();
  await card().getByRole("button", { name: "Send answers" }).click();
  await said(page, "Two checks run at night.");
  const answered = await page.locator(".answered p").allInnerTexts();
  assert.deepEqual(
    answered.map((s) => s.replace(/\s+/g, " ").trim()),
    ["Which checks run at night? Race detector, Fuzz targets", "At what hour? Four"],
    "in the order of the questions",
  );
  await page.getByLabel("Permission mode").selectOption("plan");
  await page.waitForFunction((id) => window.parleyTest.state(id).includes('"permissionMode":"plan"'), sessionId(page));
  await say(page, "plan the night");
  await page.getByLabel("What should change?").fill("smaller steps, by the week");
  await page.getByRole("button", { name: /Keep planning/ }).click();
  await said(page, "I go on planning in smaller steps.");
  await page.getByLabel("Permission mode").selectOption("default");
});

step("the queue is edited before it runs, and the turn is stopped", async () => {
  await say(page, "work until I stop you");
  await said(page, "I work until");
  await say(page, "queued first");
  await say(page, "queued second");
  await page.locator(".queue li").nth(1).waitFor();
  await page.locator(".queue li").nth(0).getByRole("button", { name: "Edit" }).click();
  await page.locator(".queue input").fill("queued first, then edited");
  await page.locator(".queue input").press("Enter");
  await page.getByText("queued first, then edited").waitFor();
  await page.locator(".queue li").nth(1).getByRole("button", { name: "Remove" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".queue li").length === 1);
  await page.getByRole("button", { name: /^Stop/ }).click();
  await said(page, "The edited message arrived.");
  await page.getByText("The turn was stopped here.").waitFor();
  const lines = transcript();
  assert.equal(
    lines.filter((l) => JSON.stringify(l).includes("queued second")).length,
    0,
    "the removed one was never sent",
  );
  assert.equal(
    lines.filter((l) => JSON.stringify(l).includes("this end never comes")).length,
    0,
    "the turn was stopped",
  );
});

step("contexts go out in their format and come back as tags; a picture is pasted", async () => {
  const box = page.locator(".dock [data-composer]");
  await box.pressSequentially("look at these @retry");
  await page.locator(".opt", { hasText: "upload/retry.go" }).first().click();
  await page.getByRole("button", { name: "Add context" }).click();
  await page.getByRole("radio", { name: "Web page" }).click();
  await page.getByLabel("Address").fill("https://example.com");
  await page.getByLabel("Title").fill("Example");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await box.press("Enter");
  await said(page, "The contexts arrived as they should.");
  const message = page.locator(".user", { hasText: "look at these" });
  await message.locator(".mention", { hasText: "upload/retry.go" }).waitFor();
  await message.locator(".tag[data-kind=web]", { hasText: "https://example.com" }).waitFor();
  await paste(page);
  await say(page, "what is in this picture");
  await said(page, "The picture arrived.");
  assert.equal(await page.locator(".user", { hasText: "what is in this picture" }).locator("img").count(), 1);
  await same(page);
});

step("the effort is changed while the session lives", async () => {
  await page.getByLabel("Effort", { exact: true }).selectOption("high");
  await eventually(
    page,
    async (id) =>
      (await window.parleyTest.call("session.list", {})).sessions.find((s) => s.session_id === id).effort === "high",
    sessionId(page),
  );
  await say(page, "with more effort");
  await said(page, "I tried harder.");
  const asked = transcript().filter((l) => l.type === "api-request");
  assert.match(JSON.stringify(asked[asked.length - 1]), /"effort":"high"/, "the API is asked with it");
});

step("an edited prompt makes a version, and both can be reached", async () => {
  await say(page, "version one of a prompt");
  await said(page, "Answer to one.");
  const first = sessionId(page);
  const edit = async () => {
    const message = page.locator(".user", { hasText: "version one of a prompt" });
    await message.hover();
    await message.getByRole("button", { name: "Edit and resend" }).click();
    await page.getByRole("textbox", { name: "Edit and resend" }).fill("version two of a prompt");
  };
  await edit();
  await page.getByRole("button", { name: "Resend as a new version" }).click();
  await page.waitForFunction((id) => !location.hash.includes(id), first);
  await said(page, "Answer to two.");
  const second = sessionId(page);
  assert.equal(await page.locator(".md", { hasText: "Answer to one." }).count(), 0, "it goes on before the prompt");
  await said(page, "I tried harder.");
  await same(page);
  await page.getByRole("group", { name: "Versions of this message" }).getByText("2 / 2").waitFor();
  await page.getByRole("button", { name: "Earlier version" }).click();
  await said(page, "Answer to one.");
  assert.equal(sessionId(page), first);
  await page.getByRole("button", { name: "Later version" }).click();
  await said(page, "Answer to two.");
  assert.equal(sessionId(page), second);
  await page.getByRole("button", { name: "Earlier version" }).click();
  await said(page, "Answer to one.");
});

step("another agent goes on with the conversation", async () => {
  const first = sessionId(page);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Continue with Simulated agent" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("without tool results").waitFor();
  await dialog.getByRole("button", { name: "Start the session" }).click();
  await page.waitForFunction((id) => location.hash.startsWith("#/s/") && !location.hash.includes(id), first);
  const message = page.locator(".user").first();
  await message.getByText("This conversation was begun with another agent").waitFor();
  assert.match(await message.innerText(), /Person:\s+tell the sea story\s+Agent:\s+I read the notes/);
  await page.getByText("Simulated agent.").first().waitFor();
  await page.goBack();
  await said(page, "Answer to one.");
  assert.equal(
    await page.getByText("Simulated agent.", { exact: true }).count(),
    0,
    "the banner is the simulated agent's alone",
  );
});

step("the versions in a transcript of the past can be read", async () => {
  const session = "0e0e0e0e-1111-4111-8111-111111111111";
  const uuid = (n) => `${String(n).padStart(8, "0")}-1111-4111-8111-111111111111`;
  const line = (n, parent, role, text) =>
    JSON.stringify({
      type: role,
      uuid: uuid(n),
      parentUuid: parent ? uuid(parent) : null,
      sessionId: session,
      timestamp: `2026-11-15T10:00:0${n}Z`,
      cwd: join(dir, "project"),
      message: { role, content: [{ type: "text", text }], ...(role === "assistant" ? { id: `msg_past_${n}` } : {}) },
    });
  const lines = [
    line(1, 0, "user", "begin"),
    line(2, 1, "assistant", "begun"),
    line(3, 2, "user", "first words"),
    line(4, 3, "assistant", "an answer to the first"),
    line(5, 2, "user", "better words"),
    line(6, 5, "assistant", "an answer to the better"),
  ];
  const projects = join(dir, "claude", "home", ".claude", "projects");
  writeFileSync(join(projects, readdirSync(projects)[0], `${session}.jsonl`), `${lines.join("\n")}\n`);
  const place = page.url();
  await page.evaluate((id) => {
    location.hash = `#/h/${id}`;
  }, session);
  await said(page, "an answer to the better");
  await page.getByRole("group", { name: "Versions of this message" }).getByText("2 / 2").waitFor();
  assert.equal(await page.locator(".u-acts").count(), 0, "nothing can be done in the past");
  await page.getByRole("button", { name: "Earlier version" }).click();
  await said(page, "an answer to the first");
  assert.equal(await page.locator(".md", { hasText: "an answer to the better" }).count(), 0);
  await page.getByRole("button", { name: "Later version" }).click();
  await said(page, "an answer to the better");
  await page.goto(place);
});

step("the server is killed and started again, and the view comes back", async () => {
  const id = sessionId(page);
  const before = shown(await foldedState(page, id));
  const { addr, process: old } = shared.server;
  await shared.server.kill();
  assert.notEqual(old.exitCode ?? old.signalCode, null);
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor();
  shared.server = await new Server(dir, addr, withCLI()).start();
  shared.server.own = true;
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor({ state: "detached", timeout: 30_000 });
  await same(page);
  assert.deepEqual(shown(await foldedState(page, id)), before);
  await say(page, "still there after the crash");
  await said(page, "I remember the sea.");
  await same(page);
  assert.deepEqual(
    page.faults.filter((f) => !/ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|WebSocket/.test(f)),
    [],
  );
  await page.context().close();
});
