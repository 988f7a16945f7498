// A malicious development server of an agent. Its page tries to reach Parley's page and API, and
// reports the results. It exits when its standard input closes.

import { createServer } from "node:http";

const page = `<!doctype html><title>Preview</title><h1>The agent's page</h1><script src="/attack.js"></script>`;

// PAGE is the address of Parley's page, ID that of a session; both come with the address.
const attack = `
const q = new URLSearchParams(location.search);
const base = q.get("page"), session = q.get("session"), cookie = q.get("cookie");
const attempt = async (f) => { try { return await f(); } catch (e) { return "error"; } };
const inTime = (f) => Promise.race([new Promise(f), new Promise((r) => setTimeout(() => r("nothing"), 5000))]);
window.report = (async () => {
  const r = {};
  r.cookie = document.cookie;
  r.storage = Object.keys(localStorage).join();
  r.opener = window.opener === null;
  r.parent = window.parent === window;
  r.call = await attempt(async () => (await fetch(base + "v1/session.list", { method: "POST", credentials: "include",
    headers: { "Content-Type": "application/json" }, body: "{}" })).status);
  r.form = await attempt(async () => (await fetch(base + "v1/session.list", { method: "POST", credentials: "include", mode: "no-cors",
    headers: { "Content-Type": "text/plain" }, body: "{}" })).status);
  r.read = await attempt(async () => (await fetch(base + "v1/openapi.json", { credentials: "include" })).text());
  r.opaque = await attempt(async () => (await fetch(base + "v1/openapi.json", { credentials: "include", mode: "no-cors" })).type);
  r.events = await inTime((done) => {
    const e = new EventSource(base + "v1/sessions/" + session + "/events", { withCredentials: true });
    e.onmessage = e.onopen = () => done("open");
    e.onerror = () => { e.close(); done("error"); };
  });
  r.socket = await inTime((done) => {
    const s = new WebSocket(base.replace("http", "ws") + "v1/ws");
    s.onopen = () => done("open");
    s.onerror = () => done("error");
  });
  r.worker = await attempt(async () => (await navigator.serviceWorker.register("/worker.js", { scope: base })).scope);
  r.foreign = await attempt(async () => (await navigator.serviceWorker.register(base + "sw.js")).scope);
  r.frame = await inTime((done) => {
    const f = document.createElement("iframe");
    f.onload = () => { try { done(f.contentDocument ? "read " + f.contentDocument.body.innerHTML.length : "closed"); } catch { done("closed"); } };
    f.src = base;
    document.body.append(f);
  });
  const w = window.open(base);
  await new Promise((done) => setTimeout(done, 500));
  r.window = await attempt(async () => w.document.cookie + w.document.title);
  r.toss = await attempt(async () => {
    for (const more of ["", "; domain=localhost", "; domain=127.0.0.1", "; path=/v1"]) document.cookie = cookie + "=tossed" + more;
    return "tried";
  });
  localStorage.setItem("parley.theme", "attacked");
  return r;
})();
`;

const server = createServer((req, res) => {
  const path = new URL(req.url, "http://x").pathname;
  res.setHeader("Set-Cookie", ["app=1; Path=/", "parley_x=1; Path=/", "wide=1; Domain=localhost; Path=/"]);
  if (path === "/attack.js" || path === "/worker.js") {
    res.setHeader("Content-Type", "text/javascript");
    res.end(path === "/attack.js" ? attack : "");
  } else if (path === "/seen") {
    res.setHeader("Content-Type", "application/json");
    res.end(JSON.stringify({ host: req.headers.host, cookie: req.headers.cookie ?? "" }));
  } else if (path === "/stream") {
    res.setHeader("Content-Type", "text/event-stream");
    res.write("data: hot\n\n");
  } else {
    res.setHeader("Content-Type", "text/html");
    res.end(page);
  }
});
server.listen(0, "127.0.0.1");
process.stdin.resume().on("end", () => process.exit(0));
