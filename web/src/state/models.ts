// The models of a session, and the efforts that each of them knows.

import { get, str, strings } from "../fold/json";
import { call } from "./app";

export interface Model {
  value: string;
  label: string;
  /** The full name that the value resolves to. */
  resolved: string;
  /** Undefined if the agent does not report them. */
  efforts?: readonly string[];
}

const cache = new Map<string, readonly Model[]>();

export async function loadModels(session_id: string): Promise<readonly Model[]> {
  const known = cache.get(session_id);
  if (known) return known;
  const r = await call("models.list", { session_id }).catch(() => undefined);
  const all = (r?.items ?? []).map(readModel).filter((m) => m.value !== "");
  if (all.length > 0) cache.set(session_id, all);
  return all;
}

/** A model as agents describe it: Claude by value, Codex by id, others by name. */
export function readModel(item: unknown): Model {
  const first = (...keys: string[]) => keys.map((k) => str(get(item, k))).find((s) => s !== "") ?? "";
  const value = first("value", "id", "name") || str(item);
  const efforts = get(item, "supportedEffortLevels");
  return {
    value,
    label: first("displayName", "display_name") || shortModel(value),
    resolved: first("resolvedModel") || value,
    ...(Array.isArray(efforts)
      ? { efforts: strings(efforts) }
      : get(item, "supportsEffort") === false
        ? { efforts: [] }
        : {}),
  };
}

/** claude-opus-4-7-20260101 is read as opus-4-7. */
export function shortModel(model: string): string {
  return model.replace(/^claude-/, "").replace(/-\d{8}$/, "");
}

/** Returns the entry of a session's model: by its name, else by the full name of an entry. */
export function currentModel(models: readonly Model[], model: string): Model | undefined {
  return models.find((m) => m.value === model) ?? models.find((m) => m.resolved === model);
}
