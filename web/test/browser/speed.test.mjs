// How fast the page is, and whether it folds every recording as the server does. With
// PARLEY_SOAK it plays all recordings and works through an hour of an agent's work.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { begin, eventually, foldedState, open, say, serverState, sessionId, soak, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

/** Traces a page while f runs: the longest task of its main thread, and its scripting time, in ms. */
async function traced(page, f) {
  await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel"] });
  await f();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const main = traceEvents
    .find((e) => e.name === "TracingStartedInBrowser")
    ?.args?.data?.frames?.find((x) => x.url.startsWith("http"));
  const thread = traceEvents.find(
    (e) => e.name === "thread_name" && e.args.name === "CrRendererMain" && e.pid === (main?.processId ?? e.pid),
  );
  const own = traceEvents.filter((e) => e.pid === thread?.pid && e.tid === thread?.tid && e.ph === "X");
  const tasks = own.filter((e) => e.name === "RunTask" || e.name === "ThreadControllerImpl::RunTask");
  // The CPU time of the thread, because on a busy machine other programs run in between.
  const time = (e) => (e.tdur ?? e.dur) / 1000;
  const longest = Math.max(0, ...tasks.map(time));
  const clock = Math.max(0, ...tasks.map((e) => e.dur / 1000));
  const script = own.filter((e) => e.name === "FunctionCall").reduce((n, e) => n + time(e), 0);
  return { longest, clock, script, tasks: tasks.length };
}

/** How long the page takes to open, in ms: the best of a few, since others use the machine too. */
async function opens(page) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 4; i++) {
    const began = Date.now();
    await page.reload();
    await page.locator(".slot").nth(3).waitFor();
    best = Math.min(best, Date.now() - began);
  }
  return best;
}

const deltas = 300;

test("a hundred deltas a second: no long task, and the same work at message 10 and 5,000", {
  timeout: 300_000,
}, async () => {
  const page = await open(browser, server);
  await begin(page, "bulk 10");
  await turns(page, 1);
  const small = await opens(page);
  await say(page, "flood 40");
  await turns(page, 2);
  await say(page, `flood ${deltas}`);
  const flooded = async () => {
    await page
      .locator(".md", { hasText: `word${deltas - 1} ` })
      .last()
      .waitFor();
    await page.waitForFunction(() => !document.querySelector(".act .spin"));
  };
  const early = await traced(page, flooded);
  await say(page, "bulk 4990");
  await page.locator(".md", { hasText: "Message 4990 of many" }).first().waitFor({ timeout: 120_000 });
  await page.waitForFunction(
    () => document.querySelectorAll(".turn-foot").length > 0 && !document.querySelector(".act .spin"),
    undefined,
    { timeout: 60_000 },
  );
  await say(page, `flood ${deltas}`);
  await page
    .locator(".user", { hasText: `flood ${deltas}` })
    .last()
    .waitFor();
  const late = await traced(page, flooded);
  console.log(
    `# longest task: ${early.longest.toFixed(1)} ms at message 10, ${late.longest.toFixed(1)} ms at message 5,000 (by the clock ${early.clock.toFixed(1)} and ${late.clock.toFixed(1)} ms)`,
  );
  console.log(
    `# scripting per delta: ${(early.script / deltas).toFixed(3)} ms at message 10, ${(late.script / deltas).toFixed(3)} ms at message 5,000`,
  );
  assert.ok(early.tasks > 100 && late.tasks > 100, "the trace has the page's tasks");
  assert.ok(early.longest < 50 && late.longest < 50);
  assert.ok(late.script / early.script < 2, "the work grows with the conversation");
  const address = page.url();
  const took = await opens(page);
  console.log(
    `# 5,000 messages open in ${took} ms, 10 in ${small} ms; ${await page.locator(".slot").count()} rows drawn`,
  );
  assert.ok(took < 4 * small, `5,000 messages open in ${took} ms, 10 in ${small} ms`);
  assert.ok((await page.locator(".slot").count()) < 120);
  assert.equal(page.url(), address);
  const box = page.locator(".scroll").first();
  await box.evaluate((e) => e.scrollTo(0, e.scrollHeight / 2));
  await page.waitForTimeout(200);
  const place = () =>
    box.evaluate((e) => {
      const slot = [...e.querySelectorAll(".slot")].find(
        (s) => s.getBoundingClientRect().bottom > e.getBoundingClientRect().top + 5,
      );
      return { key: slot.dataset.key, top: Math.round(slot.getBoundingClientRect().top) };
    });
  const before = await place();
  // From another position: the reader's own message is scrolled into view.
  await page.evaluate(
    (session_id) => window.parleyTest.call("session.query", { session_id, text: "story" }),
    sessionId(page),
  );
  await page.waitForTimeout(1500);
  assert.deepEqual(await place(), before, "the reader's place moved");
  await page.getByRole("button", { name: "New below" }).click();
  await page.getByText("The policy now has two limits").first().waitFor();
  await page.context().close();
});

