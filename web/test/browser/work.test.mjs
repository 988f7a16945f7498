// What people do with the page, in a real browser against the real server with its embedded page.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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
} from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

async function clean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual([...page.hosts], [server.addr]);
  await page.context().close();
}

test("text, thinking and tools in one message", async () => {
  const page = await open(browser, server);
  await begin(page, "story");
  await turns(page, 1);
  await same(page);
  await page
    .locator(".scroll")
    .first()
    .evaluate((e) => e.scrollTo(0, 0));
  await page.getByText("has no ceiling").first().waitFor();
  await page.locator(".slot[data-kind=thinking] summary").first().click();
  await page.getByText("one bad store holds every worker").waitFor();
  await page.getByText("Search", { exact: true }).first().waitFor();
  assert.equal(await page.locator(".todo .now").count(), 1, "the plan is a checklist in the panel");
  await page.getByText("1 changed file").first().waitFor();
  assert.match(await page.locator(".changed").innerText(), /retry\.go\s+\+3 −1/);
  assert.equal(await page.locator(".sub").count(), 1);
  assert.equal(await page.locator(".sub[open]").count(), 0, "a subagent that is done is folded");
  await say(page, "> a quotation\n\nשלום עולם\n\nplain words");
  await said(page, "plain words"); // from the top: the new message is scrolled into view
  const style = (of, name) =>
    page
      .locator(".step .md", { hasText: "plain words" })
      .locator(of)
      .evaluate((e, n) => getComputedStyle(e)[n], name);
  assert.equal(await style("blockquote", "marginLeft"), "0px");
  assert.equal(await style("p >> text=שלום", "direction"), "rtl", "each paragraph has its own direction");
  assert.equal(await style("p >> text=plain", "direction"), "ltr");
  await clean(page);
});

test("a socket cut in the middle of a delta", async () => {
  const page = await open(browser, server);
  await begin(page, "flood 160");
  await said(page, "word30 ");
  const began = Date.now();
  await page.evaluate(() => window.parleyTest.drop());
  // Both at once: unknown figures are not shown.
  await page.waitForFunction(() => {
    const has = (where, text) => [...document.querySelectorAll(where)].some((e) => e.textContent.includes(text));
    return has("[role=alert]", "Reconnecting") && !has(".act", "Writing");
  });
  assert.ok(Date.now() - began < 1000, `said after ${Date.now() - began} ms`);
  await turns(page, 1);
  await same(page);
  const calm = await open(browser, server, { url: server.url.replace("#", "#x&") });
  await calm.goto(page.url());
  await turns(calm, 1);
  const shown = (p) => p.locator(".step .md").first().innerText();
  assert.equal(await shown(page), await shown(calm));
  assert.equal(await page.locator(".user").count(), 1, "no message twice");
  await calm.context().close();
  await page.context().close();
});

test("two tabs: an answer in one closes the card in the other and names who gave it", async () => {
  const one = await open(browser, server);
  await begin(one, "permission");
  await one.locator(".ask-card").waitFor();
  const { token } = await one.evaluate(() => window.parleyTest.call("tokens.create", { role: "operator", name: "Ada" }));
  const two = await open(browser, server, { url: `http://${server.addr}/#token=${token}` });
  await two.goto(one.url());
  await two.locator(".ask-card").waitFor();
  await two.locator(".ask-card").getByRole("button", { name: "Allow once" }).click();
  await one.locator(".ask-card").waitFor({ state: "detached" });
  await one.getByText("allowed by “Ada”").waitFor();
  await turns(two, 1);
  await same(one);
  await clean(one);
  await clean(two);
});

test("what the agent advises against offers to deny it first", async () => {
  const page = await open(browser, server);
  const first = () => page.locator(".ask-card .btn.primary").allInnerTexts();
  await begin(page, "careful");
  await page.locator(".ask-card").waitFor();
  assert.match((await first()).join(), /^Deny/);
  await page.locator(".ask-card .btn.primary").click();
  await said(page, "The answer was deny.");
  await say(page, "permission");
  await page.locator(".ask-card").waitFor();
  assert.match((await first()).join(), /^Allow/);
  await same(page);
  await clean(page);
});

