// Changes of a session: found, read, reverted, commented on and committed, with real git.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { begin, open, said, say, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";
import { changes, git, work } from "./work.mjs";

const { browser, git: server } = shared;

const read = (dir, name) => readFileSync(join(dir, name), "utf8");
const file = (page, name) => page.getByRole("region", { name, exact: true });
const hunks = (page, name) => file(page, name).getByRole("group", { name: /^Lines \d+ to \d+ of/ });

async function clean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual([...page.hosts], [server.addr]);
  await page.context().close();
}

/** The day before a time, as the accounts name it. */
function dayBefore(t) {
  const d = new Date(t.getFullYear(), t.getMonth(), t.getDate() - 1);
  return [d.getFullYear(), d.getMonth() + 1, d.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
}

test("a new user finds the diff of the last turn, reverts a hunk and sees yesterday's cost", async (t) => {
  const began = new Date();
  const page = await open(browser, server);
  const dir = join(server.dir, "project");
  t.after(() => {
    git(dir, "checkout", "--quiet", "--", ".");
    git(dir, "clean", "-fdq");
  });
  // Only what can be read on the screen is used from here on.
  await page.getByPlaceholder("Ask the simulated agent anything").fill("Give the retries two limits");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText("Done in").waitFor();
  await page.getByRole("complementary", { name: "This session" }).getByText("retry.go").waitFor();
  await page.getByRole("link", { name: "Open the changes" }).last().click();
  await page.getByRole("button", { name: "Last turn" }).click();
  await page.getByText("limits.md").first().waitFor();
  assert.match(read(dir, "upload/retry.go"), /Attempts: 6/);
  const first = hunks(page, "upload/retry.go").first();
  await first.getByText("Attempts: 6,").waitFor();
  const before = await hunks(page, "upload/retry.go").count();
  await first.getByRole("button", { name: "Revert hunk" }).click();
  await page.getByText("The hunk was reverted.").waitFor();
  assert.doesNotMatch(read(dir, "upload/retry.go"), /Attempts: 6/);
  assert.match(read(dir, "upload/retry.go"), /return first/, "the other hunk stays");
  await page.getByRole("button", { name: "Session", exact: true }).click();
  await page.waitForFunction(
    (n) => document.querySelectorAll('.cfile[aria-label="upload/retry.go"] .chunk').length === n - 1,
    before,
  );
  await page.getByRole("link", { name: "To the conversation", exact: true }).first().click();
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const tile = page.getByText("Yesterday", { exact: true }).locator("..");
  const shown = (await tile.getByText(/^\$\d/).innerText()).trim();
  const costs = await page.evaluate(async () => {
    const { rows } = await window.parleyTest.call("usage.summary", { group_by: "day" });
    return Object.fromEntries(rows.filter((r) => r.cost_usd > 0.01).map((r) => [r.group, `$${r.cost_usd.toFixed(2)}`]));
  });
  const near = Object.keys(costs).sort().slice(-3);
  assert.equal(new Set(near.map((d) => costs[d])).size, 3, "the days before and after have another cost");
  // The day may have ended since the walk began.
  assert.ok(
    [began, new Date()].some((d) => costs[dayBefore(d)] === shown),
    `${shown} of ${JSON.stringify(costs)}`,
  );
  await clean(page);
});

test("session, turns and changes that are not committed; side by side and inline; a file goes back", async () => {
  const page = await open(browser, server);
  const { id, dir, branch } = await work(page, server, "rework");
  await say(page, "more");
  await turns(page, 2);
  await changes(page, id);
  await page.locator(".bar").getByText(branch).waitFor();
  await page
    .locator(".bar")
    .getByText("0 ahead of main")
    .waitFor();
  await file(page, "upload/retry.go").waitFor();
  assert.ok((await page.locator(".diff.split").count()) > 0, "side by side where there is room");
  await page.getByRole("button", { name: "Inline" }).click();
  assert.equal(await page.locator(".diff.split").count(), 0);
  await page.getByRole("button", { name: "Side by side" }).click();
  await page.getByRole("button", { name: "Last turn" }).click();
  await file(page, "upload/retry.go").waitFor({ state: "detached" });
  await file(page, "docs/limits.md").getByText("backoff: full jitter").waitFor();
  await page.getByLabel("Changes of").selectOption({ label: "Turn 1 · “rework”" });
  await file(page, "upload/retry.go").waitFor();
  await file(page, "docs/limits.md").getByText("new", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Not committed" }).click();
  await file(page, "docs/limits.md").getByRole("button", { name: "Revert file" }).click();
  await file(page, "docs/limits.md").waitFor({ state: "detached" });
  assert.equal(existsSync(join(dir, "docs/limits.md")), false);
  const gone = page.locator(".chunk-h.back", { hasText: "docs/limits.md" });
  assert.equal((await gone.innerText()).replace(/\s+/g, " ").trim(), "docs/limits.md reverted Bring back");
  await page.getByRole("button", { name: "Bring back" }).click();
  await file(page, "docs/limits.md").getByText("backoff: full jitter").waitFor();
  assert.match(read(dir, "docs/limits.md"), /full jitter/, "a whole file comes back");
  await clean(page);
});

test("keys go from hunk to hunk, and a hunk that has changed since is not reverted but shown", async () => {
  const page = await open(browser, server);
  const { id, dir } = await work(page, server, "rework");
  await changes(page, id);
  await hunks(page, "upload/retry.go").first().focus();
  await page.keyboard.press("n");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /return first/);
  await page.keyboard.press("p");
  const name = join(dir, "upload/retry.go");
  writeFileSync(name, readFileSync(name, "utf8").replace("Attempts: 6,", "Attempts: 9,"));
  await page.keyboard.press("r");
  const alert = file(page, "upload/retry.go").getByRole("alert");
  await alert.getByText("These lines have changed since you saw them. Nothing was reverted.").waitFor();
  await alert.getByText("Attempts: 9,").waitFor();
  assert.match(read(dir, "upload/retry.go"), /Attempts: 9/);
  await hunks(page, "upload/retry.go").first().getByText("Attempts: 9,").waitFor();
  await alert.getByRole("button", { name: "Close" }).click();
  await hunks(page, "upload/retry.go").first().getByRole("button", { name: "Revert hunk" }).click();
  await page.getByText("The hunk was reverted.").waitFor();
  assert.doesNotMatch(read(dir, "upload/retry.go"), /Attempts: /);
  await clean(page);
});

test("a commit of what was chosen names the session; the worktree goes when nothing is lost", async () => {
  const page = await open(browser, server);
  const { id, dir, branch } = await work(page, server, "rework");
  await changes(page, id);
  await file(page, "docs/limits.md").getByRole("checkbox", { name: "Commit docs/limits.md" }).uncheck();
  await page.getByText("1 of 2 files").waitFor();
  await page.getByLabel("Commit message").fill("upload: bound the retries");
  await page.getByRole("button", { name: `Commit to ${branch}` }).click();
  await page.getByText(/^Committed [0-9a-f]{8} to .+: 1 file\.$/).waitFor();
  const log = git(dir, "log", "-1", "--format=%B", "--name-only");
  assert.match(log, new RegExp(`^upload: bound the retries\n\nParley-Session: ${id}\n`));
  assert.match(log, /upload\/retry\.go/);
  assert.doesNotMatch(log, /limits\.md/);
  await page.locator(".ch-side").getByText("upload: bound the retries").waitFor();
  await page
    .locator(".bar")
    .getByText("1 ahead of main")
    .waitFor();
  await page.getByRole("button", { name: "Not committed" }).click();
  await file(page, "upload/retry.go").waitFor({ state: "detached" });
  await file(page, "docs/limits.md").waitFor();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Remove the worktree" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Remove worktree" }).click();
  await dialog.getByRole("button", { name: "Remove, keep the branch" }).click();
  await dialog.getByText("deletes it permanently").waitFor();
  assert.equal(existsSync(join(dir, "docs/limits.md")), true, "nothing is lost before a person says so");
  await dialog.getByRole("button", { name: "Discard and remove" }).click();
  await page.getByText("The worktree was removed.").waitFor();
  assert.equal(existsSync(dir), false);
  await clean(page);
});

