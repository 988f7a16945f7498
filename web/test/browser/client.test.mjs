// The TypeScript client from its packed file: under Node, in a browser, and its types.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Server } from "./driver.mjs";
import { shared } from "./shared.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "parley-client-"));
const installed = join(dir, "node_modules", "parley-client");
let parley;

before(async () => {
  mkdirSync(installed, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: dir };
  const packed = execFileSync(join(root, "scripts", "pack-client"), [dir], { env, encoding: "utf8" }).trim();
  execFileSync("tar", ["-xzf", join(dir, packed), "-C", installed, "--strip-components=1"]);
  parley = await import(pathToFileURL(join(installed, "dist", "index.js")));
});

after(() => rmSync(dir, { recursive: true, force: true }));

const address = (server) => {
  const url = new URL(server.url);
  return { url: url.origin, token: new URLSearchParams(url.hash.slice(1)).get("token") };
};

/** Rejects if a promise takes longer than a page may. */
const soon = (promise, what) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} takes more than 60 s`)), 60_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const asked = (c) => c.prompts.find((p) => p.type === "permission_request");
const ended = (n) => (c) => c.turns.filter((t) => t.done).length >= n;

/** Checks that the client's fold equals the server's. */
async function agree(client, session, id) {
  await soon(session.until((c) => c.state === "idle"), "the end of the turn");
  const { conversation } = await client.call("session.getHistory", { session_id: id });
  const want = parley.canonical(conversation);
  await soon(session.until((c) => parley.canonical(c) === want), "the conversation of the server");
}

test("Node: a turn with a permission, and a server that is killed and comes back", async () => {
  const own = await new Server().start();
  const client = new parley.Client(address(own));
  const { session_id } = await client.call("session.connect", { provider: "scene" });
  const states = new Set();
  const session = client.watch(session_id, { onChange: (s) => states.add(s.status) });
  await client.call("session.query", { session_id, text: "permission" });
  const request = asked(await soon(session.until(asked), "the request"));
  await client.call("permission.respond", { session_id, request_id: request.request_id, behavior: "allow" });
  await soon(session.until(ended(1)), "the first turn");
  await agree(client, session, session_id);

  await own.kill();
  const again = await new Server(own.dir, own.addr).start();
  again.own = true;
  await soon(
    session.until(() => states.has("lost") && session.status === "live"),
    "the new connection",
  );
  await client.call("session.query", { session_id, text: "story" });
  await soon(session.until(ended(2)), "the second turn");
  await agree(client, session, session_id);
  session.close();
  await assert.rejects(session.until(() => false), /the watch is closed/);
  await again.stop();
});

test("Node: refusals have reasons", async () => {
  const { url, token } = address(shared.server);
  const client = new parley.Client({ url: `${url}/#token=ignored`, token: () => token });
  await assert.rejects(client.call("session.state", { session_id: "s-none" }), (e) => e instanceof parley.CallError);
  const nobody = new parley.Client({ url, token: "wrong" });
  await assert.rejects(nobody.call("session.list", {}), { reason: "auth_failed" });
  const watch = nobody.watch("s-none");
  await assert.rejects(soon(watch.until(() => false), "the refusal"), { reason: "auth_failed" });
  assert.equal(watch.status, "failed");
  const away = new parley.Client({ url: "http://127.0.0.1:1", token });
  await assert.rejects(away.call("session.list", {}), { reason: "not_connected" });
});

test("a browser: the same file folds what the server folds", async () => {
  const { url, token } = address(shared.server);
  const context = await shared.browser.newContext();
  const page = await context.newPage();
  const script = readFileSync(join(installed, "dist", "index.js"));
  await page.route(`${url}/try.html`, (r) => r.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await page.route(`${url}/try.js`, (r) => r.fulfill({ contentType: "text/javascript", body: script }));
  await page.goto(`${url}/try.html`);
  const [folded, told] = await page.evaluate(async (token) => {
    const { Client, canonical } = await import(new URL("/try.js", location.href).href);
    const client = new Client({ url: location.origin, token });
    const { session_id } = await client.call("session.connect", { provider: "scene" });
    const session = client.watch(session_id);
    await client.call("session.query", { session_id, text: "story" });
    await session.until((c) => c.turns[0]?.done === true && c.state === "idle");
    const { conversation } = await client.call("session.getHistory", { session_id });
    const both = [canonical(session.conversation), canonical(conversation)];
    session.close();
    return both;
  }, token);
  assert.ok(folded === told, `the client has ${folded.length} characters, the server ${told.length}`);
  await context.close();
});

test("the types of the package are checked under Node's resolution", () => {
  const good = `import { Client, type FoldedConversation } from "parley-client";
const client = new Client({ url: "http://127.0.0.1:1", token: "t" });
export const id: Promise<{ session_id: string }> = client.call("session.connect", { provider: "sim" });
export const c: FoldedConversation = client.watch("s").conversation;
`;
  const bad = `import { Client } from "parley-client";
void new Client({ url: "" }).call("session.query", { session_id: 1, text: "x" });
`;
  const tsc = join(root, "web", "node_modules", "typescript", "bin", "tsc");
  writeFileSync(join(dir, "good.mts"), good);
  writeFileSync(join(dir, "bad.mts"), bad);
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
  assert.throws(
    () => execFileSync(process.execPath, [tsc, ...flags, "good.mts", "bad.mts"], { cwd: dir, encoding: "utf8", stdio: "pipe" }),
    (e) => /^bad\.mts\(2,\d+\): error TS2322: .*\n( .*\n)*$/.test(e.stdout),
  );
});
