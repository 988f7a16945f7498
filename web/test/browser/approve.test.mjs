// Accidental input does not answer a request: a click where one appears, a held key, an input method, a field that
// takes the focus.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, open, said, say } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

async function connect(page, prompt) {
  await page.locator(".side-foot").getByText("Connected").waitFor();
  return page.evaluate(async (text) => {
    const { call } = window.parleyTest;
    const { session_id } = await call("session.connect", { provider: "scene" });
    await call("session.query", { session_id, text });
    return session_id;
  }, prompt);
}

const waits = (page, id) =>
  page.evaluate(
    async (s) => (await window.parleyTest.call("permission.list", {})).prompts.filter((p) => p.session_id === s).length,
    id,
  );

const show = (page, place) =>
  page.evaluate((v) => {
    location.hash = v;
  }, place);

/** Where the middle of an element is. */
const middle = (element) =>
  element.evaluate((e) => {
    const r = e.getBoundingClientRect();
    return [r.left + r.width / 2, r.top + r.height / 2];
  });

test("a click where a request appears or moves does not answer it", async () => {
  const page = await open(browser, server);
  const id = await connect(page, "edit");
  await show(page, `#/s/${id}`);
  const card = page.locator(".ask-card");
  const allow = card.getByRole("button", { name: "Allow once" });
  await card.locator(".diff").waitFor();
  const [x, y] = await middle(allow);
  // Clicks that were aimed at the earlier content, as soon as the card is drawn.
  await show(page, "#/usage");
  await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  await page.mouse.move(x, y);
  await page.evaluate(() => {
    window.clicked = [];
    addEventListener("pointerdown", (e) => window.clicked.push(e.target.closest(".ask-card") !== null));
  });
  await show(page, `#/s/${id}`);
  await allow.waitFor();
  await page.mouse.dblclick(x, y);
  assert.ok((await page.evaluate(() => window.clicked)).includes(true), "the card came under the pointer");
  assert.equal(await waits(page, id), 1, "it has just come");
  // Content that grows above moves it.
  await page.locator(".ask-card:not([data-moving])").waitFor();
  await page.evaluate(() => {
    const space = document.createElement("div");
    space.style.height = "30px";
    document.querySelector(".asks:has(.ask-card)").before(space);
  });
  const [x2, y2] = await middle(allow);
  await page.mouse.click(x2, y2);
  assert.equal(await waits(page, id), 1, "it has just moved");
  await page.locator(".ask-card:not([data-moving])").waitFor();
  await page.mouse.click(...(await middle(allow)));
  await said(page, "Changed.");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("two requests: the second click of a double click does not answer the next one", async () => {
  const page = await open(browser, server);
  const ids = [await connect(page, "permission"), await connect(page, "permission")];
  await show(page, "#/home");
  const card = (id) => page.locator(`.ask-card[data-request^="${id}/"]`);
  for (const id of ids) await card(id).waitFor();
  const [upper, lower] = await page.evaluate((all) => {
    const top = (id) => document.querySelector(`.ask-card[data-request^="${id}/"]`).getBoundingClientRect().top;
    return all.toSorted((a, b) => top(a) - top(b));
  }, ids);
  await card(upper).evaluate((e) => e.scrollIntoView({ block: "center" }));
  // The second click comes as soon as the first request is gone, however slow the machine is.
  await page.evaluate((id) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector(`.ask-card[data-request^="${id}/"]`)) return;
      observer.disconnect();
      const [clientX, clientY] = window.aim;
      const target = document.elementFromPoint(clientX, clientY);
      window.second = target?.closest(".ask-card")?.dataset.request ?? String(target?.outerHTML);
      target?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 2, clientX, clientY }));
    }).observe(document.body, { childList: true, subtree: true });
  }, upper);
  // Content that grows above a request moves it, and a click is then ignored.
  for (let i = 0; i < 10 && (await card(upper).count()) > 0; i++) {
    await page.locator(`.ask-card[data-request^="${upper}/"]:not([data-moving])`).waitFor();
    const at = await middle(card(upper).getByRole("button", { name: "Allow once" }));
    await page.evaluate((aim) => {
      window.aim = aim;
    }, at);
    await page.mouse.click(...at);
    await card(upper).waitFor({ state: "detached", timeout: 3000 }).catch(() => undefined);
  }
  await page.waitForFunction(() => window.second !== undefined);
  assert.ok((await page.evaluate(() => window.second)).startsWith(`${lower}/`), "the next request came under the pointer");
  assert.equal(await waits(page, upper), 0);
  assert.equal(await waits(page, lower), 1);
  await page.context().close();
});

