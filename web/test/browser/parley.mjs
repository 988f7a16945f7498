// The command parley with the real CLI and a fake API in a separate process, which survives the server.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Returns the first result of f other than undefined for a line of the output. */
function firstLine(child, name, f) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = f(line);
      if (found) resolve(found);
    });
    child.once("exit", (code, signal) => reject(new Error(`${name} ended with ${code ?? signal}`)));
  });
}

function need(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run scripts/test-web`);
  return value;
}

/** parley serve in its own directory, with a script for the fake API and further flags and folders of programs. */
export class Parley {
  constructor(script, { flags = [], path = [] } = {}) {
    this.dir = mkdtempSync(join(tmpdir(), "parley-serve-"));
    this.project = join(this.dir, "project");
    this.script = fileURLToPath(new URL(script, import.meta.url));
    this.flags = flags;
    this.path = path;
    this.addr = "127.0.0.1:0";
  }

  async start() {
    if (!this.api) await this.startAPI();
    const args = ["serve", "--listen", this.addr, "--data", join(this.dir, "data"), "--dir", this.project];
    args.push("--cli", need("PARLEY_CLI"), "--agent", "claude", "--log-level", "error");
    for (const entry of this.env) args.push("--pass-env", entry.split("=")[0]);
    const env = Object.fromEntries(this.env.map((e) => [e.slice(0, e.indexOf("=")), e.slice(e.indexOf("=") + 1)]));
    env.PATH = [env.PATH, ...this.path].join(":");
    const flags = typeof this.flags === "function" ? this.flags(this) : this.flags;
    this.process = spawn(need("PARLEY_PROGRAM"), [...args, ...flags], { env, stdio: ["ignore", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    process.once("exit", () => this.process.kill("SIGINT"));
    this.url = await firstLine(this.process, "parley serve", (l) => /http:\S+#token=\S+/.exec(l)?.[0]);
    this.addr = new URL(this.url).host;
    return this;
  }

  async startAPI() {
    const args = ["-dir", this.dir, "-work", this.project, "-api", "-script", this.script];
    this.api = spawn(need("PARLEY_WEBSERVER"), args, { env: { PATH: process.env.PATH }, stdio: ["pipe", "pipe", "inherit"] });
    const { url, env } = await firstLine(this.api, "the fake API", JSON.parse);
    this.upstream = url;
    this.env = env;
  }

  /** Kills the server without notice, like a crash. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  /** Ends the server, its host and its agents, as Ctrl-C does. */
  async stop() {
    this.process?.kill("SIGINT");
    await this.ended;
    this.api?.stdin.end();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The folder of bubblewrap, or undefined if there is none. */
export function bubblewrap() {
  const cache = process.env.PARLEY_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? "", ".cache"), "parley");
  return [...(process.env.PATH ?? "").split(":"), join(cache, "bubblewrap", "usr", "bin")].find((d) => existsSync(join(d, "bwrap")));
}