test("rules are chosen one by one, and deny carries its reason", async () => {
  const page = await open(browser, server);
  await begin(page, "permission");
  const card = page.locator(".ask-card");
  await card.waitFor();
  assert.equal(await card.locator("input[type=checkbox]").count(), 0, "rules are folded");
  await card.getByRole("button", { name: "Always…" }).click();
  assert.equal(await card.locator("input[type=checkbox]:checked").count(), 0, "all rules are off at first");
  assert.equal(await card.locator(".parts li").count(), 3, "each part of the command");
  await card.getByRole("checkbox", { name: "Bash(npm run build:*)" }).check();
  await card.locator("select").first().selectOption("session");
  await card.getByRole("button", { name: "Allow and keep 1 rule" }).click();
  await turns(page, 1);
  await said(page, "Built.");
  await say(page, "permission");
  await arm(page);
  await page.keyboard.press("r");
  await page.getByLabel(/^Reason/).fill("keep the cache");
  await page.keyboard.press("Enter");
  await said(page, "I leave it. Reason: keep the cache");
  await turns(page, 2);
  await page.waitForFunction(() => document.activeElement?.matches(".dock [data-composer]"));
  const denied = page.locator(".step .card", { has: page.locator(".reason") });
  await denied.locator(".chip", { hasText: "denied" }).waitFor();
  assert.equal(await page.locator(".chip.bad, .step.bad").count(), 0, "a choice is no fault");
  assert.equal((await denied.locator(".reason").innerText()).trim(), "Denied: “keep the cache”");
  assert.equal((await denied.innerText()).split("keep the cache").length, 2, "the reason is shown once");
  await same(page);
  await clean(page);
});

test("a request is shown once, with the lines of its file and what is not shown of it", async () => {
  writeFileSync(
    join(server.dir, "project", "site.yaml"),
    `${"# a line\n".repeat(20)}theme:\n  name: harbour-dark\n  code: true\nplugins: [theme-switch, search]\nend: true\n`,
  );
  const page = await open(browser, server);
  await begin(page, "edit");
  const card = page.locator(".ask-card");
  await card.locator(".ln", { hasText: "22" }).first().waitFor();
  assert.match(await card.locator(".diff").innerText(), /19\s+19\s+# a line[\s\S]*22\s+−[\s\S]*25\s+26\s+end: true/);
  assert.equal((await card.locator("h2").innerText()).trim(), "Change site.yaml?", "the path is relative");
  assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 1);
  assert.equal(await page.locator(".diff").count(), 1, "the change stands in the request alone");
  await card.getByText("lines 19–26", { exact: true }).waitFor();
  assert.doesNotMatch(await card.innerText(), /@@|main agent|project/, "neither the form of git, nor what everyone knows, nor the path again");
  assert.equal((await page.locator(".act").innerText()).split("\n")[0], "Waits for you");
  await card.getByRole("button", { name: "Always…" }).click();
  assert.match(await card.locator(".rules").innerText(), /nor do mkdir, touch, cp, mv and rm in it/);
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await said(page, "Not changed.");
  await page.locator(".step .chip", { hasText: "denied" }).waitFor();
  assert.equal(await page.locator(".chip.bad, .step.bad").count(), 0, "a choice is no fault");
  await say(page, "write");
  await card.getByText("80 of 388 lines shown").waitFor();
  await card.getByRole("heading", { name: "Create docs/long.md?" }).waitFor();
  await card.getByRole("button", { name: "308 more lines" }).click();
  assert.equal(await card.getByText("80 of 388 lines shown").count(), 0);
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await said(page, "Asked to write.");
  await say(page, "write 0");
  await card.getByText("Empty file.").waitFor();
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await turns(page, 3);
  await same(page);
  await clean(page);
});

