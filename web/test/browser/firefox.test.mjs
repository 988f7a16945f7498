// The main flow in Firefox from the distribution, over WebDriver BiDi.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Server } from "./driver.mjs";

const { ws: Socket } = createRequire(import.meta.url)("playwright-core/lib/utilsBundle");
const path = [process.env.PARLEY_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].find((p) => p && existsSync(p));

/** A Firefox with one window. */
class Firefox {
  async start() {
    this.profile = mkdtempSync(join(tmpdir(), "parley-firefox-"));
    const args = ["--headless", "--no-remote", "--profile", this.profile, "--remote-debugging-port", "0"];
    this.process = spawn(path, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, HOME: this.profile, TMPDIR: tmpdir() } });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    const address = await new Promise((resolve, reject) => {
      createInterface({ input: this.process.stderr }).on("line", (line) => {
        const m = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
        if (m) resolve(m[1]);
      });
      this.process.once("exit", (code) => reject(new Error(`Firefox ended with ${code}`)));
    });
    this.socket = new Socket(`${address}/session`);
    this.waiting = new Map();
    this.faults = [];
    await new Promise((resolve, reject) => this.socket.once("open", resolve).once("error", reject));
    this.socket.on("message", (data) => this.take(JSON.parse(String(data))));
    await this.send("session.new", { capabilities: {} });
    await this.send("session.subscribe", { events: ["log.entryAdded"] });
    this.context = (await this.send("browsingContext.getTree", {})).contexts[0].context;
    return this;
  }

  take(m) {
    if (m.method === "log.entryAdded" && m.params.level === "error") this.faults.push(m.params.text);
    const w = this.waiting.get(m.id);
    if (!w) return;
    this.waiting.delete(m.id);
    if (m.type === "error") w.reject(new Error(`${m.error}: ${m.message}`));
    else w.resolve(m.result);
  }

  send(method, params) {
    const id = (this.last = (this.last ?? 0) + 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async open(url) {
    await this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  /** The value of an expression of the page. */
  async value(expression) {
    const r = await this.send("script.evaluate", { expression, target: { context: this.context }, awaitPromise: true });
    if (r.type === "exception") throw new Error(r.exceptionDetails.text);
    return r.result.value;
  }

  async until(expression) {
    const end = performance.now() + 60_000;
    while (!(await this.value(`Boolean(${expression})`))) {
      if (performance.now() > end) throw new Error(`still not: ${expression}; the page: ${await this.value("document.body.innerText.slice(0, 500)")}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Presses keys, one after the other, or the last with those before it held. */
  async keys(keys, together = false) {
    const down = keys.map((value) => ({ type: "keyDown", value }));
    const up = keys.map((value) => ({ type: "keyUp", value }));
    const actions = together ? [...down, ...up.reverse()] : down.flatMap((d, i) => [d, up[i]]);
    await this.send("input.performActions", { context: this.context, actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async stop() {
    this.socket?.close();
    this.process.kill();
    await this.ended;
    rmSync(this.profile, { recursive: true, force: true });
  }
}

const shift = "\uE008";
const tab = "\uE004";
const enter = "\uE007";

test(
  "Firefox: start, stream, approve, settings, reload",
  { skip: path ? false : "there is no Firefox; install it, or set PARLEY_FIREFOX", timeout: 300_000 },
  async () => {
    const server = await new Server().start();
    const firefox = new Firefox();
    try {
      await firefox.start();
      await firefox.open(server.url);
      await firefox.until(`document.activeElement?.matches("[data-composer]")`);
      await firefox.keys([..."story", enter]);
      await firefox.until(`document.querySelectorAll(".turn-foot").length === 1`);
      await firefox.keys([..."permission", enter]);
      await firefox.until(`document.querySelector(".ask-card")`);
      await firefox.until(`document.activeElement?.matches("[data-composer]")`);
      await firefox.keys([shift, tab], true);
      await firefox.until(`document.querySelector(".ask-card.armed")`);
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await firefox.keys(["o"]);
      await firefox.until(`document.querySelectorAll(".turn-foot").length === 2 && !document.querySelector(".ask-card")`);
      await firefox.value(`void (location.hash = "#/settings")`);
      await firefox.until(`document.querySelector("h1")?.textContent === "Settings"`);
      await firefox.value(`document.querySelector("[data-section=general] .seg button:nth-child(3)").click()`);
      assert.equal(await firefox.value("document.documentElement.dataset.theme"), "dark");
      await firefox.value(`void (location.hash = "#/home")`);
      await firefox.until(`document.querySelector("h1")?.textContent === "Home"`);
      await firefox.open(await firefox.value("location.href"));
      await firefox.until(`document.querySelector("h1")?.textContent === "Home"`);
      assert.equal(await firefox.value("document.documentElement.dataset.theme"), "dark", "the choice is kept");
      assert.deepEqual(firefox.faults, []);
    } finally {
      await firefox.stop();
      await server.stop();
    }
  },
);
