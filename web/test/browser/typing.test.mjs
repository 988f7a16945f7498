// Typed characters are text: a key answers only a request that was armed on purpose.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { arm, begin, open, said, sessionId, soak } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

const kinds = ["permission", "careful", "edit", "mcp", "question", "plan", "elicit"];

/** Starts a session that asks for permission at once, and returns its id. */
const ask = (page, prompt) =>
  page.evaluate(async (text) => {
    const { call } = window.parleyTest;
    const { session_id } = await call("session.connect", { provider: "scene" });
    await call("session.query", { session_id, text });
    return session_id;
  }, prompt);

/** The requests of some sessions that wait. */
const waiting = (page, ids) =>
  page.evaluate(
    async (all) =>
      (await window.parleyTest.call("permission.list", {})).prompts.filter((p) => all.includes(p.session_id)).length,
    ids,
  );

/** Numbers that are the same in every run. */
function numbers(seed) {
  let x = seed;
  return (n) => {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((x / 2 ** 32) * n);
  };
}

// Every letter that is or was a key begins a word here.
const words =
  "fix the login token order, make it smaller. Run 3 checks and 1 soak; deny? allow once again, open a door, edit o a d r e k s j g i u c always keep skip jk [x] / 12".split(
    " ",
  );

/** Presses the keys of a text, as fast as the browser takes them. */
async function type(keyboard, text) {
  const press = (c) => {
    const code = c.toUpperCase().charCodeAt(0);
    const key = { key: c, windowsVirtualKeyCode: code, ...(c === " " ? { code: "Space" } : {}) };
    return [
      keyboard.send("Input.dispatchKeyEvent", { type: "keyDown", text: c, ...key }),
      keyboard.send("Input.dispatchKeyEvent", { type: "keyUp", ...key }),
    ];
  };
  await Promise.all([...text].flatMap(press));
}