test("every recording folds to what the server folds", { timeout: soak ? 1_800_000 : 300_000 }, async () => {
  const corpus = process.env.PARLEY_WIRE_CORPUS;
  const all = readdirSync(corpus).sort();
  const chosen = soak ? all : all.filter((_, i) => i % Math.max(1, Math.floor(all.length / 20)) === 0).slice(0, 20);
  const page = await open(browser, server);
  const bad = [];
  for (const name of chosen) {
    await begin(page, "hello");
    await turns(page, 1); // the page follows from here, and does not begin with a snapshot of the end
    const id = sessionId(page);
    await say(page, `replay ${name}`);
    const equal = await eventually(
      page,
      async (s) => {
        const there = await window.parleyTest.history(s);
        return (
          /"state":"(idle|failed|interrupted|ended)"/.test(there) &&
          there.split('"kind":"result"').length > 2 &&
          window.parleyTest.state(s) === there
        );
      },
      id,
      15_000,
    ).catch(() => false);
    if (!equal) bad.push(`${name}: ${firstDifference(await foldedState(page, id), await serverState(page, id))}`);
  }
  console.log(`# ${chosen.length} of ${all.length} recordings compared`);
  assert.deepEqual(bad, []);
  await page.context().close();
});

function firstDifference(a, b) {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i === a.length && i === b.length
    ? "equal, but the turn did not end"
    : `page ${a.slice(Math.max(0, i - 60), i + 60)} | server ${b.slice(Math.max(0, i - 60), i + 60)}`;
}

test("the heap stays flat over long work", { timeout: 1_800_000 }, async (t) => {
  if (!soak) return t.skip("only with PARLEY_SOAK=1: it takes minutes");
  // 120 turns with subagents, changes and commands: more than an hour of an agent's work. The
  // page keeps twelve conversations, so its heap grows until there are that many.
  const sessions = 24;
  const page = await open(browser, server);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (name) => metrics.find((m) => m.name === name).value;
    return { size: of("JSHeapUsedSize"), nodes: of("Nodes"), listeners: of("JSEventListeners") };
  };
  const seen = [];
  for (let i = 0; i < sessions; i++) {
    await begin(page, "story");
    for (let turn = 1; turn <= 5; turn++) {
      if (turn > 1) await say(page, "story");
      await page.waitForFunction(
        ([id, n]) => window.parleyTest.state(id).split('"kind":"result"').length - 1 >= n,
        [sessionId(page), turn],
        { timeout: 60_000 },
      );
    }
    seen.push(await heap());
  }
  console.log(
    `# heap in MB after each of ${sessions} sessions: ${seen.map((s) => (s.size / 1e6).toFixed(1)).join(" ")}`,
  );
  console.log(`# nodes: ${seen.map((s) => s.nodes).join(" ")}; listeners: ${seen.map((s) => s.listeners).join(" ")}`);
  const [full, last] = [seen[13], seen[sessions - 1]];
  assert.ok(last.size < full.size * 1.1 + 500_000, "the heap grows");
  assert.ok(
    last.nodes < full.nodes * 1.5 && last.listeners < full.listeners * 1.5,
    "nodes or listeners are left behind",
  );
  await page.context().close();
});