test("lines have the colours of their language, and dragging over numbers chooses the lines of a remark", async () => {
  const page = await open(browser, server);
  const { id } = await work(page, server, "rework");
  await changes(page, id);
  const hunk = hunks(page, "upload/retry.go").first();
  await hunk.locator("td.tx i.k", { hasText: "type" }).first().waitFor();
  assert.ok((await hunk.locator("td.tx i").count()) > 3, "types, numbers and keywords");
  // A new file has one column over the whole width.
  assert.equal(await hunks(page, "docs/limits.md").first().locator(".diff.split").count(), 0);
  const number = (text) => hunk.locator("tr", { hasText: text }).locator("td.ln button").last();
  const [from, to] = [number("Attempts int"), number("Total    time.Duration")];
  await from.hover();
  assert.equal(await from.locator(".plus-l").evaluate((e) => getComputedStyle(e).visibility), "visible");
  const first = Number((await from.innerText()).replace(/\D/g, ""));
  await page.mouse.down();
  await to.hover();
  await page.mouse.up();
  assert.equal(await page.getByLabel("From line").inputValue(), String(first));
  assert.equal(await page.getByLabel("to line").inputValue(), String(first + 1));
  await clean(page);
});

test("a hunk that was reverted is brought back; a commit has the hunks that were chosen", async () => {
  const page = await open(browser, server);
  const { id, dir, branch } = await work(page, server, "rework");
  await changes(page, id);
  const all = hunks(page, "upload/retry.go");
  await all.first().waitFor();
  const count = await all.count();
  await all.first().getByRole("button", { name: "Revert hunk" }).click();
  const line = page.locator(".chunk-h.back");
  await line.getByText(/^Lines \d+–\d+ reverted/).waitFor();
  assert.doesNotMatch(read(dir, "upload/retry.go"), /Attempts: 6/);
  await page.reload(); // it is known to the server
  await line.getByRole("button", { name: "Bring back" }).click();
  await page.getByText("The change is back.").waitFor();
  assert.match(read(dir, "upload/retry.go"), /Attempts: 6/);
  await page.waitForFunction((n) => document.querySelectorAll('.cfile[aria-label="upload/retry.go"] .chunk').length === n, count);
  assert.equal(await line.count(), 0);

  await all.last().getByRole("checkbox", { name: /^Commit lines/ }).uncheck();
  const box = file(page, "upload/retry.go").getByRole("checkbox", { name: "Commit upload/retry.go" });
  assert.equal(await box.evaluate((e) => e.indeterminate), true, "a part is chosen");
  await page.getByText(`${count} of ${count + 1} hunks`).waitFor();
  await page.getByLabel("Commit message").fill("upload: part of it");
  await page.getByRole("button", { name: `Commit to ${branch}` }).click();
  await page.getByText(/^Committed [0-9a-f]{8}/).waitFor();
  const committed = git(dir, "show", "HEAD:upload/retry.go");
  assert.match(committed, /Attempts: 6/);
  assert.doesNotMatch(committed, /return first/, "the hunk that was not chosen");
  assert.match(read(dir, "upload/retry.go"), /return first/, "it is still in the file");
  await page.getByRole("button", { name: "Not committed" }).click();
  await hunks(page, "upload/retry.go").first().getByText("return first").waitFor();
  assert.equal(await hunks(page, "upload/retry.go").count(), 1);
  await clean(page);
});

