// The machines that have joined the server, and how another one joins.

import { signal } from "@preact/signals";
import type { Machine, SessionSummary } from "../rpc/service";
import { call } from "./app";

/** Undefined until they are known. */
export const machines = signal<readonly Machine[] | undefined>(undefined);

export async function refreshMachines(): Promise<void> {
  machines.value = (await call("machines.list", {})).machines ?? [];
}

/** How many sessions of a machine run, and how many wait for a person. */
export function sessionsOf(name: string, all: readonly SessionSummary[]): { run: number; wait: number } {
  const here = all.filter((s) => s.machine === name);
  return {
    run: here.filter((s) => s.state === "running").length,
    wait: here.filter((s) => s.state === "requires_action").length,
  };
}

/** A word of a POSIX shell. A home directory at the beginning stays one. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const home = /^~\//.test(text) ? "~/" : "";
  const rest = text.slice(home.length);
  if (text === "~" || (home !== "" && /^[\w@%+=:,./-]*$/.test(rest))) return text;
  return `${home}'${rest.replaceAll("'", "'\\''")}'`;
}

/** The command that joins this server. It has no secret. */
export function joinCommand(base: string, o: { name: string; dirs: readonly string[]; slots: string }): string {
  const server = new URL(".", base);
  const words = ["parley", "host", "join"];
  if (o.name !== "") words.push("--name", shellWord(o.name));
  for (const dir of o.dirs) words.push("--dir", shellWord(dir));
  if (/^[1-9]\d*$/.test(o.slots)) words.push("--slots", o.slots);
  return [...words, shellWord((server.origin + server.pathname).replace(/\/$/, ""))].join(" ");
}
