// Values from outside, read by type and never trusted.

export type Obj = Record<string, unknown>;

export function isObj(v: unknown): v is Obj {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** A string, "" for anything else. */
export function str(v: unknown): string {
  return typeof v === "string" ? v : "";
}

/** A number that JSON can represent, 0 for anything else. */
export function num(v: unknown): number {
  return typeof v === "number" && Number.isFinite(v) ? v : 0;
}

/** Returns the elements of an array, and an empty array for any other value. */
export function list(v: unknown): unknown[] {
  return Array.isArray(v) ? v : [];
}

/** Returns the strings of an array, and an empty array for any other value. */
export function strings(v: unknown): string[] {
  return list(v).filter((s): s is string => typeof s === "string");
}

/** A member of an object, undefined for anything else and for null. */
export function get(v: unknown, key: string): unknown {
  if (!isObj(v)) return undefined;
  const member = v[key];
  return member === null ? undefined : member;
}

/** Sets a member to a text that is not empty. */
export function setText<K extends string>(target: { [key in K]?: string }, key: K, text: unknown): void {
  if (typeof text === "string" && text !== "") target[key] = text;
}

/** Sets a member to a number. */
export function setNumber<K extends string>(target: { [key in K]?: number }, key: K, value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value)) target[key] = value;
}

/**
 * Copies the members of an event over those of an earlier event of its kind. Empty texts and nulls change no
 * member.
 */
export function over<T extends object>(old: T | undefined, event: T): T {
  if (old === undefined) return { ...event };
  const said = Object.entries(event).filter(([, value]) => value !== null && value !== "");
  const added = said.filter(([key]) => !Object.hasOwn(old, key)).length;
  const full = Object.keys(old).length + added > maxMembers;
  for (const [key, value] of said) {
    if (full && !Object.hasOwn(old, key)) continue;
    // An assignment to __proto__ would set something else.
    Object.defineProperty(old, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return old;
}

/** How many members an event may get from later ones. */
const maxMembers = 256;

/** Sets a member unless the value is undefined or empty. */
export function setValue<K extends string>(target: { [key in K]?: unknown }, key: K, value: unknown): void {
  if (value !== undefined && value !== null) target[key] = value;
}