test("what is committed is pushed with the address that was shown, and merged into the base branch", async (t) => {
  const page = await open(browser, server);
  const repo = join(server.dir, "project");
  const remote = join(server.dir, "remote.git");
  git(server.dir, "init", "--quiet", "--bare", remote);
  git(repo, "remote", "add", "origin", remote);
  t.after(() => {
    git(repo, "remote", "remove", "origin");
    git(repo, "reset", "--quiet", "--hard", start);
  });
  const start = git(repo, "rev-parse", "HEAD").trim();
  const { id, dir, branch } = await work(page, server, "rework");
  await changes(page, id);
  const field = page.getByLabel("Commit message");
  await field.fill("upload: bound the retries");
  await page.getByRole("button", { name: `Commit to ${branch}` }).click();
  const toast = page.locator(".toast", { hasText: "Committed" });
  await toast.waitFor();
  const bar = page.locator(".commit.ready");
  await bar.getByText("Everything is committed. main has not moved.").waitFor();
  await page.waitForFunction(() => {
    const [low, high] = [".toast", ".commit.ready"].map((s) => document.querySelector(s)?.getBoundingClientRect());
    return !low || low.bottom <= high.top; // a toast is above the footer as long as it is shown
  });
  await page.locator(".bar").getByText("1 ahead of main").waitFor();
  assert.equal(await bar.getByRole("link", { name: "Open pull request" }).count(), 0, "this remote has no page");

  await bar.getByRole("button", { name: "Push" }).click();
  await page.getByRole("dialog").getByText(remote).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Push" }).click();
  await bar.getByRole("button", { name: "Pushed" }).waitFor();
  assert.equal(git(remote, "rev-parse", branch), git(dir, "rev-parse", "HEAD"));

  git(repo, "remote", "set-url", "origin", "git@github.com:harbour/quay.git");
  writeFileSync(join(repo, "NEWS"), "News.\n");
  git(repo, "add", "NEWS");
  git(repo, "commit", "--quiet", "--message=News");
  await page.reload();
  await page.locator(".bar").getByText("1 ahead, 1 behind main").waitFor();
  const href = await bar.getByRole("link", { name: "Open pull request" }).getAttribute("href");
  assert.equal(href, `https://github.com/harbour/quay/compare/main...${branch}?expand=1`);
  await bar.getByRole("button", { name: "Merge into main" }).click();
  await page.getByRole("dialog").getByText("1 commit, with a merge commit.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Merge into main" }).click();
  await page.getByText("1 commit merged into main.").waitFor();
  await page.locator(".dock").waitFor(); // the worktree is gone
  assert.match(read(repo, "upload/retry.go"), /Attempts: 6/);
  assert.equal(existsSync(dir), false);
  await clean(page);
});

