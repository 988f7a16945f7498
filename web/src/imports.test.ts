// @ts-nocheck: the types of Node are not among those of the page.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = dirname(fileURLToPath(import.meta.url));

/** The files that a file imports values from; types are gone when the page is built. */
function importsOf(file: string): string[] {
  const out: string[] = [];
  for (const m of readFileSync(file, "utf8").matchAll(/^(?:import|export) (type )?([^;]*?) ?from "(\.[^"]+)"/gm)) {
    const names = (m[2] ?? "").replace(/[{}]/g, "").split(",");
    if (m[1] || names.every((n) => /^\s*(type\s.*)?$/.test(n))) continue;
    const base = normalize(join(dirname(file), m[3] ?? ""));
    const found = [".ts", ".tsx", "/index.ts"].map((end) => base + end).find((p) => existsSync(p));
    if (found) out.push(found);
  }
  return out;
}

/** Every import cycle. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  const walk = (file: string, way: readonly string[]) => {
    seen.add(file);
    for (const next of graph.get(file) ?? []) {
      const at = way.indexOf(next);
      if (at >= 0) found.push([...way.slice(at), next].map((p) => p.slice(root.length + 1)).join(" > "));
      else if (!seen.has(next)) walk(next, [...way, next]);
    }
  };
  for (const file of graph.keys()) if (!seen.has(file)) walk(file, [file]);
  return found;
}

describe("imports", () => {
  it("have no circles", () => {
    const files = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((f) => /\.tsx?$/.test(f) && !f.includes(".test."))
      .map((f) => join(root, f));
    expect(files.length).toBeGreaterThan(100);
    expect(circles(new Map(files.map((f) => [f, importsOf(f)])))).toEqual([]);
    expect(circles(new Map([["a", ["b"]], ["b", ["a"]]]))).toHaveLength(1);
  });
});
