// Every recording of the CLI on the page: its rows are words for people, never the protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, eventually, open, sessionId } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

/** What no row shows. A person, the model and tools may write anything; of results only tags are taken away. */
const protocol = [
  ["a tag", /<\/?[a-z][a-z_-]+>/],
  ["JSON", /[{[]\s*"|":\s*["{[\d]/],
  ["a wire name", /\b[a-z]+\/[a-z]+\b|\b[a-z]+_[a-z_\d]+\b/],
  ["an id", /\b(?:msg|toolu|req)_\w|[\da-f]{8}-[\da-f]{4}-|\b[a-z\d]*\d[a-z\d]*[a-z]\d[a-z\d]{5,}\b/],
];

/** The texts of all rows of the session: the page's own words, and what tools have given back. */
const read = (page) =>
  page.evaluate(async () => {
    const box = document.querySelector(".scroll");
    const frame = () => new Promise(requestAnimationFrame);
    const all = new Map();
    box.scrollTo(0, 0);
    for (let end = 0; end < 3; ) {
      end = box.scrollTop + box.clientHeight >= box.scrollHeight - 5 ? end + 1 : 0;
      await frame();
      await frame();
      for (const slot of box.querySelectorAll(".slot")) {
        const copy = slot.cloneNode(true);
        for (const e of copy.querySelectorAll(".md, .bubble, .arg, .cmd, .diff, .out, .tag, .mono")) e.remove();
        const out = [...slot.querySelectorAll(".out")].map((e) => e.innerText).join("\n");
        all.set(slot.dataset.key, { kind: slot.dataset.kind, text: copy.textContent, out, whole: slot.innerText });
      }
      box.scrollBy(0, 1500);
    }
    return [...all.values()];
  });

test("no row of any recording shows the protocol", async () => {
  const page = await open(browser, server, { viewport: { width: 1440, height: 2000 } });
  await begin(page, "replay");
  // The last prompt of the last recording.
  await eventually(page, (s) => window.parleyTest.state(s).includes("/clear @file"), sessionId(page));
  const rows = await read(page);
  assert.ok(rows.length > 600, `${rows.length} rows`);
  const found = [];
  for (const r of rows) {
    // Addresses, paths, and two words of a sentence.
    const text = r.text.replace(/https?:\/\/\S+|(?<=^|[\s'"(])\/[^\s'"]+|\bfiles\/tools\b/g, "");
    for (const [what, like] of protocol) if (like.test(text)) found.push(`${what}: ${r.kind}: ${r.whole}`);
    if (protocol[0][1].test(r.out)) found.push(`a tag in a result: ${r.whole}`);
    if (r.kind === "user" && /<local-|<command-/.test(r.whole)) found.push(`a tag in a message: ${r.whole}`);
  }
  assert.deepEqual(found, []);
  const text = rows.map((r) => r.whole).join("\n");
  assert.match(text, /Thought\b.*, \d+ tokens/, "what was thought is counted");
  assert.match(text, /The agent is not logged in, or its key was refused\./);
  assert.match(text, /Something that this page cannot show/, "a block of another type is there");
  assert.match(text, /Set model to claude-sonnet-5/);
  // After a fault there is one action: the prompt again, where that can help.
  await begin(page, "replay api-500s");
  await page.locator(".notice.bad").getByRole("button", { name: "Try again" }).click();
  await page.locator(".user").nth(2).waitFor();
  await begin(page, "replay no-api-key");
  await page.locator(".notice.bad").getByRole("button", { name: "Copy the login command" }).waitFor();
  // What is not known is among the events.
  await begin(page, "replay cli-garbage-stdout");
  await page.locator(".turn-foot").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("Events of the session");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("textbox").fill("future_message");
  await page.getByRole("dialog").getByText("future_message").first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