// In parallel: they mostly wait, and each has a separate page and sessions.
describe("typing", { concurrency: 3 }, () => {
  test("200 sentences on every view answer no request", async () => {
    const page = await open(browser, server);
    const ids = await Promise.all(kinds.map((k) => ask(page, k)));
    const keyboard = await page.context().newCDPSession(page);
    const next = numbers(27);
    const sentence = () => Array.from({ length: 2 + next(3) }, () => words[next(words.length)]).join(" ");
    const views = [
      ...ids.map((id) => `#/s/${id}`),
      `#/s/${ids[0]}/${ids[4]}`,
      "#/new",
      "#/home",
      "#/sessions",
      "#/usage",
      "#/settings",
      `#/c/${ids[2]}`,
    ];
    const show = async (view) => {
      await page.evaluate((v) => {
        location.hash = v;
      }, view);
      await page.locator("#main, .sides").first().waitFor();
      if (!view.startsWith("#/s/") && view !== "#/home") return;
      await page
        .locator(".ask-card")
        .first()
        .waitFor()
        .catch(async () => {
          const seen = await page.evaluate(() => `${location.hash}: ${document.body.innerText}`);
          assert.fail(`${view} shows no request, but ${seen}`);
        });
    };
    const focus = {
      page: () => page.evaluate(() => document.activeElement?.blur()),
      card: () => page.evaluate(() => document.querySelector(".ask-card")?.focus()),
      button: () => page.evaluate(() => document.querySelector(".ask-card .ask-f button")?.focus()),
      composer: () => page.evaluate(() => document.querySelector("[data-composer]")?.focus()),
    };
    // Each sentence is real key presses; PARLEY_SOAK types all of them on each view.
    const count = soak ? 200 : Math.ceil(200 / views.length);
    for (const [v, view] of views.entries()) {
      await show(view);
      for (let i = 0; i < count; i++) {
        const way = Object.keys(focus)[i % 4];
        await focus[way]();
        if (i === 1) ids.push(await ask(page, kinds[v % kinds.length])); // it arrives while the sentence is typed
        await type(keyboard, sentence());
        if (i % 5 === 4) await page.keyboard.press("Enter");
        if ((await page.evaluate(() => location.hash)) !== view) await show(view);
      }
    }
    // The last one may still be on its way; one that is answered does not come back.
    const there = (n) => waiting(page, ids).then((k) => k >= n);
    for (let i = 0; i < 100 && !(await there(ids.length)); i++) await page.waitForTimeout(100);
    assert.equal(await waiting(page, ids), ids.length);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("the input has the focus, and what is typed anywhere goes there", async () => {
    const page = await open(browser, server);
    const box = page.locator("[data-composer]");
    const focused = () => page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
    await focused();
    await begin(page, "edit");
    await page.locator(".ask-card .diff").waitFor();
    await focused();
    await page.locator(".ask-card h2").click();
    await page.keyboard.type("of course?");
    assert.equal(await box.inputValue(), "of course?", "a click does not arm");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.type("jot [ G i c");
    assert.equal(await box.inputValue(), "of course?jot [ G i c");
    await page.locator(".ask-card").getByRole("button", { name: "Allow once" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type(" !");
    assert.equal(await box.inputValue(), "of course?jot [ G i c !", "a button that was not reached by Tab");
    await box.fill("");
    await page.locator(".ask-card").getByRole("button", { name: "Deny", exact: true }).click();
    await said(page, "Not changed.");
    await focused();
    await page.evaluate(() => {
      location.hash = "#/usage";
    });
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await page.waitForTimeout(350); // letters that follow each other faster are a sentence
    await page.keyboard.type("c");
    await page.keyboard.type("Fix the login");
    await page
      .waitForFunction(() => document.querySelector("[data-composer]")?.value === "Fix the login", undefined, { timeout: 10_000 })
      .catch(async () => assert.fail(await page.evaluate(() => `${location.hash} has ${document.querySelector("[data-composer]")?.value}`)));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a request is armed on purpose, and then a key answers it", async () => {
    const page = await open(browser, server);
    await begin(page, "edit");
    const card = page.locator(".ask-card");
    await card.locator(".diff").waitFor();
    const box = page.locator(".dock [data-composer]");
    assert.equal(await card.locator(".keys:visible").count(), 0, "no key hints at rest");
    await box.press("Shift+Tab");
    await page.keyboard.type("ok then"); // at once: after 600 ms the first letter is an answer
    assert.equal(await box.inputValue(), "ok then", "a sentence that began on the card is whole");
    assert.equal(await page.locator(".ask-card.armed").count(), 0);
    await box.press("Shift+Tab");
    await card.getByText("Letters answer this request now").waitFor();
    assert.ok((await card.locator(".keys:visible").count()) > 2);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
    assert.equal(await page.locator(".ask-card.armed").count(), 0);
    await box.press("Shift+Tab");
    await page.locator(".ask-card.armed").waitFor();
    await page.evaluate(() => dispatchEvent(new Event("blur"))); // another window is in front
    await page.locator(".ask-card.armed").waitFor({ state: "detached" });
    await arm(page);
    await page.keyboard.press("O");
    assert.equal(await box.inputValue(), "ok thenO", "a capital letter is text");
    await arm(page);
    await page.keyboard.press("o");
    await said(page, "Changed.");
    await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
    // On Home J arms the next request.
    const id = await ask(page, "careful");
    await page.evaluate((s) => {
      location.hash = `#/s/${s}`;
    }, id);
    await card.waitFor();
    const key = await card.getAttribute("data-request");
    await page.evaluate((k) => {
      location.hash = `#/home/${encodeURIComponent(k)}`;
    }, key);
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.locator(`.ask-card[data-request="${key}"]`).waitFor();
    await page.waitForTimeout(400);
    await page.keyboard.press("j");
    await page.locator(".ask-card.armed").waitFor();
    await page.keyboard.press("k");
    await page.locator(".ask-card.armed").waitFor();
    for (let i = 0; i < 30; i++) {
      if ((await page.locator(".ask-card.armed").getAttribute("data-request")) === key) break;
      await page.keyboard.press("j");
      await page.waitForTimeout(350);
    }
    // A busy machine may draw the armed card late; a letter before that is no answer.
    const asked = page.locator(`.ask-card[data-request="${key}"]`);
    for (let i = 0; i < 10 && (await asked.count()) > 0; i++) {
      await page.waitForTimeout(1500);
      await page.keyboard.press("d");
      await asked.waitFor({ state: "detached", timeout: 1500 }).catch(() => undefined);
    }
    assert.equal(await asked.count(), 0, "the request is answered");
    assert.deepEqual(page.faults, []);
    assert.ok(sessionId(page) !== id);
    await page.context().close();
  });
});