test("questions with several answers, a plan refused, a form", async () => {
  const page = await open(browser, server);
  await begin(page, "question");
  assert.equal(
    await page.locator(".preview pre").innerText(),
    " test:\n-  go test -race ./...\n+  go test ./...",
    "as it is",
  );
  const next = page.getByRole("button", { name: "Next question" });
  const ground = () => next.evaluate((e) => getComputedStyle(e).backgroundColor);
  const before = await ground();
  await next.hover({ force: true });
  await page.waitForTimeout(200);
  assert.equal(await ground(), before, "a disabled button looks disabled under the pointer too");
  await arm(page);
  await page.keyboard.press("1");
  await page.keyboard.press("3");
  await page.keyboard.press("Enter");
  assert.equal(await page.getByText("Question 1 of 2").count(), 1, "Enter comes too soon after a character");
  await page.waitForTimeout(1100);
  await page.keyboard.press("Enter");
  await page.getByText("Where should the limits live?").first().waitFor();
  await page.locator(".ask-card").getByText("Something else").click();
  await page.getByRole("textbox", { name: "Something else" }).fill("in both");
  await page.getByRole("button", { name: /Send answers/ }).click();
  await said(page, /"Which checks should run at night only\?":"Race detector, Fuzz targets"/);
  await said(page, /"Where should the limits live\?":"in both"/);
  const answered = page.locator(".answered");
  assert.match(await answered.innerText(), /Which checks.*\s+Race detector, Fuzz targets\s+Where should.*\s+in both/);
  assert.doesNotMatch(await answered.innerText(), /[{}"]/);
  await say(page, "plan");
  await page.getByLabel("What should change?").fill("smaller steps");
  await page.getByRole("button", { name: /Keep planning/ }).click();
  await said(page, "The plan: deny smaller steps");
  assert.equal(await page.locator(".slot .bad").count(), 0, "a choice is no fault");
  await say(page, "elicit");
  await page.getByLabel("Title").fill("Nightly");
  await page.getByLabel("Days until due").fill("120");
  await page.getByRole("button", { name: "Send to tracker" }).click();
  await page.getByText("At most 90").waitFor();
  await page.getByLabel("Days until due").fill("12");
  await page.getByRole("button", { name: "Send to tracker" }).click();
  await said(page, /"days":12.*"title":"Nightly"/);
  await turns(page, 3);
  await same(page);
  await clean(page);
});

test("the queue is edited before it runs, and a turn is stopped", async () => {
  const page = await open(browser, server);
  await begin(page, "hold");
  await said(page, "I work until I am stopped.");
  await say(page, "first of the queue");
  await say(page, "second of the queue");
  await page.locator(".queue li").nth(1).waitFor();
  await page.locator(".queue li").nth(1).getByRole("button", { name: "Move up" }).click();
  await page.waitForFunction(() => document.querySelector(".queue li .cut")?.textContent?.startsWith("second"));
  await page.locator(".queue li").nth(1).getByRole("button", { name: "Edit" }).click();
  await page.locator(".queue input").fill("first, edited");
  await page.locator(".queue input").press("Enter");
  await page.getByText("first, edited").waitFor();
  await page.locator(".queue li").nth(0).getByRole("button", { name: "Remove" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".queue li").length === 1);
  await page.getByRole("button", { name: /^Stop/ }).click();
  await page
    .locator(".user")
    .filter({ hasText: "first, edited" })
    .waitFor({ timeout: 10_000 })
    .catch(async () => {
      // A stopped turn may hold the queue until a person releases it.
      await page
        .locator(".queue")
        .getByRole("button", { name: /Resume|Send now/ })
        .first()
        .click();
    });
  await turns(page, 2);
  assert.equal(await page.locator(".user").count(), 2);
  assert.equal(await page.getByText("first of the queue").count(), 0);
  await same(page);
  await clean(page);
});

test("contexts go out in their format and come back as tags; a picture is pasted", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  const box = page.locator(".dock [data-composer]");
  await box.pressSequentially("look @retry");
  await page.locator(".opt", { hasText: "upload/retry.go" }).first().click();
  assert.equal((await box.inputValue()).trim(), "look @upload/retry.go", "a mention stays in the sentence");
  await page.getByRole("button", { name: "Add context" }).click();
  await page.getByRole("radio", { name: "Web page" }).click();
  await page.getByLabel("Address").fill("https://example.com");
  await page.getByLabel("Title").fill("Example");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await paste(page);
  await box.press("Enter");
  await turns(page, 2);
  const message = page.locator(".user").nth(1);
  await message.locator(".mention", { hasText: "upload/retry.go" }).waitFor();
  assert.equal(await message.locator(".tag[data-kind=file]").count(), 0, "it is shown once");
  await message.locator(".tag[data-kind=web]", { hasText: "https://example.com" }).waitFor();
  assert.equal(await message.locator("img").count(), 1);
  assert.equal((await message.locator(".bubble").innerText()).replace(/\s+/g, " ").trim(), "look upload/retry.go");
  await message.locator(".pic").click();
  await page.getByRole("dialog").locator("img").waitFor();
  await page.keyboard.press("Escape");
  const state = await foldedState(page, sessionId(page));
  assert.match(
    state,
    /> \*\*(上下文资料|Context)\*\*\\n> \\n> - 📄 `upload\/retry\.go`\\n> - 🌐 https:\/\/example\.com \(Example\)\\n\\n"/,
  );
  await same(page);
  await clean(page);
});

test("what is dropped and pasted arrives, and what does not says why", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["the tide turns at six\n"], "tides.txt", { type: "text/plain" }));
    data.items.add(new File(["export const berth = 7;"], "berth.ts", { type: "video/mp2t" }));
    data.items.add(new File([new Uint8Array([0, 1, 255])], "crane.bin"));
    data.items.add(new File([new Uint8Array(300 * 1024).fill(65)], "long.log"));
    document
      .querySelector(".dock .box")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.getByText("crane.bin was not added: it is neither text nor an image.").waitFor();
  await page.getByText("long.log was not added: its size is 300 KB, the limit is 256 KB.").waitFor();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", Array.from({ length: 60 }, (_, i) => `pasted line ${i}`).join("\n"));
    document
      .querySelector(".dock [data-composer]")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".box .tag", { hasText: "pasted-3.txt" }).waitFor();
  await say(page, "read these");
  await eventually(page, (s) => window.parleyTest.state(s).split('"kind":"result"').length > 2, sessionId(page));
  const state = await foldedState(page, sessionId(page));
  for (const there of ["> **Context**", "the tide turns at six", "export const berth = 7;", "pasted line 59"])
    assert.ok(state.includes(there), there);
  assert.doesNotMatch(state, /上下文资料/, "the labels are in the language of the page");
  await page
    .locator(".scroll")
    .first()
    .evaluate((e) => e.scrollTo(0, 0));
  const message = page.locator(".user", { hasText: "read these" });
  assert.match(await message.locator(".bubble").innerText(), /^read these/);
  const parts = message.locator(".attached");
  assert.deepEqual(await parts.locator(".card-h .mono").allInnerTexts(), ["tides.txt", "berth.ts", "pasted-3.txt"]);
  assert.equal(await message.getByText("pasted line 59").count(), 0);
  await message.getByRole("button", { name: "56 more lines" }).click();
  await message.getByText("pasted line 59").waitFor();
  await same(page);
  await clean(page);
});

