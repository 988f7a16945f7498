// Formats times and figures for people.

import type { Words } from "./words";

/** Seconds as 0:12, 1:05:09. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const h = Math.floor(s / 3600);
  const m = Math.floor((s % 3600) / 60);
  const two = (n: number) => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

/** How long something took: 0.4 s, 12 s, 2 min, 1 h 5 min. */
export function duration(ms: number, w: Words): string {
  if (ms < 950) return `${Math.max(0.1, Math.round(ms / 100) / 10)} ${w.sec}`;
  const s = Math.round(ms / 1000);
  if (s < 100) return `${s} ${w.sec}`;
  const m = Math.round(s / 60);
  if (m < 100) return `${m} ${w.min}`;
  return `${Math.floor(m / 60)} ${w.hour} ${m % 60} ${w.min}`;
}

/** How long ago: now, 12 s, 9 min; the time of the day; the week day; the date. */
export function age(ts: string | undefined, now: number, w: Words, lang: string): string {
  const t = ts ? Date.parse(ts) : Number.NaN;
  if (Number.isNaN(t)) return "";
  const s = Math.round((now - t) / 1000);
  if (s < 5) return w.now;
  if (s < 60) return `${s} ${w.sec}`;
  if (s < 3600) return `${Math.round(s / 60)} ${w.min}`;
  const date = new Date(t);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) {
    return date.toLocaleTimeString(lang, { hour: "2-digit", minute: "2-digit", hour12: false });
  }
  if (s < 6 * 86400) return date.toLocaleDateString(lang, { weekday: "short" });
  return date.toLocaleDateString(lang, { day: "numeric", month: "short" });
}

/** A number of tokens: 940, 9.4k, 124k, 1.2M. */
export function tokens(n: number): string {
  if (n < 1000) return String(Math.round(n));
  if (n < 10_000) return `${(Math.floor(n / 100) / 10).toFixed(1)}k`;
  if (n < 1_000_000) return `${Math.floor(n / 1000)}k`;
  return `${(Math.floor(n / 100_000) / 10).toFixed(1)}M`;
}

export function money(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${Math.ceil(n / 1024)} KB`;
  return `${(n / 1024 / 1024).toFixed(1)} MB`;
}

/** Days as groups of a list: today, earlier. */
export function isToday(ts: string | undefined, now: number): boolean {
  const t = ts ? Date.parse(ts) : Number.NaN;
  return !Number.isNaN(t) && new Date(t).toDateString() === new Date(now).toDateString();
}

/** The time of the day. */
export function clockTime(t: number, lang: string): string {
  return new Date(t).toLocaleTimeString(lang, { hour: "2-digit", minute: "2-digit", hour12: false });
}

/** A day and a time; only the time if it is today. */
export function dateTime(ts: string, lang: string): string {
  const t = Date.parse(ts);
  if (Number.isNaN(t)) return "";
  if (isToday(ts, Date.now())) return clockTime(t, lang);
  return `${new Date(t).toLocaleDateString(lang, { day: "numeric", month: "short" })} ${clockTime(t, lang)}`;
}

/** The short form of a day given as 2026-11-15. */
export function shortDate(day: string, lang: string): string {
  const [y, m, d] = day.split("-").map(Number);
  if (y === undefined || m === undefined || d === undefined || Number.isNaN(y + m + d)) return day;
  return new Date(y, m - 1, d).toLocaleDateString(lang, { day: "numeric", month: "short" });
}
