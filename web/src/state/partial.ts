// The input of a tool while it streams: JSON that has not ended yet.

/** How much of a streaming input is read for its preview. */
export const previewLimit = 8_192;

/**
 * The members of the object that a piece of JSON begins: the complete ones, and an incomplete text up to its end. It
 * reads the piece once.
 */
export function partialObject(json: string): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const s = json.slice(0, previewLimit);
  let i = skip(s, 0);
  if (s[i] !== "{") return out;
  i++;
  for (;;) {
    i = skip(s, i);
    if (s[i] === ",") i = skip(s, i + 1);
    if (s[i] !== '"') return out;
    const keyEnd = stringEnd(s, i);
    if (keyEnd < 0) return out;
    const key = parse(s.slice(i, keyEnd));
    i = skip(s, keyEnd);
    if (s[i] !== ":" || typeof key !== "string") return out;
    i = skip(s, i + 1);
    if (i >= s.length) return out;
    const end = valueEnd(s, i);
    if (end < 0) {
      if (s[i] === '"') out[key] = begun(s.slice(i));
      return out;
    }
    out[key] = parse(s.slice(i, end));
    i = end;
  }
}

function skip(s: string, i: number): number {
  while (i < s.length && /\s/.test(s[i] ?? "")) i++;
  return i;
}

/** The end of the string that begins here; -1 if it is incomplete. */
function stringEnd(s: string, i: number): number {
  for (let j = i + 1; j < s.length; j++) {
    if (s[j] === "\\") j++;
    else if (s[j] === '"') return j + 1;
  }
  return -1;
}

function valueEnd(s: string, i: number): number {
  if (s[i] === '"') return stringEnd(s, i);
  let depth = 0;
  for (let j = i; j < s.length; j++) {
    const c = s[j];
    if (c === '"') {
      j = stringEnd(s, j) - 1;
      if (j < 0) return -1;
    } else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") {
      depth--;
      if (depth < 0) return j;
      if (depth === 0) return j + 1;
    } else if (c === "," && depth === 0) return j;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of an incomplete string, without an incomplete escape. */
function begun(text: string): string {
  const whole = text.replace(/((?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, "$1");
  const v = parse(`${whole}"`) ?? parse(`${text.slice(0, -6)}"`);
  return typeof v === "string" ? v : "";
}