test("dropped pictures reach the agent, and the conversation opens at its end", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  const data = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: 600, height: 900 });
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    const files = [
      new File([blob], "quay.png", { type: "image/png" }),
      new File([blob], "boat.png", { type: "image/png" }),
      new File([new Uint8Array(6 * 1024 * 1024)], "huge.png", { type: "image/png" }),
      new File([new Uint8Array([0, 1, 2])], "crane.heic", { type: "image/heic" }),
    ];
    const data = new DataTransfer();
    for (const f of files) data.items.add(f);
    document
      .querySelector(".dock .box")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
  });
  await page.getByText("huge.png was not added: its size is 6.0 MB, the limit is 5.0 MB.").waitFor();
  await page.getByText("crane.heic was not added: it is neither text nor an image.").waitFor();
  await page.locator(".box .tag[data-kind=image]").nth(1).waitFor();
  const ended = (n) =>
    eventually(page, ([s, k]) => window.parleyTest.state(s).split('"kind":"result"').length > k, [sessionId(page), n]);
  await say(page, "look at these");
  await ended(2);
  const { threads } = JSON.parse(await foldedState(page, sessionId(page)));
  const sent = threads[0].items.flatMap((i) => (i.message?.role === "user" ? i.message.blocks : []));
  assert.deepEqual(
    sent.filter((b) => b.type === "image").map((b) => b.data.source.data),
    [data, data],
  );
  await say(page, "story");
  await ended(3);
  await page.reload();
  await page.locator(".dock").waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll(".pictures img")].every((i) => i.complete));
  await turns(page, 1);
  await eventually(page, async () => {
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    const e = document.querySelector(".scroll");
    return e.scrollHeight > e.clientHeight && e.scrollHeight - e.scrollTop - e.clientHeight < 2;
  });
  assert.equal(await page.locator(".below").count(), 0, "it is at the end");
  await same(page);
  await clean(page);
});

