// Text of models, tools and other people is not trusted: links lead only where they appear to, and
// characters that change the direction of text are shown as codes.

const schemes = new Set(["http:", "https:", "mailto:"]);

/** The address of a link if it may be followed, undefined otherwise. */
export function safeLink(href: string): string | undefined {
  const trimmed = href.trim();
  // A browser drops tabs and line breaks inside an address, and reads \ as /.
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\\]/.test(trimmed)) return undefined;
  let url: URL;
  try {
    url = new URL(trimmed);
  } catch {
    return undefined;
  }
  if (!schemes.has(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href;
}

/** Returns the host of a link if its text names another host, so that it can be shown. */
export function hiddenHost(href: string, text: string): string | undefined {
  let host: string;
  try {
    host = new URL(href).host;
  } catch {
    return undefined;
  }
  const shown = /^\s*(?:https?:\/\/)?([\w.-]+\.[a-z]{2,})(?:[/:?#]|\s*$)/i.exec(text)?.[1];
  if (shown === undefined || host === "" || shown.toLowerCase() === host.toLowerCase()) return undefined;
  return host;
}

const turns = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g;

/** Text with the controls that reorder it replaced by a mark that can be seen. */
export function plain(text: string): string {
  return text.replace(turns, (c) => `\u2409${(c.codePointAt(0) ?? 0).toString(16)}`.replace("\u2409", "U+"));
}

/** Whether a text contains such controls. */
export function turnsText(text: string): boolean {
  return /[\u202a-\u202e\u2066-\u2069]/.test(text);
}

/** The beginning of a text, at most n units of UTF-16. A character of two units is not cut. */
export function beginning(text: string, n: number): string {
  const last = text.charCodeAt(n - 1);
  return text.slice(0, text.length > n && last >= 0xd800 && last < 0xdc00 ? n - 1 : n);
}

/** The end of a text, at most n units of UTF-16. A character of two units is not cut. */
export function ending(text: string, n: number): string {
  const first = text.charCodeAt(text.length - n);
  return text.slice(Math.max(0, text.length - n + (text.length > n && first >= 0xdc00 && first < 0xe000 ? 1 : 0)));
}

/** One line of a text, at most n characters of it. */
export function oneLine(text: string, n = 200): string {
  const line = beginning(text.trimStart(), n * 2)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > n ? `${beginning(line, n - 1)}…` : line;
}
