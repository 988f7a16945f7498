// The TypeScript SDK's side of the benchmark. It does what consumer/*.go does, in the same order,
// and prints what it measured as one JSON object.
//
//   node consumer.mjs <directory of the SDK> <firehose> stream
//   node consumer.mjs <directory of the SDK> <firehose> first <calls>
//   node consumer.mjs <directory of the SDK> <firehose> history
//   node consumer.mjs <directory of the SDK> <CLI> warm <calls>
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [dir, cli, what, calls] = process.argv.slice(2);
const sdk = join(dir, "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs");
const { query, startup, listSessions } = await import(pathToFileURL(sdk).href);

const ask = () => query({ prompt: "go", options: { pathToClaudeCodeExecutable: cli, includePartialMessages: true } });

// Counts messages, the length of every text delta's text (the deltas are ASCII, so these are bytes),
// and tools by the name in every whole tool use.
async function stream() {
  let messages = 0;
  let textBytes = 0;
  const tools = {};
  let end = 0n;
  let cpu;
  const begin = process.cpuUsage();
  for await (const m of ask()) {
    messages++;
    if (m.type === "stream_event") {
      if (m.event.type === "content_block_delta" && m.event.delta.type === "text_delta") {
        textBytes += m.event.delta.text.length;
      }
    } else if (m.type === "assistant") {
      for (const b of m.message.content) {
        if (b.type === "tool_use") tools[b.name] = (tools[b.name] ?? 0) + 1;
      }
    } else if (m.type === "result") {
      end = process.hrtime.bigint();
      cpu = process.cpuUsage(begin);
    }
  }
  return { messages, text_bytes: textBytes, tools, end_ns: Number(end), cpu_s: (cpu.user + cpu.system) / 1e6 };
}

// From the start of the program to its first byte.
function spawnTime() {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    let ms;
    const child = spawn(cli, ["--spawn"], { stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.once("data", () => {
      ms = performance.now() - begin;
    });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 && ms ? resolve(ms) : reject(new Error(`${cli} exited with ${code}`))));
  });
}

// From the call of query to its first message; the rest is read too.
async function queryTime() {
  const begin = performance.now();
  let ms;
  for await (const _ of ask()) ms ??= performance.now() - begin;
  if (ms === undefined) throw new Error("no message came");
  return ms;
}

// The same dialogue without the SDK: to the third line, behind the answer to initialize and the running state.
function bareTime() {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    let ms;
    let lines = 0;
    const child = spawn(cli, [], { stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.write(
      '{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}\n' +
        '{"type":"user","message":{"role":"user","content":"go"}}\n',
    );
    child.stdout.on("data", (data) => {
      for (let i = data.indexOf(10); i >= 0 && ms === undefined; i = data.indexOf(10, i + 1)) {
        if (++lines === 3) {
          ms = performance.now() - begin;
          child.stdin.end();
        }
      }
    });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 && ms ? resolve(ms) : reject(new Error(`${cli} exited with ${code}`))));
  });
}

async function first() {
  const out = { spawn_ms: [], query_ms: [], bare_ms: [] };
  const kinds = [
    ["spawn_ms", spawnTime],
    ["query_ms", queryTime],
    ["bare_ms", bareTime],
  ];
  for (let i = 0; i <= Number(calls); i++) {
    for (let j = 0; j < kinds.length; j++) {
      const [name, time] = kinds[(i + j) % kinds.length];
      const ms = await time();
      if (i > 0) out[name].push(ms); // the first warms up
    }
  }
  return out;
}

// Lists all sessions, once more than is timed.
async function history() {
  await listSessions();
  const begin = performance.now();
  const sessions = await listSessions();
  return { sessions: sessions.length, list_s: (performance.now() - begin) / 1000 };
}

// From a call to its first message; the rest is read too.
async function firstOf(call) {
  const begin = performance.now();
  let ms;
  for await (const _ of call()) ms ??= performance.now() - begin;
  if (ms === undefined) throw new Error("no message came");
  return ms;
}

// A CLI that is started for the call, and one that was started ahead, in turn.
async function warm() {
  const out = { cold_ms: [], warm_ms: [] };
  const options = { pathToClaudeCodeExecutable: cli };
  for (let i = 0; i < Number(calls); i++) {
    out.cold_ms.push(await firstOf(() => query({ prompt: "go", options })));
    const handle = await startup({ options });
    out.warm_ms.push(await firstOf(() => handle.query("go")));
  }
  return out;
}

console.log(JSON.stringify(await { stream, first, history, warm }[what]()));