test("commands, switches and the palette", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  const box = page.locator(".dock [data-composer]");
  await box.pressSequentially("/re");
  await page.locator(".opt", { hasText: "/review" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await box.inputValue(), "/review ");
  await box.fill("");
  await page.getByLabel("Permission mode").selectOption("acceptEdits");
  await eventually(
    page,
    async (id) => (await window.parleyTest.history(id)).includes('"permissionMode":"acceptEdits"'),
    sessionId(page),
  );
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("home");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.waitForTimeout(350); // letters that follow each other faster are a sentence
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await clean(page);
});

test("Home: what needs you is answered in place, what works says what it does, what is done says what it cost", async () => {
  const page = await open(browser, server);
  await begin(page, "edit");
  await page.locator(".ask-card").waitFor();
  const edit = sessionId(page);
  await page.waitForFunction(() => /^\(\d+\)/.test(document.title));
  await begin(page, "plan");
  await page.locator(".ask-card").waitFor();
  const plan = sessionId(page);
  await begin(page, "flood 4000");
  await said(page, "word30 ");
  const works = sessionId(page);
  await page.evaluate(() => {
    location.hash = "#/inbox"; // the earlier address
  });
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  await page.reload(); // the conversations are not loaded
  const column = (name) => page.locator(".home").getByRole("region", { name, exact: true });
  const card = (name, id) => column(name).locator(".home-card", { has: page.locator(`a[href="#/s/${id}"]`) });
  await card("Needs you", edit).locator(".diff").waitFor();
  await card("Needs you", edit).getByRole("heading", { name: "Change site.yaml?" }).waitFor();
  await card("Needs you", plan).getByText("Too long for this card").waitFor();
  await card("Working", works).locator(".home-f", { hasText: "Writing" }).waitFor();
  await card("Needs you", edit).getByRole("button", { name: "Deny", exact: true }).click();
  await card("Needs you", edit).waitFor({ state: "detached" });
  await card("Done", edit).getByText("1 turn", { exact: true }).waitFor();
  await card("Needs you", plan).getByRole("link", { name: "Review" }).click();
  await page.locator(".ask-card").waitFor();
  assert.equal(sessionId(page), plan);
  await page.evaluate((id) => window.parleyTest.call("session.interrupt", { session_id: id }), works);
  await clean(page);
});

