// The main flow in the distribution's WebKitGTK, over WebDriver: start, stream, approve, diff. It needs a display, such as Xvfb.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Server } from "./driver.mjs";

const driver = [process.env.PARLEY_WEBKIT, "/usr/bin/WebKitWebDriver"].find((p) => p && existsSync(p));
const xvfb = ["/usr/bin/Xvfb"].find((p) => existsSync(p));

/** A port of loopback that is free. */
const freePort = () =>
  new Promise((resolve) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/** WebKit's small browser with one window, on a display of memory. */
class WebKit {
  async start() {
    this.home = mkdtempSync(join(tmpdir(), "parley-webkit-"));
    const env = { PATH: process.env.PATH, HOME: this.home, XDG_RUNTIME_DIR: this.home, TMPDIR: tmpdir(), LIBGL_ALWAYS_SOFTWARE: "1" };
    this.display = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1440x900x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      env,
    });
    const number = await new Promise((resolve, reject) => {
      createInterface({ input: this.display.stdio[3] }).once("line", resolve);
      this.display.once("exit", (code) => reject(new Error(`Xvfb ended with ${code}`)));
    });
    const port = await freePort();
    this.process = spawn(driver, [`--port=${port}`], { stdio: "ignore", env: { ...env, DISPLAY: `:${number}`, WEBKIT_DISABLE_COMPOSITING_MODE: "1" } });
    this.base = `http://127.0.0.1:${port}`;
    await this.until(() => fetch(`${this.base}/status`).then((r) => r.ok, () => false), "the driver answers");
    const binary = readdirSync("/usr/lib", { withFileTypes: true })
      .filter((d) => d.isDirectory())
      .flatMap((d) => ["4.0", "4.1"].map((v) => `/usr/lib/${d.name}/webkit2gtk-${v}/MiniBrowser`))
      .find((p) => existsSync(p));
    const options = { binary, args: ["--automation"] };
    const { sessionId } = await this.post("/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } });
    this.session = `/session/${sessionId}`;
    return this;
  }

  async post(path, body) {
    const r = await fetch(this.base + path, { method: "POST", body: JSON.stringify(body) });
    const { value } = await r.json();
    if (!r.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  }

  open(url) {
    return this.post(`${this.session}/url`, { url });
  }

  /** The value of an expression of the page. */
  value(expression) {
    return this.post(`${this.session}/execute/sync`, { script: `return ${expression}`, args: [] });
  }

  async until(what, name = what) {
    const end = performance.now() + 60_000;
    const ask = typeof what === "string" ? () => this.value(`Boolean(${what})`) : what;
    while (!(await ask())) {
      if (performance.now() > end) throw new Error(`still not: ${name}; the page: ${await this.value("document.body.innerText.slice(0, 500)")}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Presses keys, one after the other, or the last with those before it held. */
  keys(keys, together = false) {
    const down = keys.map((value) => ({ type: "keyDown", value }));
    const up = keys.map((value) => ({ type: "keyUp", value }));
    const actions = together ? [...down, ...up.reverse()] : down.flatMap((d, i) => [d, up[i]]);
    return this.post(`${this.session}/actions`, { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async stop() {
    if (this.session) await fetch(this.base + this.session, { method: "DELETE" }).catch(() => {});
    for (const p of [this.process, this.display]) {
      if (!p || p.exitCode !== null) continue;
      const ended = new Promise((resolve) => p.once("exit", resolve));
      p.kill();
      await ended;
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const shift = "\uE008";
const tab = "\uE004";
const enter = "\uE007";
const missing = [driver ? "" : "WebKitWebDriver", xvfb ? "" : "Xvfb"].filter((n) => n !== "").join(" and ");

test("WebKit: start, stream, approve, diff", { skip: missing ? `there is no ${missing}` : false, timeout: 300_000 }, async () => {
  const server = await new Server().start();
  const webkit = new WebKit();
  try {
    await webkit.start();
    await webkit.open(server.url);
    await webkit.until(`document.activeElement && document.activeElement.matches("[data-composer]")`);
    await webkit.keys([..."story", enter]);
    await webkit.until(`document.querySelectorAll(".turn-foot").length === 1`);
    await webkit.keys([..."edit", enter]);
    await webkit.until(`document.querySelector(".ask-card .diff")`);
    await webkit.until(`document.activeElement && document.activeElement.matches("[data-composer]")`);
    await webkit.keys([..."on second thought"]);
    assert.equal(await webkit.value(`document.querySelector(".dock [data-composer]").value`), "on second thought", "typing answers nothing");
    await webkit.keys([shift, tab], true);
    await webkit.until(`document.querySelector(".ask-card.armed")`);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await webkit.keys(["o"]);
    await webkit.until(`document.querySelectorAll(".turn-foot").length === 2 && !document.querySelector(".ask-card")`);
    await webkit.until(`document.querySelector(".step .diff")`);
    await webkit.value(`void (location.hash = "#/home")`);
    await webkit.until(`document.querySelector("h1") && document.querySelector("h1").textContent === "Home"`);
  } finally {
    await webkit.stop();
    await server.stop();
  }
});
