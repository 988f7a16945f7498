// The form for an MCP server.

/**
 * Splits a command line into words. Quotes keep spaces; variables and patterns are not expanded,
 * because no shell runs it.
 */
export function wordsOf(text: string): string[] {
  const out: string[] = [];
  for (const m of text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)) out.push(m[0].replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  return out;
}

/** Lines of NAME=value. A line without a value keeps the one that is set. */
export function pairsOf(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    if (name !== "") out[name] = at < 0 ? "" : line.slice(at + 1).trim();
  }
  return out;
}
