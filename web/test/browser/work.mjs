// A server with a git repository as its project, and sessions with separate worktrees.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { say, Server, turns, withCLI } from "./driver.mjs";

export const gitServer = () => new Server(undefined, undefined, [...withCLI(), "-git"]).start();

/** Returns the output of git in a directory. */
export function git(dir, ...args) {
  return execFileSync("git", args, { cwd: dir, encoding: "utf8", env: { PATH: process.env.PATH, HOME: dir } });
}

/** Starts a session in a worktree and shows it. It returns the session and its directory. */
export async function work(page, server, prompt, { branch, ...options } = {}) {
  const made = await page.evaluate(
    async ({ repo, branch, options }) => {
      const { call } = window.parleyTest;
      const { workspace } = await call("workspace.create", { repo, ...(branch ? { branch } : {}) });
      const { session_id } = await call("session.connect", {
        workspace_id: workspace.id,
        provider: "scene",
        ...options,
      });
      location.hash = `#/s/${session_id}`;
      return { id: session_id, dir: workspace.path, branch: workspace.branch };
    },
    { repo: join(server.dir, "project"), branch, options },
  );
  await page.locator(".dock").waitFor();
  if (prompt) {
    await say(page, prompt);
    await turns(page, 1);
  }
  return made;
}

/** Opens the changes of a session, which can be shown once its branch is known. */
export async function changes(page, id) {
  await page.evaluate((s) => {
    location.hash = `#/c/${s}`;
  }, id);
  await page.getByRole("heading", { name: "Changes", level: 1 }).waitFor();
}

/**
 * Writes sessions of the Claude CLI into its own directory: of today and of the days before, each
 * with one answer. So yesterday has a cost, also if a test runs over midnight.
 */
export function seedUsage(server, days = 2, tokens = () => 1_000_000) {
  const models = ["claude-sonnet-4-5", "claude-3-5-haiku"];
  for (let back = 0; back < days; back++) {
    const at = new Date();
    at.setDate(at.getDate() - back);
    // The beginning of today may be a moment ago; an hour of the day before is safely past.
    if (back > 0) at.setHours(9 + (back % 9), 30, 0, 0);
    const project = back % 4 === 3 ? "quay" : "harbour";
    const dir = join(server.dir, "claude", "home", ".claude", "projects", `-srv-${project}`);
    mkdirSync(dir, { recursive: true });
    const session = `00000000-0000-4000-8000-${String(back).padStart(12, "0")}`;
    const lines = models.slice(0, back % 3 === 1 ? 2 : 1).map((model, i) =>
      JSON.stringify({
        type: "assistant",
        uuid: `${String(back).padStart(8, "0")}-000${i}-4000-8000-000000000000`,
        parentUuid: null,
        isSidechain: false,
        sessionId: session,
        timestamp: at.toISOString(),
        cwd: `/srv/${project}`,
        requestId: `req_${back}_${i}`,
        message: {
          id: `msg_${back}_${i}`,
          type: "message",
          role: "assistant",
          model,
          content: [{ type: "text", text: "x" }],
          usage: {
            input_tokens: tokens(back),
            output_tokens: Math.round(tokens(back) / 20),
            cache_read_input_tokens: tokens(back) * 4,
            cache_creation_input_tokens: Math.round(tokens(back) / 2),
          },
        },
      }),
    );
    writeFileSync(join(dir, `${session}.jsonl`), `${lines.join("\n")}\n`);
  }
}
