// The other panels: the palette, compaction, rewind, MCP servers, links, events, settings, notices.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { overflow, serious } from "./axe.mjs";
import { begin, open, say, soak, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { work } from "./work.mjs";

const { browser, git: server } = shared;

async function clean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual([...page.hosts], [server.addr]);
  await page.context().close();
}

/** Chooses an action of the palette by its name. */
async function choose(page, name) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill(name);
  await page.getByRole("option", { name }).first().click();
}

// Two at a time: each has a separate page, session and worktree.
describe("panels", { concurrency: 2 }, () => {
  test("the palette has every action of the page and of the session that is shown", async () => {
    const page = await open(browser, server);
    const { id } = await work(page, server, "rework");
    await page.keyboard.press("Control+k");
    const box = page.getByRole("combobox", { name: "Search or jump" });
    for (const name of [
      "New session",
      "Home",
      "Sessions",
      "Usage",
      "Changes",
      "Compact the conversation",
      "Rename",
      "Tag",
      "Side by side",
      "Share",
      "Export as Markdown",
      "Export as HTML",
      "Export as JSON",
      "Events of the session",
      "Archive",
      "End session",
      "Settings",
      "Keyboard",
      "Sidebar",
      "Panel",
      "Theme",
      "Density: Compact",
      "Changes: Inline",
      "中文",
    ]) {
      await box.fill(name);
      await page.getByRole("option", { name }).first().waitFor();
    }
    await box.fill("Changes: Last turn");
    await page.keyboard.press("Enter");
    await page.waitForFunction((s) => location.hash === `#/c/${s}?turn=last`, id);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goForward();
    await page.getByRole("button", { name: "Last turn", pressed: true }).waitFor();
    await choose(page, "Usage");
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await choose(page, "Density: Compact");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.density), "compact");
    await clean(page);
  });

  test("compaction is a button where the agent offers it, and its boundary is in the thread", async () => {
    const page = await open(browser, server);
    await work(page, server, "rework");
    await page.getByRole("button", { name: "Compact the conversation" }).click();
    await page.locator(".slot").getByText("The conversation was compacted.").waitFor();
    await page.locator(".slot").getByText("It held 82900 tokens.").waitFor();
    await turns(page, 2);
    await clean(page);
  });

  test("a rewind shows its files first and is done after a yes; MCP servers are asked and switched", async () => {
    const page = await open(browser, server);
    await page.getByLabel("Agent", { exact: true }).selectOption("sim");
    await begin(page, "hello there");
    await turns(page, 1);
    const message = page.locator(".user").first();
    const rewind = async (answer) => {
      await message.hover();
      await message.getByRole("button", { name: "Rewind files to here" }).click();
      const dialog = page.getByRole("dialog", { name: "Rewind files to this message?" });
      await dialog.getByText("file.txt").waitFor();
      await dialog.getByText("1 file would change: +1 −0.").waitFor();
      await dialog.getByRole("button", { name: answer }).click();
    };
    const noted = () => page.locator(".slot [data-code=rewind]").count();
    await rewind("Cancel");
    assert.equal(await noted(), 0, "the preview changes nothing");
    await rewind("Rewind files");
    await page.locator(".slot [data-code=rewind]").waitFor();
    const panel = page.getByRole("complementary", { name: "This session" });
    await panel.getByText("MCP servers", { exact: true }).click();
    await panel.getByText("connected", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "Tools of demo" }).click();
    await panel.getByText("says it again").waitFor();
    await panel.getByRole("button", { name: "Connect demo again" }).click();
    await page.getByText("demo was connected again.").waitFor();
    const demo = panel.getByRole("switch", { name: "demo is on" });
    assert.equal(await demo.isChecked(), true);
    await page.evaluate(() => {
      const { prototype } = WebSocket;
      const { send } = prototype;
      prototype.send = function (data) {
        if (String(data).includes('"mcp.toggle"')) window.answerToggle = () => send.call(this, data);
        else send.call(this, data);
      };
    });
    await demo.click();
    await page.waitForFunction(() => document.querySelector(".mcp [role=switch]").disabled);
    assert.equal(await demo.isChecked(), false, "it stays where it was put");
    await page.evaluate(() => window.answerToggle());
    // This agent leaves it on, and the switch shows that in the end.
    await page.waitForFunction(() => document.querySelector(".mcp [role=switch]").checked);
    await clean(page);
  });

  test("a link leads to a message, which is marked; its events are shown as they came", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const page = await open(browser, server, context);
    await begin(page, "trouble");
    await turns(page, 1);
    await say(page, "bulk 60");
    await page.locator(".md", { hasText: "Message 60 of many" }).waitFor();
    await page
      .locator(".scroll")
      .first()
      .evaluate((e) => e.scrollTo(0, 0));
    const step = page.locator(".step.say", { hasText: "It went through in the end." });
    await step.hover();
    await step.getByRole("button", { name: "Message" }).click();
    await page.getByRole("menuitem", { name: "Copy a link to this message" }).click();
    await page.getByText("Copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#\/s\/[^?]+\?m=msg_/);
    await step.hover();
    await step.getByRole("button", { name: "Message" }).click();
    await page.getByRole("menuitem", { name: "Events of this message" }).click();
    const dialog = page.getByRole("dialog", { name: "Events" });
    await dialog.locator("summary", { hasText: "assistant" }).first().click();
    await dialog.locator("pre", { hasText: "It went through in the end." }).first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Events of the session" }).click();
    await dialog.getByLabel("Find in the events").fill("weather_report");
    await dialog.locator("summary").first().click();
    await dialog.locator("pre", { hasText: '"sky": "clear"' }).waitFor();
    await page.keyboard.press("Escape");
    await page.goto("about:blank");
    await page.goto(link);
    const marked = page.locator(".slot.marked", { hasText: "It went through in the end." });
    await marked.waitFor();
    await page.waitForFunction(() => {
      const r = document.querySelector(".slot.marked")?.getBoundingClientRect();
      return r && r.top >= 0 && r.bottom <= innerHeight;
    });
    await page.goto("about:blank");
    await page.goto(link.replace(/m=.*/, "m=msg_gone"));
    await page.getByText("The linked message was not found.").waitFor();
    await clean(page);
  });

  test("retries and notices stand where they happened", async () => {
    const page = await open(browser, server);
    await begin(page, "hello");
    await turns(page, 1);
    await say(page, "trouble");
    await turns(page, 2);
    await say(page, "bye");
    await turns(page, 3);
    const texts = await page.locator(".slot").allInnerTexts();
    const at = (part) => texts.findIndex((t) => t.includes(part));
    assert.ok(at("The API was overloaded (529).") > at("trouble"), texts.join("|"));
    assert.ok(at("The API was overloaded (529).") < at("It went through in the end."), texts.join("|"));
    assert.match(texts[at("The API was overloaded")], /Attempt 2 of 10\./, "the tries of one request are one line");
    await clean(page);
  });

  test("settings are kept: theme, language, density, how changes are shown", async () => {
    const page = await open(browser, server);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    const dialog = page.locator("main");
    assert.match(await dialog.locator(".storage[data-kind=logs]").innerText(), /^\d.* · never deleted$/, "what sessions take");
    await dialog.getByRole("group", { name: "Theme" }).getByRole("button", { name: "Dark" }).click();
    await dialog.getByRole("group", { name: "Density" }).getByRole("button", { name: "Compact" }).click();
    await dialog.getByRole("group", { name: "Changes" }).getByRole("button", { name: "Inline" }).click();
    await dialog.getByRole("group", { name: "Language" }).getByRole("button", { name: "中文" }).click();
    await page.getByRole("heading", { name: "设置", level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "设置", level: 1 }).waitFor();
    const kept = await page.evaluate(() => {
      const { theme, density } = document.documentElement.dataset;
      return [theme, density, document.documentElement.lang, localStorage.getItem("parley.diff")];
    });
    assert.deepEqual(kept, ["dark", "compact", "zh-CN", "inline"]);
    await clean(page);
  });

  for (const [name, all, options] of [
    // Wide, in light and in dark: views.test.mjs.
    ["tablet", false, { viewport: { width: 1000, height: 800 } }],
    [
      "phone, Chinese, dark",
      true,
      { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, locale: "zh-CN", colorScheme: "dark" },
    ],
  ]) {
    test(`axe finds no serious fault in the new pages and nothing overflows: ${name}`, async () => {
      const page = await open(browser, server, { bypassCSP: true, colorScheme: "light", ...options });
      const faults = [];
      const look = async (where) => {
        if (all || soak) for (const f of await serious(page)) faults.push(`${where}: ${f}`);
        for (const c of await overflow(page)) faults.push(`${where}: overflows: ${c}`);
      };
      const { id } = await work(page, server, "rework");
      if (all) await look("session");
      await page.evaluate((s) => {
        location.hash = `#/c/${s}`;
      }, id);
      await page.locator(".chunk").first().waitFor();
      await page.locator(".chunk-h .btn").first().click();
      await page.locator(".cmt-form textarea").fill("Why six?");
      if (all) await look("a remark");
      await page.locator(".cmt-form .btn.primary").click();
      await page.locator(".ch-side .cmt").waitFor();
      await look("changes");
      await page.evaluate(() => {
        location.hash = "#/usage";
      });
      await page.locator(".chart").first().waitFor();
      for (const s of await page.locator(".plot summary").all()) await s.click();
      await look("usage");
      if (all) {
        await page.evaluate(() => {
          location.hash = "#/new";
        });
        await page.locator(".switch input").check();
        await look("worktree");
      }
      assert.deepEqual(faults, []);
      assert.deepEqual(page.faults, []);
      await page.context().close();
    });
  }
});
