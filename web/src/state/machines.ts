// The machines that have joined the server, and how another one joins.

import { signal } from "@preact/signals";
import type { Machine, SessionSummary } from "../rpc/service";
import { call, refreshers } from "./app";
import { live } from "./sessions";

/** Undefined until they are known. */
export const machines = signal<readonly Machine[] | undefined>(undefined);

export async function refreshMachines(): Promise<void> {
  machines.value = (await call("machines.list", {})).machines ?? [];
}

export function machineCalled(name: string): Machine | undefined {
  return machines.value?.find((m) => m.name === name);
}

/**
 * Returns since when a session's machine has been unreachable, without a time if that was before the server started.
 * Undefined if it is reachable or the server's own.
 */
export function awayFrom(session: string): { machine: string; since?: number } | undefined {
  const machine = live.value.find((s) => s.session_id === session)?.machine;
  if (!machine || machines.value === undefined) return undefined;
  const m = machineCalled(machine);
  if (m === undefined) return { machine };
  return m.state === "reachable" ? undefined : { machine, since: Date.parse(m.since) };
}

/** The permission modes, the one that asks most first. */
const ranks: Readonly<Record<string, number>> = { plan: 0, dontAsk: 0, default: 1, acceptEdits: 2, auto: 3, bypassPermissions: 4 };

/** Whether a machine allows a permission mode. An unknown mode is above every limit. */
export function allowsMode(m: Machine, mode: string): boolean {
  return (ranks[mode] ?? 5) <= (ranks[m.max_mode ?? ""] ?? 1);
}

/** The agent that a new session of a machine gets: the wanted one if the machine has it. */
export function agentOn(m: Machine, wanted: string): string {
  return m.agents.includes(wanted) ? wanted : (m.agents[0] ?? wanted);
}

/** How many sessions of a machine run, and how many wait for a person. */
export function sessionsOf(name: string, all: readonly SessionSummary[]): { run: number; wait: number } {
  const here = all.filter((s) => s.machine === name);
  return {
    run: here.filter((s) => s.state === "running").length,
    wait: here.filter((s) => s.state === "requires_action").length,
  };
}

/** Quotes a word for a POSIX shell. A tilde at the beginning still means the home directory. */
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

// A session reports that its machine is unreachable, even if the list of machines is not shown.
refreshers.push(async () => {
  if (live.peek().some((s) => s.machine)) await refreshMachines();
});
