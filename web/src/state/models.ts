// The models of a session, and the efforts that each of them knows.

import { get, str, strings } from "../fold/json";
import { call } from "./app";

export interface Model {
  value: string;
  label: string;
  /** The full name that the value stands for. */
  resolved: string;
  /** Undefined where the agent does not say. */
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

/** The entry of the model that a session runs: by its own name, else by what an entry stands for. */
export function currentModel(models: readonly Model[], model: string): Model | undefined {
  return models.find((m) => m.value === model) ?? models.find((m) => m.resolved === model);
}
