// The box that an agent runs in: what a new session can have, and what it is in words.

import type { Box } from "../rpc/service";
import { w } from "./app";
import { providers } from "./providers";

/** The box that a session of an agent can have, and whether each has it; undefined where there is none. */
export function boxOffered(agent: string): { box: Box; always: boolean } | undefined {
  const p = providers.value.find((x) => x.name === agent);
  return p?.box && { box: p.box, always: p.boxed === true };
}

/** The box that a new session gets. */
export function boxChosen(agent: string, wanted: boolean): Box | undefined {
  const offered = boxOffered(agent);
  return offered && (wanted || offered.always) ? offered.box : undefined;
}

/** Whether it reaches at most the hosts of a list and holds nothing that is secret: then an agent may run without asking. */
export function isSealed(box: Box | undefined): boolean {
  return box !== undefined && (box.network === "off" || box.network === "allow") && !box.credentials;
}

/** A box in a few words. */
export function sayBox(box: Box): string {
  const t = w.value.sandbox;
  if (box.network === "allow") return t.limited;
  return box.network === "off" ? t.offline : t.online;
}
