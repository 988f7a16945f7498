// What untrusted text, other screens and other people need.

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { overflow, serious } from "./axe.mjs";
import { begin, open, sampled, soak, turns } from "./driver.mjs";
import { shared } from "./shared.mjs";

const { browser, server } = shared;

test("what a message says stays text", async () => {
  const page = await open(browser, server);
  await begin(page, "hostile");
  await turns(page, 1);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  const md = page.locator(".step .md").first();
  assert.equal(await md.locator("script, iframe, img, b[onclick]").count(), 0);
  const links = await md.locator("a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.deepEqual(links, [
    "https://good.example/x",
    "https://evil.example/",
    "https://tracker.example/p.png",
    "https://auto.example/",
  ]);
  assert.ok(
    await md.locator("a").evaluateAll((all) => all.every((a) => a.rel.includes("noopener") && a.target === "_blank")),
  );
  assert.match(await md.innerText(), /<script>window\.hacked=1<\/script>/);
  assert.match(await md.innerText(), /bank\.example \(evil\.example\)/, "a link says where it leads");
  assert.doesNotMatch(await md.innerText(), /[\u202a-\u202e\u2066-\u2069]/);
  assert.equal(await page.locator("[style*=expression], [onclick], [onerror]").count(), 0);
  assert.deepEqual([...page.hosts], [server.addr], "no request to another host");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("huge tables and blocks of 64 KiB", async () => {
  const page = await open(browser, server);
  await begin(page, "huge");
  await turns(page, 1);
  assert.ok((await page.locator(".md table tr").count()) < 1500);
  await page.locator(".dock [data-composer]").fill("still alive");
  assert.equal(await page.locator(".dock [data-composer]").inputValue(), "still alive");
  await page.context().close();
});

for (const [name, options, theme] of [
  ["wide, light", {}, "light"],
  ["wide, dark", { colorScheme: "dark" }, "dark"],
  ["tablet", { viewport: { width: 1000, height: 800 } }, "light"],
  ["phone", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }, "light"],
  [
    "phone, Chinese, dark",
    { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, locale: "zh-CN", colorScheme: "dark" },
    "dark",
  ],
]) {
  // Every state is checked wide and light, and on a phone in Chinese and dark.
  const all = name === "wide, light" || name.startsWith("phone, Chinese");
  const skip = name === "wide, dark" && sampled;
  test(`axe finds no serious fault and nothing overflows: ${name}`, { skip }, async () => {
    const page = await open(browser, server, { bypassCSP: true, colorScheme: theme, ...options });
    const faults = [];
    // Wide and in light, views.test.mjs runs axe on the others.
    const elsewhere = name === "wide, light" && !soak ? ["new", "permission", "home", "sessions"] : [];
    const look = async (where) => {
      if ((all || soak) && !elsewhere.includes(where)) for (const f of await serious(page)) faults.push(`${where}: ${f}`);
      if ((await page.locator("h1:visible").count()) !== 1) faults.push(`${where}: not one h1`);
      for (const c of await overflow(page)) faults.push(`${where}: overflows: ${c}`);
    };
    await look("new");
    for (const scene of all ? ["story", "permission", "question", "plan", "elicit", "mcp"] : ["story", "permission"]) {
      await begin(page, scene);
      if (scene === "story") await turns(page, 1);
      else await page.locator(".ask-card").waitFor();
      await look(scene);
    }
    for (const place of ["home", "sessions"]) {
      await page.evaluate((p) => {
        location.hash = `#/${p}`;
      }, place);
      await page
        .locator(place === "home" ? ".home-card" : ".list")
        .first()
        .waitFor();
      await look(place);
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test("a phone: fields of 16 px, one line to write in while a request waits, the drawer", async () => {
  const page = await open(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  assert.equal(await page.locator("[data-composer]").evaluate((e) => getComputedStyle(e).fontSize), "16px");
  assert.equal(await page.locator("[data-composer]").getAttribute("enterkeyhint"), "send");
  await begin(page, "permission");
  await page.locator(".ask-card").waitFor();
  assert.ok((await page.locator(".dock .box").boundingBox()).height < 70, "the input is one line");
  await page.getByRole("button", { name: "Always…" }).tap();
  await page.locator(".rules").getByRole("checkbox", { name: "Bash(rm -rf .cache/theme)" }).tap();
  await page.locator(".rules").getByRole("button", { name: "Allow and keep 1 rule" }).tap();
  await turns(page, 1);
  await page.getByRole("button", { name: "Menu" }).tap();
  await page.locator(".side.open .srow").first().waitFor();
  await page.context().close();
});

test("a keyboard on the screen of a phone leaves the input in view", async () => {
  const page = await open(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await begin(page, "story");
  await turns(page, 1);
  const bottom = () =>
    page.locator(".dock [data-composer]").evaluate((e) => Math.round(e.getBoundingClientRect().bottom));
  const keyboard = (height) =>
    page.evaluate((h) => {
      // Headless Chromium has no such keyboard: the browser's answer is given in its place.
      Object.defineProperty(visualViewport, "height", { configurable: true, get: () => h });
      visualViewport.dispatchEvent(new Event("resize"));
    }, height);
  const before = await bottom();
  assert.ok(before > 600);
  await keyboard(500);
  await page.waitForFunction(
    () => document.querySelector(".dock [data-composer]").getBoundingClientRect().bottom <= 500,
  );
  await keyboard(844);
  await page.waitForFunction(
    (b) => Math.abs(document.querySelector(".dock [data-composer]").getBoundingClientRect().bottom - b) < 3,
    before,
  );
  await page.getByRole("button", { name: "More", exact: true }).tap();
  await page.getByRole("menuitem", { name: "This session" }).tap();
  await page.locator(".panel.over").getByText("Context", { exact: true }).waitFor();
  await page.locator(".panel.over").getByRole("button", { name: "Close" }).tap();
  await page.locator(".panel").waitFor({ state: "detached" });
  await page.context().close();
});

test("below 1200 the panel lies over the page, and the page does not move", async () => {
  const page = await open(browser, server, { viewport: { width: 1000, height: 800 } });
  await begin(page, "story");
  await turns(page, 1);
  assert.equal(await page.locator(".panel").count(), 0, "it is not there at first");
  const width = () => page.locator(".thread").evaluate((e) => e.getBoundingClientRect().width);
  const before = await width();
  const button = page.locator(".bar").getByRole("button", { name: "Panel" });
  await button.click();
  const panel = page.locator(".panel.over");
  await panel.waitFor();
  assert.equal(await width(), before);
  await page.waitForFunction(
    () => Math.round(innerWidth - document.querySelector(".panel.over").getBoundingClientRect().right) === 0,
  );
  // The effects of the panel move the focus, after it is shown and after it is gone.
  await page.waitForFunction((e) => e.contains(document.activeElement), await panel.elementHandle());
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.waitForFunction((e) => e === document.activeElement, await button.elementHandle());
  await page.locator(".strip-b.files").click();
  await panel.getByText("retry.go").waitFor();
  await page.locator(".scrim").click({ position: { x: 20, y: 400 } });
  await panel.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1300, height: 800 });
  await page.locator(".panel:not(.over)").waitFor();
  await page.context().close();
});

/** Returns the page's own texts that are not Chinese, without names and texts of agents. */
function foreign(page) {
  return page.evaluate(() => {
    const said =
      ".md, .bubble, .cmd, code, kbd, .mono, .arg, .s-name, .s-meta, h1, .wordmark, option, .sw, .name, .facts dd, pre, .diff, .ask-h, .irow, .list td, .recent-row, .home-h, .home-ask, .home-card .ask-card, noscript";
    const names =
      /English|Git|tokens?|MCP|Bash|Ctrl|Esc|Markdown|HTML|JSON|Tab|Shift|Alt|Claude|Codex|Parley|claude-scene-1/g;
    const words = (s) => !/[\u4e00-\u9fff]/.test(s) && /[a-z]{3}/i.test(s.replace(names, ""));
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n; n = walk.nextNode())
      if (words(n.data) && !n.parentElement.closest(said)) found.push(n.data.trim());
    for (const e of document.querySelectorAll("[aria-label], [title], [placeholder]"))
      for (const a of ["aria-label", "title", "placeholder"])
        if (words(e.getAttribute(a) ?? "") && !e.closest(said)) found.push(`${a}=${e.getAttribute(a)}`);
    return found;
  });
}

test("Chinese", async () => {
  const page = await open(browser, server, { locale: "zh-CN" });
  await page.getByText("新建会话").first().waitFor();
  await begin(page, "permission");
  await page.getByRole("button", { name: "允许一次" }).first().waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
  const found = [];
  const look = async () => found.push(...(await foreign(page)));
  await look();
  await page.locator(".dock [data-composer]").focus();
  await page.getByRole("button", { name: "添加上下文" }).click();
  const kinds = page.getByRole("dialog").getByRole("radio");
  for (let i = 0; i < (await kinds.count()); i++) {
    await kinds.nth(i).click();
    await look();
  }
  await page.keyboard.press("Escape");
  for (const hash of ["#/new", "#/home", "#/sessions"]) {
    await page.evaluate((h) => {
      location.hash = h;
    }, hash);
    await page.waitForTimeout(300);
    await look();
  }
  await page.getByRole("button", { name: "设置" }).click();
  await page.locator("[data-section]").first().waitFor();
  await look();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await look();
  await page.keyboard.press("Escape");
  const names = ["scene", ".claude/settings.local.json", "parley dev", "placeholder=Bash(go test:*)"];
  const scene = ["permission", "Clear the old theme's cache and build the pages again", ...names];
  assert.deepEqual(
    found.filter((s) => !scene.includes(s)),
    [],
  );
  await page.getByRole("group", { name: "语言" }).getByRole("button", { name: "English" }).click();
  await page.getByText("Sessions").first().waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await page.context().close();
});

/** A proxy that puts the server under a path, for all of HTTP and for sockets. */
function proxy(prefix) {
  const target = new URL(server.url);
  const headers = (h) => ({ ...h, host: target.host, ...(h.origin ? { origin: target.origin } : {}) });
  const p = createServer((req, res) => {
    if (!req.url.startsWith(prefix)) {
      res.writeHead(404).end();
      return;
    }
    const out = request(
      {
        host: target.hostname,
        port: target.port,
        path: req.url.slice(prefix.length - 1),
        method: req.method,
        headers: headers(req.headers),
      },
      (r) => {
        res.writeHead(r.statusCode, r.headers);
        r.pipe(res);
      },
    );
    req.pipe(out);
  });
  p.on("upgrade", (req, socket) => {
    const out = connect(Number(target.port), target.hostname, () => {
      const lines = Object.entries(headers(req.headers)).map(([k, v]) => `${k}: ${v}`);
      out.write(`GET ${req.url.slice(prefix.length - 1)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      out.pipe(socket).pipe(out);
    });
    const end = () => {
      out.destroy();
      socket.destroy();
    };
    out.on("error", end);
    socket.on("error", end);
  });
  return new Promise((resolve) => p.listen(0, "127.0.0.1", () => resolve(p)));
}

test("under a path prefix: page, methods, socket and event stream", async () => {
  const p = await proxy("/tools/parley/");
  const base = `http://127.0.0.1:${p.address().port}/tools/parley/`;
  const page = await open(browser, server, { url: base + new URL(server.url).hash });
  await begin(page, "story");
  await turns(page, 1);
  const first = await page.evaluate(async () => {
    const id = location.hash.split("/")[2];
    const stop = new AbortController();
    const r = await fetch(new URL(`v1/sessions/${id}/events`, document.baseURI), { signal: stop.signal });
    const part = new TextDecoder().decode((await r.body.getReader().read()).value);
    stop.abort();
    return `${r.status} ${r.headers.get("content-type")} ${part.length > 0}`;
  });
  assert.equal(first, "200 text/event-stream true");
  assert.deepEqual(page.faults, []);
  await page.context().close();
  p.closeAllConnections();
  p.close();
});

test("the first load is small, and the policy is strict", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", (e) => {
    bytes += e.encodedDataLength;
  });
  const answer = await page.goto(server.url);
  await page.waitForSelector("[data-composer]");
  await page.waitForTimeout(1000);
  assert.equal(await page.evaluate(() => typeof window.parleyTest), "undefined", "nothing is there for tests alone");
  const policy = answer.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|\*/);
  console.log(`# first load: ${(bytes / 1000).toFixed(0)} kB on the wire`);
  assert.ok(bytes < 150_000, `${bytes} bytes`);
  assert.equal(await page.evaluate(() => location.hash.includes("token")), false, "the token leaves the address");
  await context.close();
});

test("without a token the page says how to get in", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.url.replace(/#.*/, ""));
  await page.getByLabel("Token").fill("pt_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The server refused this token.").waitFor();
  await context.close();
});
