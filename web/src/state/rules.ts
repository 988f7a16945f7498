// The rules that an agent suggests to keep with an answer, each one separately.

import { get, isObj, list, type Obj, str, strings } from "../fold/json";

export type Scope = "session" | "localSettings" | "projectSettings" | "userSettings" | string;

export const scopes: readonly Scope[] = ["session", "localSettings", "projectSettings", "userSettings"];

/** One thing to keep: a rule, a mode or a directory. */
export interface Choice {
  id: string;
  kind: "rule" | "mode" | "directory" | "other";
  /** The rule as settings write it, the mode, or the directory. */
  text: string;
  behavior: string;
  scope: Scope;
  /** How the update is written with one scope and one rule. */
  update: Obj;
}

/** The choices of a suggestion. Updates with several rules become one choice each. */
export function choices(suggestions: unknown): Choice[] {
  const out: Choice[] = [];
  list(suggestions).forEach((suggestion, i) => {
    // The update is sent back to the agent; a suggestion without one is sent itself.
    const s = get(suggestion, "update") ?? suggestion;
    if (!isObj(s)) return;
    const scope = str(get(s, "destination")) || "session";
    const behavior = str(get(s, "behavior"));
    const type = str(get(s, "type"));
    const add = (kind: Choice["kind"], text: string, update: Obj) =>
      out.push({ id: `${i}.${out.length}`, kind, text, behavior, scope, update });
    if (type === "addRules" || type === "replaceRules" || type === "removeRules") {
      for (const r of list(get(s, "rules"))) add("rule", ruleText(r), { ...s, rules: [r] });
    } else if (type === "setMode") {
      add("mode", str(get(s, "mode")), s);
    } else if (type === "addDirectories" || type === "removeDirectories") {
      for (const d of strings(get(s, "directories"))) add("directory", d, { ...s, directories: [d] });
    } else {
      add("other", type === "" ? JSON.stringify(s) : type, s);
    }
  });
  return out;
}

function ruleText(rule: unknown): string {
  const content = get(rule, "ruleContent");
  const name = str(get(rule, "toolName"));
  return typeof content === "string" ? `${name}(${content})` : name;
}

/** Returns the updates of the chosen suggestions, in the order of the suggestions. */
export function updates(all: readonly Choice[], chosen: ReadonlyMap<string, Scope>): Obj[] {
  return all.filter((c) => chosen.has(c.id)).map((c) => ({ ...c.update, destination: chosen.get(c.id) ?? c.scope }));
}

/** Returns the scope of a rule: all of a tool, a prefix, or an exact text. */
export function coverage(text: string): { kind: "all" | "prefix" | "exact"; what: string } {
  const m = /^([^(]+)\((.*)\)$/s.exec(text);
  if (m === null) return { kind: "all", what: text };
  const content = m[2] ?? "";
  const prefix = /^(.*?)(?::\*|\s\*|\*\*|\*)$/s.exec(content);
  if (prefix !== null) return { kind: "prefix", what: prefix[1] ?? "" };
  return { kind: "exact", what: content };
}
