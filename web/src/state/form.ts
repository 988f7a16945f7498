// A form from the JSON Schema of an elicitation: flat objects of strings, numbers, truth
// values and choices, as the protocol allows.

import { get, isObj, list, num, type Obj, str, strings } from "../fold/json";
import { toolName } from "./tidy";

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: "text" | "email" | "url" | "date" | "datetime" | "number" | "integer" | "flag" | "choice" | "choices";
  required: boolean;
  options: { value: string; label: string }[];
  min?: number;
  max?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  initial: Value;
}

export type Value = string | boolean | string[];

/** The error of a field, as a key of the translations and a number. */
export interface Fault {
  key:
    | "required"
    | "min"
    | "max"
    | "minLength"
    | "maxLength"
    | "pattern"
    | "email"
    | "url"
    | "date"
    | "number"
    | "integer";
  n?: number;
}

export function fields(schema: unknown): Field[] {
  const required = strings(get(schema, "required"));
  const properties = get(schema, "properties");
  if (!isObj(properties)) return [];
  return Object.entries(properties).map(([name, s]) => field(name, s, required.includes(name)));
}

function field(name: string, s: unknown, required: boolean): Field {
  const kind = kindOf(s);
  const f: Field = {
    name,
    title: str(get(s, "title")) || toolName(name),
    description: str(get(s, "description")),
    kind,
    required,
    options: optionsOf(kind === "choices" ? get(s, "items") : s),
    initial: initialOf(kind, get(s, "default")),
  };
  for (const [key, of] of [
    ["min", "minimum"],
    ["max", "maximum"],
    ["minLength", "minLength"],
    ["maxLength", "maxLength"],
  ] as const) {
    const n = get(s, of);
    if (typeof n === "number") f[key] = num(n);
  }
  if (kind === "choices") {
    const min = get(s, "minItems");
    const max = get(s, "maxItems");
    if (typeof min === "number") f.min = min;
    if (typeof max === "number") f.max = max;
  }
  return f;
}

function kindOf(s: unknown): Field["kind"] {
  const type = str(get(s, "type"));
  if (type === "boolean") return "flag";
  if (type === "number" || type === "integer") return type;
  if (type === "array") return "choices";
  if (isObj(s) && ("enum" in s || "oneOf" in s || "anyOf" in s)) return "choice";
  const format = str(get(s, "format"));
  if (format === "email" || format === "date") return format;
  if (format === "uri") return "url";
  if (format === "date-time") return "datetime";
  return "text";
}

function optionsOf(s: unknown): Field["options"] {
  const titled = [...list(get(s, "oneOf")), ...list(get(s, "anyOf"))];
  if (titled.length > 0) {
    return titled.map((o) => ({ value: str(get(o, "const")), label: str(get(o, "title")) || str(get(o, "const")) }));
  }
  const names = strings(get(s, "enumNames"));
  return strings(get(s, "enum")).map((value, i) => ({ value, label: names[i] ?? value }));
}

function initialOf(kind: Field["kind"], v: unknown): Value {
  if (kind === "flag") return v === true;
  if (kind === "choices") return strings(v);
  return typeof v === "string" ? v : typeof v === "number" ? String(v) : "";
}

/** Returns the error of a value, or undefined if it is valid. */
export function check(f: Field, v: Value): Fault | undefined {
  if (typeof v === "boolean") return undefined;
  if (Array.isArray(v)) {
    if (f.required && v.length === 0) return { key: "required" };
    if (f.min !== undefined && v.length < f.min) return { key: "min", n: f.min };
    if (f.max !== undefined && v.length > f.max) return { key: "max", n: f.max };
    return undefined;
  }
  if (v === "") return f.required ? { key: "required" } : undefined;
  if (f.kind === "number" || f.kind === "integer") return checkNumber(f, v);
  return checkText(f, v);
}

function checkNumber(f: Field, v: string): Fault | undefined {
  const n = Number(v);
  if (!Number.isFinite(n) || v.trim() === "") return { key: "number" };
  if (f.kind === "integer" && !Number.isInteger(n)) return { key: "integer" };
  if (f.min !== undefined && n < f.min) return { key: "min", n: f.min };
  if (f.max !== undefined && n > f.max) return { key: "max", n: f.max };
  return undefined;
}

function checkText(f: Field, v: string): Fault | undefined {
  const length = [...v].length;
  if (f.minLength !== undefined && length < f.minLength) return { key: "minLength", n: f.minLength };
  if (f.maxLength !== undefined && length > f.maxLength) return { key: "maxLength", n: f.maxLength };
  if (f.kind === "email" && !/^[^\s@]+@[^\s@]+$/.test(v)) return { key: "email" };
  if (f.kind === "url" && !URL.canParse(v)) return { key: "url" };
  if ((f.kind === "date" || f.kind === "datetime") && Number.isNaN(Date.parse(v))) return { key: "date" };
  return undefined;
}

/** The content of the answer. Empty fields that are not required are omitted. */
export function content(all: readonly Field[], values: ReadonlyMap<string, Value>): Obj {
  const out: Obj = {};
  for (const f of all) {
    const v = values.get(f.name) ?? f.initial;
    if (typeof v === "string") {
      if (v === "") continue;
      out[f.name] = f.kind === "number" || f.kind === "integer" ? Number(v) : v;
    } else if (typeof v === "boolean" || v.length > 0 || f.required) out[f.name] = v;
  }
  return out;
}
