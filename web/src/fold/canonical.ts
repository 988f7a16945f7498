// The canonical JSON of a value (RFC 8785). The Go side has the same, so states can be compared byte by byte.

/** Replaces unpaired surrogates, which UTF-8 cannot encode. */
function wellFormed(s: string): string {
  return s.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

export function canonical(v: unknown): string {
  switch (typeof v) {
    case "string":
      return JSON.stringify(wellFormed(v));
    case "number":
      return Number.isFinite(v) ? JSON.stringify(v) : "null";
    case "boolean":
      return v ? "true" : "false";
    case "object":
      if (v === null) return "null";
      if (Array.isArray(v)) return "[" + v.map(canonical).join(",") + "]";
      return "{" + members(v).join(",") + "}";
    default:
      return "null";
  }
}

function members(v: object): string[] {
  return Object.entries(v)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, value]) => JSON.stringify(wellFormed(key)) + ":" + canonical(value));
}
