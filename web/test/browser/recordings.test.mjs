// Every recording of the CLI on the page: its rows are words for people, never the protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, eventually, foldedState, open, sampled, serverState, sessionId } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

/** Texts that no row may show. A person, the model and tools may write anything; only tags are removed from results. */
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

/** Returns the texts of the rows that are not words for people. */
function noise(rows) {
  const found = [];
  for (const r of rows) {
    // Addresses, paths, and two words of a sentence.
    const text = r.text.replace(/https?:\/\/\S+|(?<=^|[\s'"(])\/[^\s'"]+|\bfiles\/tools\b/g, "");
    for (const [what, like] of protocol) if (like.test(text)) found.push(`${what}: ${r.kind}: ${r.whole}`);
    if (protocol[0][1].test(r.out)) found.push(`a tag in a result: ${r.whole}`);
    if (r.kind === "notice" && r.whole.includes("This page cannot show this part")) found.push(`a message that says nothing: ${r.whole}`);
    if (r.kind === "user" && /<local-|<command-/.test(r.whole)) found.push(`a tag in a message: ${r.whole}`);
  }
  return [...new Set(found)];
}

/** Omits the progress of a tool, which is not stored and which a slow page does not get completely. */
const lasting = (key, value) => (key === "progress" ? undefined : value);

/** Whether the events of the session that is shown have a text. */
async function amongEvents(page, text) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("Events of the session");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("textbox").fill(text);
  await page.getByRole("dialog").getByText(text).first().waitFor();
}

test("no row of any recording shows the protocol", { timeout: 300_000 }, async () => {
  const page = await open(browser, server, { viewport: { width: 1440, height: 2000 } });
  await begin(page, "replay");
  // The last prompt of the last recording.
  await eventually(page, (s) => window.parleyTest.state(s).includes("/clear @file"), sessionId(page));
  const rows = await read(page);
  assert.ok(rows.length > 600, `${rows.length} rows`);
  assert.deepEqual(noise(rows), []);
  const text = rows.map((r) => r.whole).join("\n");
  assert.match(text, /Thought\b.*, \d+ tokens/, "what was thought is counted");
  assert.match(text, /The agent is not logged in, or its key was refused\./);
  assert.match(text, /This page cannot show this part/, "a block of another type is there");
  assert.match(text, /Set model to claude-sonnet-5/);
  // After a fault there is one action: the prompt again, where that can help.
  await begin(page, "replay api-500s");
  await page.locator(".notice.bad").getByRole("button", { name: "Try again" }).click();
  await page.locator(".user").nth(2).waitFor();
  await begin(page, "replay no-api-key");
  await page.locator(".notice.bad").getByRole("button", { name: "Copy the login command" }).waitFor();
  // Unknown messages are among the events.
  await begin(page, "replay cli-garbage-stdout");
  await page.locator(".turn-foot").first().waitFor();
  await amongEvents(page, "future_message");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

// The varied ones have all that the others have, and what no agent sends yet. Those of the CLI are read above.
for (const [what, least, sample] of [
  ["codex", 100, false],
  ["acp", 100, false],
  ["wire varied", 600, false],
  ["codex varied", 100, true],
  ["acp varied", 100, true],
])
  test(`no row shows the protocol: ${what}`, { timeout: 300_000, skip: !sample && sampled }, async () => {
    const page = await open(browser, server, { viewport: { width: 1440, height: 2000 } });
    await begin(page, `recorded ${what}`);
    const id = sessionId(page);
    await eventually(page, (s) => window.parleyTest.state(s).includes("The recordings end here."), id, 120_000);
    const rows = await read(page);
    assert.ok(rows.length > least, `${rows.length} rows`);
    assert.deepEqual(noise(rows), []);
    // Unknown is data: the page and the server agree on it, and the events have it.
    // The last events may arrive between the two reads.
    const states = () => Promise.all([foldedState(page, id), serverState(page, id)].map(async (s) => JSON.stringify(JSON.parse(await s, lasting))));
    let [mine, its] = await states();
    for (const end = Date.now() + 10_000; mine !== its && Date.now() < end; [mine, its] = await states()) await page.waitForTimeout(50);
    assert.equal(mine, its);
    if (what.includes("varied")) await amongEvents(page, "quantum_leap");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

for (const what of ["wire", "codex", "acp"])
  test(`no request shows the protocol: ${what}`, { timeout: 300_000 }, async () => {
    const page = await open(browser, server, { viewport: { width: 1440, height: 2000 } });
    await begin(page, `recorded asks ${what} varied`);
    const cards = page.locator(".ask-card");
    await cards.first().waitFor();
    await page.waitForTimeout(1000);
    const rows = await cards.evaluateAll((all) =>
      all.map((card) => {
        const copy = card.cloneNode(true);
        for (const e of copy.querySelectorAll(".md, .arg, .cmd, .diff, .out, .mono, .rawbox, .parts, pre, code")) e.remove();
        return { kind: "request", text: [...copy.querySelectorAll("*")].flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data)).join("\n"), out: "", whole: card.innerText };
      }),
    );
    assert.ok(rows.length > 5, `${rows.length} requests`);
    assert.deepEqual(noise(rows), []);
    for (const card of await cards.all()) assert.ok((await card.getByRole("button").count()) > 1, "it can be answered");
    assert.deepEqual(page.faults, []);
    await page.evaluate((s) => window.parleyTest.call("session.interrupt", { session_id: s }), sessionId(page));
    await page.context().close();
  });