test("a merge that conflicts names the file, changes nothing, and the agent can resolve it", async (t) => {
  const page = await open(browser, server);
  const repo = join(server.dir, "project");
  const start = git(repo, "rev-parse", "HEAD").trim();
  t.after(() => git(repo, "reset", "--quiet", "--hard", start));
  const { id, dir } = await work(page, server, "rework");
  git(dir, "commit", "--quiet", "--all", "--message=Theirs");
  git(dir, "clean", "-fdq");
  writeFileSync(join(repo, "upload/retry.go"), "package upload\n");
  git(repo, "commit", "--quiet", "--all", "--message=Mine");
  await changes(page, id);
  const bar = page.locator(".commit.ready");
  await bar.getByRole("button", { name: "Merge into main" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge into main" }).click();
  await bar.getByRole("alert").getByText("upload/retry.go").waitFor();
  assert.equal(read(repo, "upload/retry.go"), "package upload\n");
  await bar.getByRole("button", { name: "Let the agent resolve it" }).click();
  await page.locator(".user", { hasText: "Merge main into this branch and resolve the conflicts" }).waitFor();
  await clean(page);
});

test("remarks on two files are written, changed, removed, sent as one message, and resolved", async () => {
  const page = await open(browser, server);
  const { id, dir } = await work(page, server, "rework");
  await changes(page, id);
  const first = hunks(page, "upload/retry.go").first();
  const write = async (text) => {
    await page.getByPlaceholder("What should the agent know about these lines?").fill(text);
    await page.getByRole("button", { name: "Add comment" }).click();
    await page.locator(".ch-side").getByText(text).waitFor();
  };
  const number = async (text) =>
    first
      .locator("tr", { hasText: text })
      .locator("td.ln")
      .last()
      .innerText()
      .then((s) => s.trim());
  const line = await number("Attempts: 6,");
  await first
    .getByRole("button", { name: `Comment on line ${line}` })
    .last()
    .click();
  assert.equal(await page.getByLabel("From line").inputValue(), line);
  await write("Five are enough.");
  await hunks(page, "upload/retry.go").nth(1).focus();
  await page.keyboard.press("c");
  await write("Say why the first error counts.");
  await hunks(page, "docs/limits.md").first().getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByLabel("From line").fill("3");
  await page.getByLabel("From line").press("Tab");
  await page.getByLabel("to line").fill("4");
  await page.getByLabel("to line").press("Tab");
  await write("Name the units.");
  await page.locator(".ch-side").getByText("limits.md:3–4").waitFor();
  const row = (text) => page.locator(".ch-side .cmt", { hasText: text });
  await row("Name the units.").getByRole("button", { name: "Edit the comment" }).click();
  await page.locator(".ch-side .cmt textarea").fill("Name the units, please.");
  await page.locator(".ch-side .cmt").getByRole("button", { name: "Save" }).click();
  await row("Name the units, please.").waitFor();
  await row("Say why").getByRole("button", { name: "Remove the comment" }).click();
  await row("Say why").waitFor({ state: "detached" });
  // One of them loses its lines before it is sent.
  writeFileSync(join(dir, "docs/limits.md"), "# Limits\n\nNothing is limited.\n");
  await page.getByPlaceholder("Text before the comments (optional)").fill("Two things before we merge.");
  await page.getByRole("button", { name: "Send 2 comments to the agent" }).click();
  await page.getByText("1 comment sent as one message. 1 comment not: the lines have changed.").waitFor();
  await row("Name the units, please.").getByText("lines have changed", { exact: true }).waitFor();
  await row("Name the units, please.").getByText("Nothing is limited.").waitFor();
  await row("Five are enough.")
    .getByText("sent", { exact: true })
    .or(row("Five are enough.").getByText("resolved: the agent"))
    .first()
    .waitFor();
  await page.getByRole("link", { name: "To the conversation", exact: true }).first().click();
  const message = page.locator(".user").nth(1);
  await message.getByText("Two things before we merge.").waitFor();
  const remark = message.locator(".remark");
  await message.getByText("1 comment on the changes").waitFor();
  await remark.getByText("upload/retry.go").waitFor();
  await remark.locator("td.ln", { hasText: line }).waitFor();
  await remark.getByText("Attempts: 6,").waitFor();
  await remark.getByText("Five are enough.").waitFor();
  assert.doesNotMatch(await message.innerText(), /##|```/, "no form of the prompt is shown");
  await clean(page);
});

test("the agent resolves a remark by changing its lines, and a remark on a stale hunk is refused", async () => {
  const page = await open(browser, server);
  const { id, dir } = await work(page, server, "rework");
  await changes(page, id);
  const first = hunks(page, "upload/retry.go").first();
  await first.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByPlaceholder("What should the agent know about these lines?").fill("Five are enough.");
  const name = join(dir, "upload/retry.go");
  const text = readFileSync(name, "utf8");
  writeFileSync(name, text.replace("Attempts: 6,", "Attempts: 7,"));
  // Refused, or the diff was read again before the click: the text and its lines stay.
  await page.evaluate(() => document.querySelector(".cmt-form [type=submit]").click());
  const form = page.locator(".cmt-form");
  await form.getByRole("alert").getByText("These lines of upload/retry.go changed while you wrote.").waitFor();
  await form.getByText("Attempts: 6,").waitFor();
  await file(page, "upload/retry.go").getByText("Attempts: 7,").waitFor();
  assert.equal(await form.getByRole("textbox").inputValue(), "Five are enough.");
  assert.equal(await form.getByRole("button", { name: "Add comment" }).isDisabled(), true, "there are no lines to add it to");
  // The number of a line takes it there.
  const row = file(page, "upload/retry.go").locator("tr", { hasText: "Attempts: 7," });
  await row.getByRole("button", { name: /^Comment on line/ }).last().click();
  await form.getByRole("alert").waitFor({ state: "detached" });
  assert.equal(await form.count(), 1);
  assert.equal(await form.getByRole("textbox", { name: "What should the agent" }).inputValue(), "Five are enough.");
  writeFileSync(name, text);
  await page.reload();
  await first.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByPlaceholder("What should the agent know about these lines?").fill("Five are enough.");
  await page.keyboard.press("Control+Enter");
  await page.locator(".ch-side").getByText("Five are enough.").waitFor();
  await page.getByRole("button", { name: "Send 1 comment to the agent" }).click();
  await said(page, "I worked through the review.");
  await changes(page, id);
  await page.locator(".ch-side").getByText("resolved: the agent changed these lines").waitFor();
  assert.match(read(dir, "upload/retry.go"), /Attempts: 5/);
  await page.locator(".ch-side").getByRole("button", { name: "Open again" }).click();
  await page.locator(".ch-side").getByText("not sent").waitFor();
  await clean(page);
});

test("what is being written about lines is not lost when the diff is read again, nor on the way to another view", async () => {
  const page = await open(browser, server);
  const { id, dir } = await work(page, server, "rework");
  await changes(page, id);
  const all = hunks(page, "upload/retry.go");
  const form = page.locator(".cmt-form");
  const box = form.getByRole("textbox");
  const again = async () => {
    // Someone else reverts another hunk: the log reports it, and the page reads its diffs again.
    await page.evaluate(async (session_id) => {
      const { call } = window.parleyTest;
      const { files } = await call("workspace.diff", { session_id });
      const { hunks } = files.find((f) => f.path === "upload/retry.go");
      await call("workspace.revert", { session_id, file: "upload/retry.go", hunk: hunks[hunks.length - 1].id });
    }, id);
    await file(page, "upload/retry.go").getByText("return first").waitFor({ state: "detached" });
  };
  await all.first().getByRole("button", { name: "Comment", exact: true }).click();
  await box.pressSequentially("Five are");
  // Its lines move by two: the form goes with them, and keeps the focus.
  const name = join(dir, "upload/retry.go");
  writeFileSync(name, readFileSync(name, "utf8").replace("package upload\n", "package upload\n\n// Uploads.\n"));
  const from = Number(await page.getByLabel("From line").inputValue());
  await again();
  await page.waitForFunction((n) => Number(document.querySelector(".cmt-form input").value) === n + 2, from);
  await page.keyboard.type(" enough.");
  assert.equal(await box.inputValue(), "Five are enough.");
  // Other lines, another comparison, another view, a file that is folded.
  await file(page, "upload/retry.go").locator("td.ln button").last().click();
  assert.equal(await box.inputValue(), "Five are enough.", "it goes to the lines that are chosen");
  await page.getByRole("button", { name: "Last turn" }).click();
  await form.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Session", exact: true }).click();
  assert.equal(await box.inputValue(), "Five are enough.");
  await page.getByRole("button", { name: "Inline" }).click();
  assert.equal(await box.inputValue(), "Five are enough.");
  await page.getByRole("button", { name: "Side by side" }).click();
  await file(page, "upload/retry.go").locator(".cfile-n").click();
  await form.waitFor({ state: "detached" });
  await file(page, "upload/retry.go").locator(".cfile-n").click();
  await page.evaluate(() => {
    location.hash = "#/home";
  });
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.goBack();
  assert.equal(await box.inputValue(), "Five are enough.");
  // The file has no change any more.
  git(dir, "checkout", "--quiet", "--", "upload/retry.go");
  await page.evaluate(async (session_id) => {
    await window.parleyTest.call("workspace.revert", { session_id, file: "docs/limits.md" });
  }, id);
  await file(page, "docs/limits.md").waitFor({ state: "detached" });
  assert.equal(await box.inputValue(), "Five are enough.");
  await form.getByRole("alert").getByText("upload/retry.go changed while you wrote").waitFor();
  // Only a person ends it, and can take that back.
  await box.press("Escape");
  await form.waitFor({ state: "detached" });
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  assert.equal(await box.inputValue(), "Five are enough.");
  await clean(page);
});

test("a remark that is changed, and the words before all remarks, stay when the diff is read again", async () => {
  const page = await open(browser, server);
  const { id } = await work(page, server, "rework");
  await changes(page, id);
  const all = hunks(page, "upload/retry.go");
  await all.first().getByRole("button", { name: "Comment", exact: true }).click();
  await page.locator(".cmt-form textarea").fill("Five.");
  await page.keyboard.press("Control+Enter");
  const words = page.getByPlaceholder("Text before the comments (optional)");
  await words.fill("Before we merge:");
  await all.first().getByRole("button", { name: "Edit the comment" }).click();
  await all.first().locator(".cmt textarea").fill("Five are enough.");
  await page.getByRole("button", { name: "Last turn" }).click(); // no place below the lines
  const listed = page.locator(".ch-side .cmt textarea");
  assert.equal(await listed.inputValue(), "Five are enough.");
  await page.evaluate(() => {
    location.hash = "#/home";
  });
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.goBack();
  assert.equal(await listed.inputValue(), "Five are enough.");
  assert.equal(await words.inputValue(), "Before we merge:");
  await page.locator(".ch-side .cmt").getByRole("button", { name: "Save" }).click();
  await page.locator(".ch-side .cmt").getByText("Five are enough.").waitFor();
  await clean(page);
});

test("in a checkout that is the person's own, an uncommitted change is reverted only after a question", async (t) => {
  const dir = join(server.dir, "project");
  t.after(() => {
    git(dir, "checkout", "--quiet", "--", ".");
    git(dir, "clean", "-fdq");
  });
  const page = await open(browser, server);
  await begin(page, "rework");
  await turns(page, 1);
  await changes(page, new URL(page.url()).hash.split("/")[2]);
  await page.getByRole("button", { name: "Not committed" }).click();
  const first = hunks(page, "upload/retry.go").first();
  const dialog = page.getByRole("dialog", { name: "Revert this hunk?" });
  await first.getByRole("button", { name: "Revert hunk" }).click();
  await dialog.getByText("This is your own checkout: your own changes in the file are reverted too.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.match(read(dir, "upload/retry.go"), /Attempts: 6/, "nothing is done before a yes");
  await first.getByRole("button", { name: "Revert hunk" }).click();
  await dialog.getByRole("button", { name: "Revert hunk" }).click();
  await page.getByText("The hunk was reverted.").waitFor();
  assert.doesNotMatch(read(dir, "upload/retry.go"), /Attempts: 6/);
  await clean(page);
});

test("without git there is what the agent reports, and it is said", async () => {
  const page = await open(browser, shared.server);
  await begin(page, "story");
  await turns(page, 1);
  await page.getByRole("link", { name: "Show changes" }).click();
  await page.getByText("This directory is not in git.").waitFor();
  await file(page, "upload/retry.go")
    .or(page.locator(".cfile", { hasText: "retry.go" }))
    .first()
    .waitFor();
  await page.locator(".cfile").getByText("var first error").waitFor();
  assert.equal(await page.getByRole("button", { name: /Revert|Commit/ }).count(), 0);
  await page.context().close();
});

test("a session is begun in a worktree of its own", async () => {
  const page = await open(browser, server);
  await page.getByRole("switch", { name: "Own worktree" }).check();
  await page.getByLabel("Branch", { exact: true }).fill("wt/of-the-form");
  await page.getByLabel("Setup command").fill("echo prepared > prepared.txt");
  await begin(page, "rework");
  await turns(page, 1);
  const id = new URL(page.url()).hash.split("/")[2];
  await changes(page, id);
  await page.locator(".bar").getByText("wt/of-the-form").waitFor();
  await file(page, "prepared.txt").waitFor();
  assert.doesNotMatch(read(join(server.dir, "project"), "upload/retry.go"), /Attempts/, "the checkout stays as it is");
  assert.match(git(join(server.dir, "project"), "branch", "--list", "wt/*"), /wt\/of-the-form/);
  await clean(page);
});
