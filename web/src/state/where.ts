// The files and commands that a prompt can mention: those of a session, or of the folder of a new one.

import { get, str } from "../fold/json";
import { call } from "./app";

export interface Where {
  session?: string | undefined;
  cwd?: string | undefined;
  /** The machine of the folder; empty is this one. */
  machine?: string | undefined;
  agent?: string | undefined;
}

export interface Found {
  path: string;
  is_dir?: boolean;
}

export async function searchFiles({ session, cwd, machine }: Where, query: string, limit: number): Promise<readonly Found[]> {
  if (session === undefined && !cwd) return [];
  const where = session === undefined ? { cwd: cwd ?? "", ...(machine ? { machine } : {}) } : { session_id: session };
  const r = await call("files.search", { ...where, query, limit }).catch(() => undefined);
  return (r?.files ?? []).map((f) => ({ path: str(get(f, "path")), is_dir: f.is_dir === true }));
}

/** The commands that a project defines for Claude, named after their files. */
export async function projectCommands({ cwd, machine, agent }: Where): Promise<readonly string[]> {
  if (agent !== "claude" || !cwd) return [];
  const dir = ".claude/commands/";
  const all = await searchFiles({ cwd, machine }, dir, 50);
  return all
    .filter((f) => !f.is_dir && f.path.startsWith(dir) && f.path.endsWith(".md"))
    .map((f) => f.path.slice(dir.length, -3).replaceAll("/", ":"));
}