test("requests of two sessions with one id are two", async () => {
  const page = await open(browser, server);
  await begin(page, "edit");
  await page.locator(".ask-card").waitFor();
  const edit = sessionId(page);
  await begin(page, "mcp");
  await page.locator(".ask-card").waitFor();
  const mcp = sessionId(page);
  const ids = await page.evaluate(
    async (both) =>
      (await window.parleyTest.call("permission.list", {})).prompts
        .filter((p) => both.includes(p.session_id))
        .map((p) => p.prompt.request_id),
    [edit, mcp],
  );
  assert.equal(ids.length, 2);
  assert.ok(ids[0] && ids[0] === ids[1], `the agents have given the same id: ${ids}`);
  await page.evaluate(() => {
    location.hash = "#/home";
  });
  const card = (id) => page.locator(".home-card.asks", { has: page.locator(`a[href="#/s/${id}"]`) });
  await card(mcp).getByText("Nightly build over 15 minutes").waitFor();
  await card(mcp).getByRole("button", { name: "Deny", exact: true }).click();
  await card(mcp).waitFor({ state: "detached" });
  assert.equal(await card(edit).count(), 1);
  await card(edit).locator(".diff").waitFor();
  await clean(page);
});

/** Kills the server of a page, does something meanwhile, and starts it again. The server that is returned removes its files. */
async function restarted(page, own, meanwhile = async () => {}) {
  await own.kill();
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor();
  await meanwhile();
  const again = await new Server(own.dir, own.addr).start();
  again.own = true;
  await page.locator("[role=alert]", { hasText: "Reconnecting" }).waitFor({ state: "detached", timeout: 20_000 });
  return again;
}

test("a server that is killed and started again", async () => {
  const own = await new Server().start();
  const page = await open(browser, own);
  await begin(page, "story");
  await turns(page, 1);
  const again = await restarted(page, own, async () => {
    await say(page, "sent while nothing is there");
    await page.getByText("Not sent yet").waitFor();
    const there = page.url();
    await page.evaluate(() => {
      location.hash = "#/home";
    });
    await page.locator(".banner", { hasText: "Reconnecting" }).waitFor();
    await page.goto(there);
    await page.getByText("Not sent yet").waitFor();
  });
  await turns(page, 2);
  assert.equal(await page.locator(".user", { hasText: "sent while nothing is there" }).count(), 1);
  await same(page);
  await page.context().close();
  await again.stop();
});

test("a turn that a kill has cut is over, and its tool was stopped", async () => {
  const own = await new Server().start();
  const page = await open(browser, own);
  await begin(page, "flood 4000");
  await said(page, "word30 ");
  const cut = page.url();
  await begin(page, "permission");
  await page.locator(".ask-card").waitFor();
  const again = await restarted(page, own);
  await page.locator(".ask-card").waitFor({ state: "detached" });
  await page.locator(".meta .chip", { hasText: "stopped" }).first().waitFor();
  const { turns: all } = JSON.parse(await foldedState(page, sessionId(page)));
  assert.deepEqual(
    all.map((turn) => turn.done),
    [true],
  );
  await same(page);
  await page.goto(cut);
  await page.getByText("The answer was cut off.").waitFor();
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await said(page, "Continue where you were cut off.");
  assert.equal(
    await page.getByRole("button", { name: "Continue", exact: true }).count(),
    0,
    "it is not the end any more",
  );
  await page.context().close();
  await again.stop();
});

