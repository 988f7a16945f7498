// The box of an agent: the kinds that a new session can have, and their names.

import type { Box } from "../rpc/service";
import { w } from "./app";
import { providers } from "./providers";

/**
 * Returns the box in which sessions of an agent can run, and whether all of them do; undefined without a
 * box.
 */
export function boxOffered(agent: string): { box: Box; always: boolean } | undefined {
  const p = providers.value.find((x) => x.name === agent);
  return p?.box && { box: p.box, always: p.boxed === true };
}

/** The box that a new session gets. */
export function boxChosen(agent: string, wanted: boolean): Box | undefined {
  const offered = boxOffered(agent);
  return offered && (wanted || offered.always) ? offered.box : undefined;
}

/** Reports whether a box reaches at most a list of hosts and holds no secrets. An agent in it may run without asking. */
export function isSealed(box: Box | undefined): boolean {
  return box !== undefined && (box.network === "off" || box.network === "allow") && !box.credentials;
}

/** A box in a few words. */
export function sayBox(box: Box): string {
  const t = w.value.sandbox;
  if (box.network === "allow") return t.limited;
  return box.network === "off" ? t.offline : t.online;
}
