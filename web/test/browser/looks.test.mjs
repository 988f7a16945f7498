// How individual elements are drawn: quotations, the direction of text, subagents, tasks, empty files, buttons that are
// off, toasts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, open, said, say, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes, work } from "./work.mjs";

const { browser, git: server } = shared;

const background = (e) => getComputedStyle(e).backgroundColor;

test("a quotation is as far from its neighbours as a paragraph is, and each paragraph has its own direction", async () => {
  const page = await open(browser, server);
  await begin(page, "quote");
  await turns(page, 1);
  const answer = page.locator(".step.say .md").first();
  const at = await answer.evaluate((md) => {
    const box = (e) => e.getBoundingClientRect();
    const [before, quote, after, other] = [...md.children];
    const [first, second] = quote.children;
    return {
      above: box(quote).top - box(before).bottom,
      below: box(after).top - box(quote).bottom,
      paragraphs: box([...md.children][4]).top - box(other).bottom,
      inside: box(second).top - box(first).bottom,
      head: box(first).top - box(quote).top,
      tail: box(quote).bottom - box(second).bottom,
      indent: box(first).left - box(before).left,
    };
  });
  assert.ok(at.paragraphs > 0);
  assert.equal(at.above, at.paragraphs);
  assert.equal(at.below, at.paragraphs);
  assert.equal(at.inside, at.paragraphs);
  assert.deepEqual([at.head, at.tail], [0, 0], "no margin of the browser's own inside");
  assert.ok(at.indent > 0 && at.indent < 30, `${at.indent} px to the right`);
  const directions = await answer
    .locator("p, li")
    .evaluateAll((all) => all.map((e) => [getComputedStyle(e).direction, e.textContent]));
  for (const [direction, text] of directions) assert.equal(direction, /[א-ת]/.test(text) ? "rtl" : "ltr", text);
  assert.ok(directions.some(([d]) => d === "rtl"));
  // The same in a person's message.
  await say(page, "First this.\n\nואז זה.");
  await turns(page, 2);
  const mine = await page
    .locator(".user")
    .nth(1)
    .locator(".bubble p")
    .evaluateAll((all) => all.map((e) => getComputedStyle(e).direction));
  assert.deepEqual(mine, ["ltr", "rtl"]);
  await page.context().close();
});

test("a subagent is open while it works and folded when it is done; its request names it", async () => {
  const page = await open(browser, server);
  await begin(page, "delegate");
  const sub = page.locator("details.sub");
  await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).waitFor();
  await sub.getByText("I search for it.").waitFor();
  assert.equal(await sub.evaluate((e) => e.open), true);
  await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).click();
  await said(page, "It has one caller.");
  await page.waitForFunction(() => !document.querySelector("details.sub").open);
  await sub.getByText("done").waitFor();
  assert.equal(await sub.getByText("I search for it.").count(), 0);
  await sub.locator("summary").click();
  await sub.getByText("There is one caller.").waitFor();
  await page.context().close();
});

test("a task in the background has the name of the call that has started it", async () => {
  const page = await open(browser, server);
  await begin(page, "background");
  const list = page.getByRole("complementary", { name: "This session" }).locator(".sec", { hasText: "In the background" });
  await list.getByText("Serve the docs").waitFor();
  assert.doesNotMatch(await list.innerText(), /b7f3|local_bash/);
  assert.doesNotMatch(await page.locator(".thread").innerText(), /b7f3/);
  await page.context().close();
});

test("an empty new file is named as that: in its request, in the conversation and among the changes", async () => {
  const page = await open(browser, server);
  const { id } = await work(page, server);
  await say(page, "empty");
  await page.locator(".ask-card").getByRole("heading", { name: "Create docs/empty.md?" }).waitFor();
  await page.locator(".ask-card").getByText("Empty file.").waitFor();
  await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).click();
  await turns(page, 1);
  await page.locator(".step .card").getByText("Empty file.").waitFor();
  await changes(page, id);
  const file = page.getByRole("region", { name: "docs/empty.md", exact: true });
  await file.getByText("Empty file.").waitFor();
  await file.getByText("new", { exact: true }).waitFor();
  await page.context().close();
});

test("what the agent puts right itself is said once and without alarm: a change that was not applied, an exit code", async () => {
  const page = await open(browser, server);
  await begin(page, "unapplied");
  await turns(page, 1);
  const edit = page.locator(".slot[data-kind=tool]").first();
  await edit.getByText("not applied", { exact: true }).waitFor();
  await edit.getByText("The text to replace is not in the file.").waitFor();
  assert.doesNotMatch(await edit.innerText(), /failed|lines? 1|String to replace|[+−]\d/);
  assert.equal(await edit.locator(".bad").count(), 0);
  await edit.getByRole("button").first().click();
  await edit.locator("tr.del", { hasText: "no such text" }).waitFor();
  assert.match((await edit.locator("td.ln").allInnerTexts()).join(""), /^\s*$/, "it has no numbers in the file");
  const bash = page.locator(".slot[data-kind=tool]").nth(1);
  await bash.getByText("gofmt: command not found").waitFor();
  assert.equal((await bash.innerText()).match(/exit code 127/gi).length, 1);
  await page.context().close();
});

