// A phone: installed, without a network, with notices, and paired by a code.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { begin, eventually, open, Server, sessionId, turns } from "./driver.mjs";
import { deliver, pretend } from "./push.mjs";
import { shared } from "./shared.mjs";
import { changes, work } from "./work.mjs";

const { browser } = shared;
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** Another name of this machine, as one in a network is for a phone. */
const network = "127.0.0.2";
let server;
let local;

before(async () => {
  server = await new Server(undefined, "0.0.0.0:0", ["-push", "-host", network]).start();
  const url = new URL(server.url);
  url.hostname = "127.0.0.1";
  local = url.href;
});
after(async () => {
  await server.stop();
});

async function settings(page, section) {
  await page.evaluate((s) => {
    location.hash = `#/settings/${s}`;
  }, section);
  await page.locator(`[data-section=${section}]`).waitFor();
}

describe("phone", { concurrency: 2 }, () => {
  test("the page can be installed: a manifest, icons of their size, and a worker with a shell", async () => {
    const page = await open(browser, server, { ...phone, url: local, serviceWorkers: "allow" });
    const base = new URL("/", local).href;
    const manifest = await page.evaluate(async () => {
      const link = document.querySelector("link[rel=manifest]");
      const r = await fetch(link.href);
      return { type: r.headers.get("content-type"), value: await r.json() };
    });
    assert.equal(manifest.type, "application/manifest+json");
    const { value } = manifest;
    assert.deepEqual([value.name, value.display, value.start_url, value.scope], ["Parley", "standalone", "./#/home", "./"]);
    const sizes = await page.evaluate(async (icons) => {
      const size = async (src) => {
        const image = new Image();
        image.src = src;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      };
      const touch = document.querySelector("link[rel=apple-touch-icon]").href;
      return [await size(touch), ...(await Promise.all(icons.map((i) => size(i.src))))];
    }, value.icons);
    assert.deepEqual(sizes, ["180x180", ...value.icons.map((i) => i.sizes)]);
    assert.ok(value.icons.some((i) => i.purpose === "maskable") && sizes.includes("192x192"), String(sizes));
    const cdp = await page.context().newCDPSession(page);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
    // A test's context counts as private; there must be no other obstacle.
    const errors = installabilityErrors.map((e) => e.errorId).filter((e) => e !== "in-incognito");
    assert.deepEqual(errors, []);
    assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.ready).scope), base);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("without a server the kept page opens and says so; nothing that needs a token is kept", async () => {
    const own = await new Server().start();
    const page = await open(browser, own, { ...phone, serviceWorkers: "allow" });
    await begin(page, "story");
    await turns(page, 1);
    await eventually(page, async () => {
      const names = (await (await caches.open("parley-shell")).keys()).map((r) => new URL(r.url).pathname);
      return names.includes("/") && names.some((n) => n.endsWith(".css")) && navigator.serviceWorker.controller !== null;
    });
    const kept = await page.evaluate(async () => (await (await caches.open("parley-shell")).keys()).map((r) => new URL(r.url).pathname));
    assert.deepEqual(kept.filter((n) => n !== "/" && !n.startsWith("/assets/")), []);
    await own.kill();
    await page.goto("about:blank");
    await page.goto(`http://${own.addr}/#/home`);
    await page.getByText("The server cannot be reached.").waitFor();
    await new Server(own.dir, own.addr).start();
    await page.getByText("The server cannot be reached.").waitFor({ state: "detached", timeout: 60_000 });
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.context().close();
  });

  test("a notice has Open and Deny, Allow with the whole command; an answer goes to the server, once", async () => {
    const page = await open(browser, server, {
      ...phone,
      url: local,
      permissions: ["notifications"],
      serviceWorkers: "allow",
    });
    await page.context().addInitScript(pretend);
    await page.reload();
    await page.waitForSelector("[data-composer]");
    await begin(page, "story");
    await turns(page, 1);
    const id = sessionId(page);
    await settings(page, "notifications");
    const base = new URL("/", local).href;
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    const message = { kind: "needs_answer", session_id: id, nonce: "once" };
    const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent("serviceworker"));
    // An iPhone shows no actions: a tap opens the session, and no answer is offered.
    await worker.evaluate(() => {
      Object.defineProperty(Notification, "maxActions", { value: 0, configurable: true });
    });
    const bare = await deliver(page, base, { ...message, title: "iPhone", command: "go test ./..." });
    assert.deepEqual([bare.actions, bare.body, bare.data], [[], "The agent waits for an answer.", { session: id }]);
    await worker.evaluate(() => {
      Object.defineProperty(Notification, "maxActions", { value: 2, configurable: true });
    });
    const plain = await deliver(page, base, { ...message, title: "Long" });
    assert.deepEqual(plain.actions, ["open", "deny"]);
    assert.equal(plain.body, "The agent waits for an answer.");
    const whole = await deliver(page, base, { ...message, title: "Short", command: "go test ./..." });
    assert.deepEqual(whole.actions, ["allow", "deny"]);
    assert.equal(whole.body, "Run this command?\ngo test ./...");
    /**
     * Presses an action of the notice, and returns the request of the worker, which is not sent unless
     * real is set.
     */
    const press = (action, real) =>
      worker.evaluate(
        async ([action, real]) => {
          const sent = [];
          const { fetch } = self;
          if (!real)
            self.fetch = async (url, init) => {
              sent.push([new URL(url).pathname, init.method, init.credentials, JSON.parse(init.body)]);
              return new Response('{"accepted":true,"seq":1}');
            };
          const [notification] = await self.registration.getNotifications();
          const event = new NotificationEvent("notificationclick", { notification, action });
          const waits = [];
          event.waitUntil = (p) => waits.push(p);
          self.dispatchEvent(event);
          await Promise.all(waits);
          self.fetch = fetch;
          return sent;
        },
        [action, real],
      );
    assert.deepEqual(await press("allow", false), [
      ["/v1/push.answer", "POST", "same-origin", { nonce: "once", behavior: "allow" }],
    ]);
    assert.equal(new URL(page.url()).hash, "#/settings/notifications", "the page stays where it is");
    await eventually(page, async () => (await (await navigator.serviceWorker.ready).getNotifications()).length === 0);
    // The server does not know this nonce: its answer leads to the session.
    await deliver(page, base, { ...message, title: "Again" });
    await press("deny", true);
    const failed = await eventually(page, async () => {
      const all = await (await navigator.serviceWorker.ready).getNotifications();
      const n = all.find((x) => x.title !== "Again");
      return n && { title: n.title, session: n.data.session, actions: n.actions.length };
    });
    assert.deepEqual(failed, { title: "Not answered", session: id, actions: 0 });
    await press("", true);
    await page.waitForFunction((s) => location.hash === `#/s/${s}`, id);

    // To allow is switched on for this device, in the settings.
    await settings(page, "notifications");
    const push = page.locator(".push");
    await push.getByRole("button", { name: "Turn on" }).click();
    const allow = push.getByRole("switch", { name: "Allow from a notice on this device" });
    await allow.waitFor();
    assert.equal(await allow.isChecked(), false, "off at first");
    await allow.check();
    await saved(page);
    await push.getByRole("switch", { name: "When a turn is done" }).uncheck();
    const kept = () =>
      page.evaluate(async () => {
        const r = await window.parleyTest.call("push.get", { endpoint: "https://push.example.net/send/1" });
        return { allow: r.allow === true, events: r.events };
      });
    await saved(page);
    assert.deepEqual(await kept(), { allow: true, events: ["needs_answer", "failed"] });
    await allow.uncheck();
    await saved(page);
    assert.equal((await kept()).allow, false);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a phone is paired by a code: for one use, with its own token and the right that was chosen", async () => {
    const page = await open(browser, server, { url: local });
    await settings(page, "devices");
    const devices = page.getByRole("region", { name: "Tokens and devices" });
    await devices.getByLabel("Name of the device").fill("Pixel");
    await devices.getByRole("group", { name: "Right" }).getByRole("button", { name: "View" }).click();
    await devices.getByRole("button", { name: "Show a code" }).click();
    const code = devices.getByRole("img", { name: "QR code with the address for the phone" });
    await code.waitFor();
    await devices.getByText(/Valid for one phone and [12]:\d\d more minutes\./).waitFor();
    const link = await decode(page, code);
    assert.match(link, new RegExp(`^http://${network.replaceAll(".", "\\.")}:\\d+/#pair=[\\w-]{22}$`));

    const other = await browser.newContext({ ...phone, locale: "en-US", serviceWorkers: "block" });
    const on = await other.newPage();
    const asked = [];
    on.on("request", (r) => asked.push(r.url()));
    await on.goto(link);
    await on.waitForSelector("[data-composer]");
    assert.equal(new URL(on.url()).hash.includes("pair"), false, "the code has left the address");
    assert.deepEqual(asked.filter((u) => u.includes(link.split("=")[1])), [], "no address has the code");
    await devices.getByText("“Pixel” is paired.").waitFor();
    assert.equal(await code.count(), 0, "the code is hidden");
    const row = devices.locator(".device", { hasText: "Pixel" });
    await row.getByText(/^can view, last seen /).waitFor();
    await on.evaluate(() => {
      location.hash = "#/settings/about";
    });
    await on.getByText("you can view").waitFor();

    const late = await browser.newContext({ ...phone, locale: "en-US", serviceWorkers: "block" });
    const second = await late.newPage();
    await second.goto(link);
    await second.getByText("This code was already used or has expired.").waitFor();
    await late.close();

    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await on.locator("#token").waitFor();
    await other.close();
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a diff has the whole width, and model and mode are words", async () => {
    const page = await open(browser, shared.git, phone);
    const { id } = await work(page, shared.git, "rework");
    const wide = 390;
    await page.evaluate(() => {
      location.hash = "#/new";
    });
    const mode = await page.locator(".hero .sw", { has: page.getByLabel("Permission mode") }).boundingBox();
    assert.ok(mode.x >= 0 && mode.x + mode.width <= wide, `the mode goes from ${mode.x} over ${mode.width} px`);
    await page.goBack();
    await page.locator(".dock .sw").first().waitFor();
    const acts = page.locator(".user .u-acts").first();
    const shown = () => acts.evaluate((e) => getComputedStyle(e).opacity === "1" && getComputedStyle(e).pointerEvents !== "none");
    const high = () => page.locator(".user").first().evaluate((e) => e.getBoundingClientRect().height);
    const before = await high();
    assert.equal(await shown(), false, "what can be done with a message is not in the way");
    await page.locator(".user .bubble").first().tap();
    await eventually(page, () => getComputedStyle(document.querySelector(".user .u-acts")).opacity === "1");
    assert.equal(await shown(), true);
    assert.equal(await high(), before, "nothing moves");
    await acts.getByRole("button", { name: "Copy the message" }).waitFor();
    const words = await page.locator(".dock .sw").evaluateAll((all) =>
      all.map((e) => ({ text: e.innerText.trim(), cut: e.scrollWidth > e.clientWidth, width: e.getBoundingClientRect().width })),
    );
    assert.ok(words.length >= 2 && words.every((x) => x.text !== "" && !x.cut && x.width > 40), JSON.stringify(words));
    await changes(page, id);
    const diff = page.locator(".chunk .diff").first();
    await diff.waitFor();
    const box = await diff.boundingBox();
    assert.ok(box.width >= wide - 4, `the diff has ${box.width} px`);
    const code = await diff.locator(".tx").first().boundingBox();
    assert.ok(code.width >= wide - 52, `the code has ${code.width} px`);
    await page.locator(".chunk-h .btn").first().click();
    await page.locator(".cmt-form textarea").waitFor();
    const below = await diff.locator(".tx").last().boundingBox();
    assert.ok(below.width >= wide - 52, `below a remark the code has ${below.width} px`);
    await begin(page, "Use the plain theme in site.yaml");
    const asked = page.locator(".ask-card .diff").first();
    await asked.waitFor();
    const inCard = await asked.boundingBox();
    assert.ok(inCard.width >= wide - 60, `in the request it has ${inCard.width} px`);
    const frame = await page.locator(".ask-card").boundingBox();
    assert.ok(frame.width >= wide - 34 && inCard.x >= frame.x, `the request has ${frame.width} px from ${frame.x}, its change begins at ${inCard.x}`);
    for (const line of await asked.locator(".tx").all()) {
      const { x, width } = await line.boundingBox();
      assert.ok(x < 120 && Math.abs(x + width - inCard.x - inCard.width) < 2, `a line goes from ${x} over ${width} px`);
    }
    await page.context().close();
  });

  test("a server on loopback says that no phone can reach it", async () => {
    const page = await open(browser, shared.server);
    await settings(page, "devices");
    await page.getByRole("button", { name: "Show a code" }).click();
    await page.getByText("A phone cannot reach 127.0.0.1.").waitFor();
    assert.equal(await page.locator(".qr").count(), 0);
    await page.context().close();
  });
});

