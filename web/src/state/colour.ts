// The colours of lines of code: the parts of a highlighted text, line by line, and which language a file has.

export type Coloured = string | { class: string; children: readonly Coloured[] };

/** A part of a line: from, to, and the class of its colour. */
export interface Part {
  from: number;
  to: number;
  class: string;
}

/** The coloured parts of each line. A part that spans several lines is in each of them. */
export function partsByLine(nodes: readonly Coloured[]): Part[][] {
  const lines: Part[][] = [[]];
  let at = 0;
  const walk = (n: Coloured, cls: string) => {
    if (typeof n !== "string") {
      for (const child of n.children) walk(child, n.class || cls);
      return;
    }
    n.split("\n").forEach((text, i) => {
      if (i > 0) {
        lines.push([]);
        at = 0;
      }
      if (cls !== "" && text !== "") lines[lines.length - 1]?.push({ from: at, to: at + text.length, class: cls });
      at += text.length;
    });
  };
  for (const n of nodes) walk(n, "");
  return lines;
}

/** Splits a line where its colour or a mark begins or ends. A marked part has no colour. */
export function cuts(
  length: number,
  marks: readonly [number, number][],
  parts: readonly Part[],
): { from: number; to: number; class: string; marked: boolean }[] {
  const ends = new Set([0, length]);
  for (const [a, b] of marks) ends.add(a).add(b);
  for (const p of parts) ends.add(p.from).add(p.to);
  const all = [...ends].filter((n) => n >= 0 && n <= length).sort((a, b) => a - b);
  return all.slice(1).map((to, i) => {
    const from = all[i] ?? 0;
    const marked = marks.some(([a, b]) => a <= from && to <= b);
    const cls = marked ? "" : (parts.find((p) => p.from <= from && to <= p.to)?.class ?? "");
    return { from, to, class: cls, marked };
  });
}

// biome-ignore format: a table
const byEnd: Record<string, string> = {
  bash: "bash", c: "c", cc: "cpp", cpp: "cpp", css: "css", cxx: "cpp", diff: "diff", go: "go", h: "c", hpp: "cpp",
  htm: "xml", html: "xml", ini: "ini", java: "java", js: "javascript", json: "json", jsx: "javascript", kt: "kotlin",
  md: "markdown", mjs: "javascript", mk: "makefile", py: "python", rb: "ruby", rs: "rust", sh: "bash", sql: "sql",
  svg: "xml", swift: "swift", toml: "ini", ts: "typescript", tsx: "typescript", xml: "xml", yaml: "yaml", yml: "yaml",
  zsh: "bash",
};

/** The language of a file by its name; empty if unknown. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "dockerfile" || name === "makefile") return name;
  return byEnd[name.slice(name.lastIndexOf(".") + 1)] ?? "";
}
