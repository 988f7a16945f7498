// Makes the pictures of the main states: node screenshots.mjs DIRECTORY.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { begin, launch, open, say, Server, turns } from "./driver.mjs";
import { gitServer, seedUsage, work } from "./work.mjs";

const out = process.argv[2] ?? "screenshots";
mkdirSync(out, { recursive: true });
const browser = await launch();
let server = await new Server().start();
/** Without a font for Chinese there are no pictures of it, and the name of that language is hidden in the others. */
const chinese = execFileSync("fc-list", [":lang=zh"], { encoding: "utf8" }) !== "";
if (!chinese) console.error("screenshots: no font has Chinese; its pictures are left out");
const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The pictures that the documentation shows; PARLEY_ALL_SCREENSHOTS=1 makes all. */
const shown = new Set(
  "changes-light review-dark usage-light chat-light new-light sessions-light home-light settings-general-light chat-dark permission-dark question-zh chat-zh plan-light edit-phone-dark chat-phone permission-phone home-phone".split(
    " ",
  ),
);

/** Shows a reader's directory in place of the run's temporary one. */
function nameProject(page) {
  return page.evaluate(
    (dir) => {
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode())
        n.data = n.data.replaceAll(dir, "~/harbour").replace(/^project(?=$|\/| ·)/, "harbour");
    },
    join(server.dir, "project"),
  );
}

async function shoot(page, name) {
  if (!shown.has(name) && process.env.PARLEY_ALL_SCREENSHOTS !== "1") return;
  await page.waitForTimeout(500);
  await nameProject(page);
  if (!chinese) await page.evaluate(() => document.querySelector(".side-foot .txt")?.style.setProperty("visibility", "hidden"));
  await page.screenshot({ path: join(out, `${name}.png`) });
}

async function place(page, hash, selector) {
  await page.evaluate((h) => {
    location.hash = h;
  }, hash);
  await page.locator(selector).first().waitFor();
}

for (const [suffix, options] of [
  ["light", { ...wide, colorScheme: "light" }],
  ["dark", { ...wide, colorScheme: "dark" }],
  ["zh", { ...wide, colorScheme: "light", locale: "zh-CN" }],
  ["phone", { ...phone, colorScheme: "light" }],
  ["phone-dark", { ...phone, colorScheme: "dark" }],
]) {
  if (suffix === "zh" && !chinese) continue;
  const page = await open(browser, server, options);
  await shoot(page, `new-${suffix}`);
  await begin(page, "Bound the upload retries");
  await turns(page, 1);
  await say(page, "Run the whole suite until I stop you");
  await page.locator(".md", { hasText: "I work until" }).first().waitFor();
  await say(page, "Say the two limits in docs/limits.md, with the defaults");
  await page.locator(".queue li").first().waitFor();
  await page.locator(".dock [data-composer]").fill("/re");
  await page.locator(".opt").first().waitFor();
  await shoot(page, `chat-${suffix}`);
  await page.locator(".dock [data-composer]").fill("");
  for (const [scene, prompt] of [
    ["permission", "Move the docs to one theme"],
    ["edit", "Use the plain theme in site.yaml"],
    ["question", "Why is the nightly build slow?"],
    ["plan", "Split the nightly build, plan it first"],
  ]) {
    await begin(page, prompt);
    await page.locator(".ask-card").waitFor();
    await shoot(page, `${scene}-${suffix}`);
  }
  await place(page, "#/home", ".home-card");
  await shoot(page, `home-${suffix}`);
  await place(page, "#/sessions", ".list");
  if (suffix === "light" || suffix === "dark") await page.locator(".list tbody a").first().focus();
  await shoot(page, `sessions-${suffix}`);
  for (const section of ["general", "permissions", "devices"]) {
    await place(page, `#/settings/${section}`, `[data-section=${section}]`);
    await shoot(page, `settings-${section}-${suffix}`);
  }
  await page.evaluate(async () => {
    const { sessions } = await window.parleyTest.call("session.list", {});
    for (const s of sessions) await window.parleyTest.call("session.delete", { session_id: s.session_id });
  });
  await page.context().close();
}
await server.stop();

// The second half needs a repository and some weeks of work.
const repo = await gitServer();
server = repo;
const load = [3, 5, 1, 0, 6, 8, 4, 7, 2, 0, 9, 5, 6];
seedUsage(repo, 70, (back) => 30_000 * load[back % load.length]);
for (const [suffix, options] of [
  ["light", { ...wide, colorScheme: "light" }],
  ["dark", { ...wide, colorScheme: "dark" }],
  ["zh", { ...wide, colorScheme: "light", locale: "zh-CN" }],
  ["phone", { ...phone, colorScheme: "light" }],
  ["phone-dark", { ...phone, colorScheme: "dark" }],
]) {
  if (suffix === "zh" && !chinese) continue;
  const page = await open(browser, repo, options);
  const { id } = await work(page, repo, "Give the retries two limits", { branch: `wt/retry-${suffix}` });
  await say(page, "Write the backoff down too");
  await turns(page, 2);
  await place(page, `#/c/${id}`, ".chunk");
  await page.locator(".commit input").first().fill("upload: bound the retries");
  await page.locator(".changes").evaluate((e) => e.scrollTo(0, 0));
  await shoot(page, `changes-${suffix}`);
  await page.locator(".chunk-h .btn").first().click();
  await page.locator(".cmt-form textarea").fill("Name the unit of each limit.");
  await page.locator(".cmt-form .btn.primary").click();
  await page.locator(".ch-side .cmt").waitFor();
  await page.locator(".chunk-h .btn").nth(2).click();
  await page.locator(".cmt-form textarea").fill("Five are enough: the store gives up after four.");
  await shoot(page, `review-${suffix}`);
  await place(page, "#/usage", ".chart");
  await shoot(page, `usage-${suffix}`);
  await page.context().close();
}
await browser.close();
await repo.stop();
