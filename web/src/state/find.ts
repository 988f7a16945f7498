// Find inside a conversation: the browser's own find sees only the rows that are drawn.

import { get, str } from "../fold/json";
import type { Row } from "./rows";

/** The text of a row, as a reader sees it. */
export function textOf(row: Row): string {
  if (row.block?.tool) {
    const t = row.block.tool;
    return [t.title, words(t.input), words(t.result)].join("\n");
  }
  if (row.block) return row.block.text ?? "";
  if (row.message) return row.message.blocks.map((b) => b.text ?? "").join("\n");
  return row.item.error ? str(get(row.item.error, "message")) : "";
}

/** All strings in a value. */
function words(v: unknown, depth = 0): string {
  if (typeof v === "string") return v;
  if (typeof v !== "object" || v === null || depth > 6) return "";
  return Object.values(v)
    .map((x) => words(x, depth + 1))
    .filter((s) => s !== "")
    .join("\n");
}

/** The keys of the rows that have a text, in order. */
export function findRows(rows: readonly Row[], query: string): string[] {
  const q = query.trim().toLowerCase();
  if (q === "") return [];
  return rows.filter((r) => textOf(r).toLowerCase().includes(q)).map((r) => r.key);
}
