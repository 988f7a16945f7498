// The agents of the server, and their capabilities.

import { signal } from "@preact/signals";
import type { Capabilities, ProviderInfo } from "../rpc/service";
import { call, hello, w } from "./app";
import { route } from "./route";
import { live } from "./sessions";

export const providers = signal<readonly ProviderInfo[]>([]);
/** The agent chosen for the next session; empty is the server's default. */
export const chosenProvider = signal("");

export async function refreshProviders(): Promise<void> {
  const r = await call("providers.list", {}).catch(() => undefined);
  if (r !== undefined) providers.value = r.providers ?? [];
}

/** The agent that a new session gets. */
export function nextProvider(): ProviderInfo | undefined {
  const all = providers.value;
  return (
    all.find((p) => p.name === chosenProvider.value && p.available) ??
    all.find((p) => p.default && p.available) ??
    all.find((p) => p.available)
  );
}

/** Returns the display name of an agent. */
export function agentName(name: string): string {
  const p = providers.value.find((x) => x.name === name);
  const own = p?.display_name;
  return own && own !== name ? own : (w.value.agents[name] ?? name);
}

export function isSimulated(name: string | undefined): boolean {
  if (name === undefined || name === "") return hello.value?.simulated === true;
  return name === "sim" || providers.value.find((p) => p.name === name)?.simulated === true;
}

/** The agent of a session of the server. */
export function providerOf(session: string): string | undefined {
  return live.value.find((s) => s.session_id === session)?.provider;
}

/**
 * Returns the capabilities of a session; undefined until its agent has run once since the server's
 * start.
 */
export function capabilitiesOf(session: string): Capabilities | undefined {
  const me = live.value.find((s) => s.session_id === session);
  return me?.capabilities ?? (me?.provider ? capabilitiesOfAgent(me.provider) : undefined);
}

/** Returns the capabilities of an agent, from any of its sessions. */
export function capabilitiesOfAgent(name: string): Capabilities | undefined {
  return live.value.find((s) => s.provider === name && s.capabilities !== undefined)?.capabilities;
}

/** Reports whether the screen shows an agent that asks no model. */
export function simulationShown(): boolean {
  const r = route.value;
  if (r.page === "session") return r.ids.some((id) => isSimulated(providerOf(id)));
  if (r.page === "new") return isSimulated(nextProvider()?.name);
  return hello.value?.simulated === true && providers.value.every((p) => isSimulated(p.name));
}
