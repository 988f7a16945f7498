// Models, efforts and commands of agents, as reported by the last session of each. They are kept in the browser, so that a new session has
// the choices before its first message.

import { signal } from "@preact/signals";
import { get, str, strings } from "../fold/json";
import type { Capabilities } from "../rpc/service";
import type { Model } from "./models";
import { readKept, writeKept } from "./prefs";

export interface Offer {
  models: readonly Model[];
  commands: readonly { name: string; note: string }[];
  efforts: readonly string[];
  /** Undefined if unknown. */
  modes?: readonly string[];
  thinks: boolean;
}

const claudeModels: readonly Model[] = ["opus", "sonnet", "haiku"].map((value) => ({
  value,
  label: value.charAt(0).toUpperCase() + value.slice(1),
  resolved: "",
}));

/** Claude's documented names, for use before any session has run. */
const first: Readonly<Record<string, Offer>> = {
  claude: { models: claudeModels, commands: [], efforts: ["low", "medium", "high", "xhigh", "max"], thinks: true },
};
const none: Offer = { models: [], commands: [], efforts: [], thinks: false };

const kept = signal<ReadonlyMap<string, Offer>>(readOffers());

function readOffers(): Map<string, Offer> {
  const all = new Map<string, Offer>();
  const read = readKept("offers");
  if (!Array.isArray(read)) return all;
  for (const e of read as unknown[]) {
    if (!Array.isArray(e) || typeof e[0] !== "string") continue;
    const list = (key: string): unknown[] => {
      const v = get(e[1], key);
      return Array.isArray(v) ? v : [];
    };
    const modes = get(e[1], "modes");
    all.set(e[0], {
      models: list("models").map((m) => ({
        value: str(get(m, "value")),
        label: str(get(m, "label")),
        resolved: str(get(m, "resolved")),
        ...(get(m, "efforts") === undefined ? {} : { efforts: strings(get(m, "efforts")) }),
      })),
      commands: list("commands").map((c) => ({ name: str(get(c, "name")), note: str(get(c, "note")) })),
      efforts: strings(get(e[1], "efforts")),
      thinks: get(e[1], "thinks") === true,
      ...(modes === undefined ? {} : { modes: strings(modes) }),
    });
  }
  return all;
}

export function offerOf(agent: string): Offer {
  return kept.value.get(agent) ?? first[agent] ?? none;
}

/** Stores the choices that a session reports for its agent. At most 12 agents are kept. */
export function noteOffer(agent: string, told: Partial<Offer>): void {
  if (agent === "") return;
  const was = kept.peek().get(agent) ?? first[agent] ?? none;
  const is = { ...was, ...told };
  if (JSON.stringify(is) === JSON.stringify(kept.peek().get(agent))) return;
  const next = new Map(kept.peek());
  next.delete(agent);
  next.set(agent, is);
  kept.value = new Map([...next].slice(-12));
  writeKept("offers", [...kept.value]);
}

export function noteCapabilities(agent: string, can: Capabilities): void {
  noteOffer(agent, {
    efforts: can.supported_efforts ?? [],
    modes: can.supported_permission_modes ?? [],
    thinks: can.can_think,
  });
}
