// Runs the steps of a script against an agent with the official client library, and prints
// what came of them as JSON: node client.mjs SCRIPT AGENT [ARGUMENT...]. The variable
// ACP_SDK names the library.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const acp = await import(pathToFileURL(`${process.env.ACP_SDK}/dist/v1/stable/acp.js`).href);
const script = JSON.parse(readFileSync(process.argv[2], "utf8"));
const child = spawn(process.argv[3], process.argv.slice(4), { stdio: ["pipe", "pipe", "inherit"] });

const kept = {};
const started = {};
const outcomes = [];
const updates = [];
const complaints = [];
const waiting = [];
let asked = 0;
let elicited = 0;

console.error = (...args) => complaints.push(args.map(String).join(" "));
console.warn = console.error;

function permit({ params }) {
  const answer = script.permissions?.[asked++] ?? {};
  if (answer.cancelled) return { outcome: { outcome: "cancelled" } };
  const kind = answer.kind ?? "allow_once";
  const option = params.options.find((o) => (answer.optionId ? o.optionId === answer.optionId : o.kind === kind)) ?? params.options[0];
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

const app = acp
  .client()
  .onRequest("session/request_permission", permit)
  .onRequest("elicitation/create", () => script.elicitations?.[elicited++] ?? { action: "decline" })
  .onNotification("session/update", ({ params }) => {
    updates.push(params.update);
    for (const w of waiting.splice(0)) w();
  });
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));

function fill(value) {
  if (typeof value === "string") {
    const whole = value.match(/^\$\{([^}]+)\}$/);
    if (whole) return whole[1].split(".").reduce((v, name) => v[name], kept);
    return value;
  }
  if (Array.isArray(value)) return value.map(fill);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v)]));
  return value;
}

async function finish(step, answer) {
  try {
    kept[step.as] = await answer;
    outcomes.push([step.as, kept[step.as]?.stopReason ?? "ok"]);
  } catch (error) {
    outcomes.push([step.as, `error ${error.code ?? error.message}`]);
  }
}

let seen = 0;
for (const step of script.steps) {
  switch (step.do) {
    case "request":
      await finish(step, connection.agent.request(step.method, fill(step.params)));
      break;
    case "start":
      started[step.as] = connection.agent.request(step.method, fill(step.params));
      started[step.as].catch(() => {});
      break;
    case "await":
      await finish(step, started[step.as]);
      break;
    case "notify":
      await connection.agent.notify(step.method, fill(step.params));
      break;
    case "wait":
      for (;;) {
        const at = updates.findIndex((u, i) => i >= seen && u.sessionUpdate === step.update);
        if (at >= 0) {
          seen = at + 1;
          break;
        }
        await new Promise((resolve) => waiting.push(resolve));
      }
      break;
  }
}
const ended = new Promise((resolve) => child.on("exit", resolve));
child.stdin.end();
const code = await ended;
process.stdout.write(`${JSON.stringify({ outcomes, updates, complaints, code })}\n`);