test("what a damaged file has lost is told in the session", async () => {
  const own = await new Server().start();
  const page = await open(browser, own);
  await begin(page, "bulk 40");
  await turns(page, 1);
  const record = `parley.log.${sessionId(page)}`;
  const again = await restarted(page, own, async () => {
    const blocks = readdirSync(own.dir, { recursive: true })
      .filter((name) => name.endsWith(".blk"))
      .map((name) => join(own.dir, name))
      .sort((a, b) => statSync(b).size - statSync(a).size);
    const bytes = readFileSync(blocks[0]);
    // Other records, such as those of the ledger, lie between those of the session.
    bytes[bytes.lastIndexOf(record, bytes.length >> 1) + record.length] ^= 0xff;
    writeFileSync(blocks[0], bytes);
  });
  await page.getByText("A part of this conversation is lost").first().waitFor();
  await same(page);
  await page.context().close();
  await again.stop();
});

test("an agent that has lost the conversation answers when a person has chosen how", async () => {
  const own = await new Server().start();
  const page = await open(browser, own);
  await begin(page, "story");
  await turns(page, 1);
  const again = await restarted(page, own, async () => {
    writeFileSync(join(own.dir, "forget"), "");
  });
  await say(page, "and now?");
  await page.getByText("The agent no longer has this conversation. How do you want to continue?").first().waitFor();
  assert.equal(await page.locator(".turn-foot").count(), 1);
  await page.getByText("Continue with a summary").first().click();
  await page.getByRole("button", { name: "Send answers" }).click();
  await page.getByText("A new agent continues with a summary of the conversation.").first().waitFor();
  await said(page, "The conversation goes on with the next message of the person");
  await same(page);
  await page.context().close();
  await again.stop();
});