/** Waits until the server has stored the switch. */
function saved(page) {
  return page.waitForFunction(() => [...document.querySelectorAll(".push [role=switch]")].every((e) => !e.disabled));
}

/** Reads a QR code as a camera does, from its picture: format, mask, order of the bits and of the blocks. Errors are not corrected. */
async function decode(page, code) {
  const size = await code.evaluate((svg) => svg.viewBox.baseVal.width);
  const png = (await code.screenshot()).toString("base64");
  const dark = await page.evaluate(
    async ([png, size]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${png}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      const g = canvas.getContext("2d", { willReadFrequently: true });
      g.drawImage(image, 0, 0);
      const n = size - 8;
      return Array.from({ length: n }, (_, y) =>
        Array.from({ length: n }, (_, x) => {
          const at = (v, all) => Math.floor(((v + 4.5) * all) / size);
          return g.getImageData(at(x, image.width), at(y, image.height), 1, 1).data[0] < 128;
        }),
      );
    },
    [png, size],
  );
  return read(dark);
}

/** The text of the modules of a code. */
function read(dark) {
  const n = dark.length;
  const version = (n - 17) / 4;
  let format = 0;
  const where = [[8, 0], [8, 1], [8, 2], [8, 3], [8, 4], [8, 5], [8, 7], [8, 8], [7, 8], [5, 8], [4, 8], [3, 8], [2, 8], [1, 8], [0, 8]];
  where.forEach(([x, y], i) => {
    format |= (dark[y][x] ? 1 : 0) << i;
  });
  format ^= 0x5412;
  assert.equal(format >> 13, 0, "level M");
  const mask = [
    (i, j) => (i + j) % 2,
    (i) => i % 2,
    (_, j) => j % 3,
    (i, j) => (i + j) % 3,
    (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2,
    (i, j) => ((i * j) % 2) + ((i * j) % 3),
    (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2,
    (i, j) => (((i + j) % 2) + ((i * j) % 3)) % 2,
  ][(format >> 10) & 7];
  const centres = { 1: [], 2: [6, 18], 3: [6, 22], 4: [6, 26], 5: [6, 30], 6: [6, 34], 7: [6, 22, 38] }[version];
  const fixed = (x, y) =>
    x === 6 || y === 6 || (x < 9 && y < 9) || (x > n - 9 && y < 9) || (x < 9 && y > n - 9) ||
    (version >= 7 && ((x > n - 12 && y < 6) || (y > n - 12 && x < 6))) ||
    centres.some((cx) => centres.some((cy) =>
      Math.abs(x - cx) < 3 && Math.abs(y - cy) < 3 && !((cx === 6 && cy === 6) || (cx === 6 && cy > n - 9) || (cy === 6 && cx > n - 9))));
  const bits = [];
  let up = true;
  for (let x = n - 1; x > 0; x -= 2) {
    if (x === 6) x--;
    for (let k = 0; k < n; k++) {
      const y = up ? n - 1 - k : k;
      for (const c of [x, x - 1]) if (!fixed(c, y)) bits.push(dark[y][c] !== (mask(y, c) === 0) ? 1 : 0);
    }
    up = !up;
  }
  const bytes = [];
  for (let i = 0; i + 8 <= bits.length; i += 8) bytes.push(Number.parseInt(bits.slice(i, i + 8).join(""), 2));
  const [blocks, each] = { 1: [1, 16], 2: [1, 28], 3: [1, 44], 4: [2, 32], 5: [2, 43], 6: [4, 27], 7: [4, 31] }[version];
  const data = [];
  for (let b = 0; b < blocks; b++) for (let i = 0; i < each; i++) data.push(bytes[i * blocks + b]);
  const stream = data.map((b) => b.toString(2).padStart(8, "0")).join("");
  assert.equal(stream.slice(0, 4), "0100", "bytes");
  const length = Number.parseInt(stream.slice(4, 12), 2);
  const text = Array.from({ length }, (_, i) => Number.parseInt(stream.slice(12 + i * 8, 20 + i * 8), 2));
  return new TextDecoder().decode(new Uint8Array(text));
}
