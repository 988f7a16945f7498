// Films a session with the real CLI, from the prompt to the diff: node film.mjs DIRECTORY. Each file is named
// NUMBER-MILLISECONDS.png; internal/tool/film joins them.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open, Server, turns, withCLI } from "./driver.mjs";

const out = process.argv[2] ?? "film";
mkdirSync(out, { recursive: true });
const script = fileURLToPath(new URL("film.script.json", import.meta.url));
const [flag, cli] = withCLI();
const browser = await launch();
const server = await new Server(undefined, undefined, [flag, cli, "-script", script, "-git"]).start();
const page = await open(browser, server, { viewport: { width: 1080, height: 680 }, colorScheme: "light" });

let n = 0;
async function frame(ms) {
  await page.evaluate(
    (dir) => {
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let t = walk.nextNode(); t; t = walk.nextNode())
        if (t.data.includes(dir) || /^project(?=$|\/| ·)/.test(t.data))
          t.data = t.data.replaceAll(dir, "~/harbour").replace(/^project(?=$|\/| ·)/, "harbour");
    },
    join(server.dir, "project"),
  );
  await page.screenshot({ path: join(out, `${++n}-${ms}.png`), caret: "initial" });
}

/** Films until something has come. */
async function until(what) {
  let done = false;
  what.finally(() => {
    done = true;
  });
  while (!done) await frame(120);
  await what;
}

await page.waitForFunction(() => document.activeElement?.matches("[data-composer]"));
await page.locator("select[aria-label=Agent]").selectOption("claude");
await page.locator("[data-composer]").focus();
await frame(900);
for (const word of "Give up after six tries in @retry".split(/(?<= )/)) {
  await page.keyboard.type(word);
  await frame(140);
}
await page.locator("[role=option]", { hasText: "retry.go" }).first().waitFor();
await frame(700);
await page.keyboard.press("Enter");
await page.locator("[role=option]").first().waitFor({ state: "detached" });
await frame(600);
await page.keyboard.press("Enter");
await until(page.locator(".ask-card").waitFor());
await page.waitForTimeout(300);
await frame(2200);
await page.keyboard.press("Shift+Tab");
await page.locator(".ask-card.armed").waitFor();
await frame(900);
await page.waitForTimeout(1100);
await page.keyboard.press("o");
await until(turns(page, 1));
await page.waitForTimeout(300);
await frame(2500);
await page.keyboard.press("Control+k");
await page.getByRole("combobox", { name: "Search or jump" }).waitFor();
await page.keyboard.type("Changes");
await page.getByRole("option", { name: "Changes" }).first().waitFor();
await frame(700);
await page.keyboard.press("Enter");
await page.locator(".chunk").first().waitFor();
await page.waitForTimeout(500);
await frame(4000);
await browser.close();
await server.stop();