test("a session that is begun while the connection is lost begins when it is back", async () => {
  const page = await open(browser, server);
  await page.evaluate(() => window.parleyTest.call("health", {}));
  await page.evaluate(() => {
    location.hash = "#/new";
  });
  await page.locator(".hero [data-composer]").fill("hello");
  await page.evaluate(() => {
    window.parleyTest.drop();
    document
      .querySelector(".hero [data-composer]")
      .dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  await page.waitForFunction(() => location.hash.startsWith("#/s/"));
  await turns(page, 1);
  await page.context().close();
});

test("sessions: rename, archive, search, side by side", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("A good name");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "A good name", level: 1 }).waitFor();
  const first = sessionId(page);
  await begin(page, "hello again");
  await page.evaluate((id) => {
    location.hash = `${location.hash}/${id}`;
  }, first);
  await page.waitForFunction(() => document.querySelectorAll(".sides .centre").length === 2);
  await page.evaluate(() => {
    location.hash = "#/sessions";
  });
  await page.getByPlaceholder("Search in all sessions").fill("A good");
  await page.locator(".list tbody tr").filter({ hasText: "A good name" }).waitFor();
  await page.getByRole("button", { name: "More: A good name" }).click(); // the row shows no detail, which would move the button
  await page.getByRole("menuitem", { name: "Archive" }).click({ timeout: 5000 });
  await page.getByText("Archived.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Back from the archive.").waitFor();
  const row = page.locator(".list tbody tr").filter({ hasText: "A good name" });
  assert.match((await row.innerText()).replace(/\s+/g, " "), /A good name project 1 /, "its turns");
  await page.getByRole("button", { name: "More: A good name" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  const { sessions } = await page.evaluate(() => window.parleyTest.call("session.list", {}));
  assert.equal(sessions.filter((s) => s.session_id === first).length, 0);
  await clean(page);
});

test("a past session is read page by page, and keeps its place when older pages come", async () => {
  const page = await open(browser, server);
  const id = await page.evaluate(async () => {
    const { call } = window.parleyTest;
    const { session_id } = await call("session.connect", { provider: "sim" });
    for (let i = 0; i < 150; i++)
      await call("session.query", { session_id, text: `say line ${i}`, idempotency_key: `past-${i}` });
    for (;;) {
      const me = (await call("session.list", {})).sessions.find((s) => s.session_id === session_id);
      if (me.state === "idle" && me.queued === 0) break;
      await new Promise((f) => setTimeout(f, 100));
    }
    await call("session.disconnect", { session_id });
    return (await call("history.list", {})).sessions[0].session_id;
  });
  await page.evaluate((h) => {
    location.hash = `#/h/${h}`;
  }, id);
  await page.locator(".step .md", { hasText: /^line 149$/ }).waitFor();
  const box = page.locator(".scroll").first();
  const first = (to) =>
    box.evaluate((e, y) => {
      if (y !== undefined) e.scrollTo(0, y); // the older page is asked for after this, and comes later
      const top = e.getBoundingClientRect().top;
      const slot = [...e.querySelectorAll(".slot")].find((s) => s.getBoundingClientRect().bottom > top + 5);
      return { text: slot.innerText, top: Math.round(slot.getBoundingClientRect().top) };
    }, to);
  const before = await box.evaluate((e) => e.scrollHeight);
  await box.evaluate((e) => e.scrollTo(0, 700));
  await page.waitForTimeout(300);
  const at = await first(390);
  await page.waitForFunction((h) => document.querySelector(".scroll").scrollHeight > h + 1000, before);
  await page.waitForTimeout(300);
  const now = await first();
  assert.equal(now.text, at.text);
  assert.ok(Math.abs(now.top - at.top) <= 2, `${at.top} became ${now.top}`);
  await box.evaluate((e) => e.scrollTo(0, 0));
  await page.locator(".user", { hasText: /^say line 0$/ }).waitFor();
  await clean(page);
});

test("what an agent cannot do is not offered", async () => {
  const page = await open(browser, server);
  await begin(page, "hello");
  await turns(page, 1);
  await page.getByLabel("Permission mode").locator("option[value=plan]").waitFor({ state: "attached" });
  await page.waitForFunction(
    () => document.querySelectorAll("[aria-label='Permission mode'] option").length === 3,
    undefined,
    { timeout: 30_000 },
  );
  assert.equal(await page.getByLabel("Effort", { exact: true }).count(), 0, "scenes have no effort");
  await page.locator(".user").hover();
  const offered = await page
    .locator(".user")
    .getByRole("button")
    .evaluateAll((all) => all.map((b) => b.getAttribute("aria-label")));
  assert.deepEqual(offered, ["Copy the message", "Edit and resend", "Message"], "neither fork nor rewind");
  await page.locator(".user").getByRole("button", { name: "Edit and resend" }).click();
  assert.equal(await page.getByRole("button", { name: "Resend as a new version" }).count(), 0);
  await page.getByRole("textbox", { name: "Edit and resend" }).fill("hello again");
  await page.getByRole("button", { name: "Send below instead" }).click();
  await turns(page, 2);
  assert.equal(await page.locator(".user").count(), 2);
  await clean(page);
});

test("a shared link shows its session and nothing else", async () => {
  const page = await open(browser, server);
  await begin(page, "story");
  await turns(page, 1);
  const id = sessionId(page);
  const url = await page.evaluate(
    async (session_id) => (await window.parleyTest.call("share.create", { session_id })).url,
    id,
  );
  const guest = await open(browser, server, { url: new URL(url, server.url).href });
  await turns(guest, 1);
  assert.equal(sessionId(guest), id);
  assert.doesNotMatch(guest.url(), /token|\?session/);
  await say(guest, "not allowed");
  await guest.locator(".user.failed").waitFor();
  await guest.context().close();
  await clean(page);
});

test("a new user comes from the first page to an answered permission and a second session", async () => {
  const page = await open(browser, server);
  await page.getByText("Simulated agent.").waitFor();
  await page.getByRole("button", { name: "See it ask permission" }).click();
  await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).click();
  await turns(page, 1);
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByRole("button", { name: "See it change a file" }).click();
  await page.locator(".ask-card .diff").waitFor();
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByRole("button", { name: "See it ask a question" }).click();
  await page.locator(".ask-card .choice").first().waitFor();
  await clean(page);
});