test("what a person sends is brought into view, wherever they were reading", async () => {
  const page = await open(browser, server);
  await begin(page, "bulk 40");
  await turns(page, 1);
  await page.locator(".scroll").first().evaluate((e) => e.scrollTo(0, 0));
  await page.locator(".below").waitFor();
  await say(page, "hold");
  await page.waitForFunction(() => {
    const mine = [...document.querySelectorAll(".user")].find((e) => e.innerText.trim() === "hold")?.getBoundingClientRect();
    const dock = document.querySelector(".dock").getBoundingClientRect();
    return mine && mine.top >= 0 && mine.bottom <= dock.top;
  });
  // A reader further up is not moved when the answer arrives.
  await said(page, "I work until I am stopped.");
  await page.locator(".scroll").first().evaluate((e) => e.scrollTo(0, 0));
  await page.locator(".below").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".dock .act").waitFor({ state: "detached" });
  assert.ok((await page.locator(".scroll").first().evaluate((e) => e.scrollTop)) < 5);
  await page.context().close();
});

test("a line of a request goes on in the next one, and not out of view", async () => {
  const page = await open(browser, server);
  await begin(page, "wide");
  const card = page.locator(".ask-card");
  await card.locator("tr.add").nth(2).waitFor();
  const [inside, outside] = await card.locator(".scrollx").evaluate((e) => [e.scrollWidth, e.clientWidth]);
  assert.equal(inside, outside);
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await page.locator(".reason").or(page.getByText("Not written.")).first().waitFor();
  await page.context().close();
});

test("a primary button that is off looks the same under the pointer, and one that is on does not", async () => {
  const page = await open(browser, server);
  // Colours change at once, so that they can be compared.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { transition: none !important }");
    document.adoptedStyleSheets = [sheet];
  });
  const { id } = await work(page, server, "rework");
  await changes(page, id);
  const button = page.getByRole("button", { name: /^Commit to/ });
  await button.waitFor();
  assert.equal(await button.isDisabled(), true, "there is no message yet");
  await page.mouse.move(5, 5);
  const off = await button.evaluate(background);
  const hover = async () => {
    const b = await button.boundingBox();
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
    return button.evaluate(background);
  };
  assert.equal(await hover(), off, "under the pointer");
  await page.mouse.down();
  assert.equal(await button.evaluate(background), off, "pressed");
  await page.mouse.up();
  await page.mouse.move(5, 5);
  await page.getByLabel("Commit message").fill("upload: bound the retries");
  const on = await button.evaluate(background);
  assert.notEqual(on, off);
  assert.notEqual(await hover(), on);
  await page.context().close();
});

for (const [device, viewport] of [
  ["wide", { width: 1440, height: 900 }],
  ["a phone", { width: 390, height: 844 }],
])
  test(`a toast lies on no field: ${device}`, async () => {
    const page = await open(browser, server, { viewport });
    const { id } = await work(page, server, "rework");
    const views = {
      session: [`#/s/${id}`, ".dock [data-composer]"],
      changes: [`#/c/${id}`, ".commit input"],
      new: ["#/new", ".hero [data-composer]"],
      sessions: ["#/sessions", "[data-search]"],
      settings: ["#/settings", "[data-section=general]"],
      usage: ["#/usage", "main h1"],
      home: ["#/home", "main h1"],
    };
    const found = [];
    for (const [name, [hash, there]] of Object.entries(views)) {
      await page.evaluate((h) => {
        location.hash = h;
      }, hash);
      await page.locator(there).first().waitFor();
      // The end of a long page, where its last fields are.
      await page.evaluate(() => {
        for (const e of document.querySelectorAll("main, main *")) if (e.scrollHeight > e.clientHeight) e.scrollTop = e.scrollHeight;
        for (let i = 0; i < 3; i++) window.parleyTest.toast(`Something happened, and this is a sentence about it: ${i}.`);
      });
      await page.locator(".toast").nth(2).waitFor();
      await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
      found.push(
        ...(await page.evaluate((view) => {
          const box = (e) => e.getBoundingClientRect();
          const fields = [...document.querySelectorAll("input, textarea, select")].filter((e) => e.checkVisibility() && box(e).width > 1);
          return [...document.querySelectorAll(".toast")].flatMap((t) =>
            fields
              .filter((f) => box(f).left < box(t).right && box(t).left < box(f).right && box(f).top < box(t).bottom && box(t).top < box(f).bottom)
              .filter((f) => {
                const b = box(f);
                const top = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);
                return top !== null && t.contains(top);
              })
              .map((f) => `${view}: ${f.ariaLabel || f.placeholder || f.id || f.outerHTML.slice(0, 80)}`),
          );
        }, name)),
      );
      await page.evaluate(() => {
        for (const b of document.querySelectorAll(".toast .ibtn")) b.click();
      });
    }
    assert.deepEqual(found, []);
    await page.context().close();
  });