test("a key and a click that a busy page gets to late count from when they were made", async () => {
  const page = await open(browser, server);
  const id = await connect(page, "edit");
  await page.evaluate(() => {
    window.early = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".ask-card .ask-f button")) return;
        observer.disconnect();
        resolve(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
      }).observe(document.body, { childList: true, subtree: true });
    });
  });
  await show(page, `#/s/${id}`);
  const card = page.locator(".ask-card");
  await card.locator(".diff").waitFor();
  const allow = card.getByRole("button", { name: "Allow once" });
  await page.locator(".ask-card:not([data-moving])").waitFor();
  await allow.evaluate(async (e) => e.dispatchEvent(await window.early));
  assert.equal(await waits(page, id), 1, "the request had just come");
  await page.locator(".dock [data-composer]").press("Shift+Tab");
  await page.locator(".ask-card.armed").waitFor();
  const early = await page.evaluateHandle(() => new KeyboardEvent("keydown", { key: "o", bubbles: true, cancelable: true }));
  await page.waitForTimeout(2000);
  await page.locator(".ask-card.armed").evaluate((e, key) => e.dispatchEvent(key), early);
  assert.equal(await waits(page, id), 1, "the request had just been armed");
  await page.keyboard.press("o");
  await said(page, "Changed.");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("held keys, commands and a button that was clicked before do not answer", async () => {
  const page = await open(browser, server);
  const id = await connect(page, "edit");
  await show(page, `#/s/${id}`);
  const card = page.locator(".ask-card");
  await card.locator(".diff").waitFor();
  const allow = card.getByRole("button", { name: "Allow once" });
  for (const key of ["Enter", "Space", "Control+Enter", "Alt+Enter", "Shift+Enter", "Control+Space"]) {
    await allow.focus();
    await page.keyboard.press(key);
    assert.equal(await waits(page, id), 1, `${key} on a button that the person did not go to`);
  }
  // Tab is intended, but a key that is still held down is not.
  await page.evaluate(() => document.querySelector(".ask-card").focus());
  for (let i = 0; i < 20 && !(await allow.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press("Tab");
  await page.waitForTimeout(1100);
  const taken = await allow.evaluate((e) =>
    e.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true })),
  );
  assert.equal(taken, false, "the browser is kept from pressing it");
  await page.keyboard.press("Enter");
  await said(page, "Changed.");
  await page.context().close();
});

test("a field of a request takes the focus once", async () => {
  const page = await open(browser, server);
  for (const [scene, open_, field] of [
    ["edit", (card) => card.getByRole("button", { name: "Deny with a reason…" }).click(), /reason|why/i],
    ["question", (card) => card.getByText("Something else").click(), /Something else/],
  ]) {
    const id = await connect(page, scene);
    await show(page, `#/s/${id}`);
    const card = page.locator(`.ask-card[data-request^="${id}/"]`);
    await open_(card);
    const inside = card.locator("input.inp");
    await page.waitForFunction(() => document.activeElement?.matches(".ask-card input.inp"));
    const box = page.locator(".dock [data-composer]");
    await box.click();
    await page.keyboard.type("not ");
    // The inbox changes, and the card is drawn again.
    const other = await connect(page, "permission");
    await page.waitForFunction((s) => document.querySelector(`a[href*="${s}"]`)?.textContent.includes("needs you"), other);
    await page.keyboard.type("an answer");
    assert.equal(await box.inputValue(), "not an answer", `${field}`);
    assert.equal(await inside.inputValue(), "");
    assert.equal(await waits(page, id), 1);
    await box.fill("");
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("the Enter that ends a word of an input method sends nothing", async () => {
  const page = await open(browser, server);
  // Safari has ended the composition when its Enter comes: only the code tells.
  const enter = (selector) =>
    page.locator(selector).evaluate((e) => {
      e.focus();
      for (const more of [{ keyCode: 229 }, { isComposing: true }])
        e.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...more }));
    });
  await page.locator("[data-composer]").fill("修复登录");
  await enter(".hero [data-composer]");
  assert.match(page.url(), /#\/?(new)?$|#\/new|#token|\/$/, "no session was started");
  await page.locator("[data-composer]").fill("");
  await begin(page, "edit");
  const card = page.locator(".ask-card");
  await card.getByRole("button", { name: "Deny with a reason…" }).click();
  await card.locator("input.inp").fill("因为");
  await enter(".ask-card input.inp");
  await say(page, "later"); // it is queued, so the request still waits
  await page.locator(".queue li").waitFor();
  assert.equal(await card.count(), 1, "the reason was not sent");
  await page.locator(".queue .q-edit").click();
  await page.locator(".queue input.inp").fill("以后");
  await enter(".queue input.inp");
  assert.equal(await page.locator(".queue input.inp").count(), 1, "the edit goes on");
  await page.keyboard.press("Escape");
  await begin(page, "plan");
  await card.locator("input.inp").fill("小一点");
  await enter(".ask-card input.inp");
  await say(page, "later");
  await page.locator(".queue li").waitFor();
  assert.equal(await card.count(), 1, "the plan was not sent back");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("Usage");
  await enter("dialog[open] input");
  assert.equal(await page.locator("dialog[open]").count(), 1, "the palette waits for the word");
  await page.context().close();
});

test("a sign that is written with Option or Alt Gr is text", async () => {
  const page = await open(browser, server);
  await begin(page, "edit");
  await page.locator(".ask-card .diff").waitFor();
  const box = page.locator(".dock [data-composer]");
  await box.press("Shift+Tab");
  await page.locator(".ask-card.armed").waitFor();
  await page.locator(".ask-card.armed").evaluate((e) => {
    for (const more of [{ altKey: true }, { altKey: true, ctrlKey: true }])
      e.dispatchEvent(new KeyboardEvent("keydown", { key: "@", bubbles: true, cancelable: true, ...more }));
  });
  await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
  assert.equal(await page.locator(".ask-card.armed").count(), 0);
  await page.context().close();
});
