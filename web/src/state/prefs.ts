// A person's preferences on this device, stored in the browser.

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Lang = "en" | "zh";
/** The distance between rows. */
export type Density = "comfortable" | "compact";
/** Whether changes are shown side by side, if there is room, or inline. */
export type DiffView = "split" | "inline";

function read(key: string): string | null {
  try {
    return localStorage.getItem(`parley.${key}`);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`parley.${key}`, value);
  } catch {
    // A browser may forbid it; the choice then lasts as long as the page.
  }
}

/** Returns a stored value; undefined if it is missing or cannot be read. */
export function readKept(key: string): unknown {
  try {
    return JSON.parse(read(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeKept(key: string, value: unknown): void {
  write(key, JSON.stringify(value));
}

function systemLang(): Lang {
  return typeof navigator !== "undefined" && navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

function oneOf<T extends string>(value: string | null, all: readonly T[], other: T): T {
  return all.find((v) => v === value) ?? other;
}

export const theme = signal<Theme>(oneOf(read("theme"), ["system", "light", "dark"], "system"));
export const lang = signal<Lang>(oneOf(read("lang"), ["en", "zh"], systemLang()));
export const density = signal<Density>(oneOf(read("density"), ["comfortable", "compact"], "comfortable"));
export const diffView = signal<DiffView>(oneOf(read("diff"), ["split", "inline"], "split"));
/** The page that an address without a fragment opens. */
export const startPage = signal<"new" | "home">(oneOf(read("start"), ["new", "home"], "new"));
export const sidebar = signal(read("sidebar") !== "off");
export const panel = signal(read("panel") !== "off");
/** Whether single letters are shortcuts. */
export const letters = signal(read("letters") !== "off");
export const notify = signal(read("notify") === "on");
/** Whether the first-run page was left. */
export const seen = signal(new Map<string, number>(readSeen()));

function readSeen(): [string, number][] {
  try {
    const v: unknown = JSON.parse(read("seen") ?? "[]");
    return Array.isArray(v) ? (v as [string, number][]).filter((e) => Array.isArray(e) && e.length === 2) : [];
  } catch {
    return [];
  }
}

/** Records how far a session was read. At most 500 are kept. */
export function markSeen(session: string, seq: number): void {
  if (seen.peek().get(session) === seq) return;
  const next = new Map(seen.peek());
  next.delete(session);
  next.set(session, seq);
  seen.value = new Map([...next].slice(-500));
}

/** Stores the choices and applies theme and language. Call it once. */
export function keepPrefs(root: HTMLElement): void {
  effect(() => {
    if (theme.value === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = theme.value;
    write("theme", theme.value);
  });
  effect(() => {
    root.lang = lang.value === "zh" ? "zh-CN" : "en";
    write("lang", lang.value);
  });
  effect(() => {
    root.dataset["density"] = density.value;
    write("density", density.value);
  });
  effect(() => write("diff", diffView.value));
  effect(() => write("start", startPage.value));
  effect(() => write("sidebar", sidebar.value ? "on" : "off"));
  effect(() => write("panel", panel.value ? "on" : "off"));
  effect(() => write("letters", letters.value ? "on" : "off"));
  effect(() => write("notify", notify.value ? "on" : "off"));
  effect(() => write("seen", JSON.stringify([...seen.value])));
}
