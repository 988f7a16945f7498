// Contexts of a message. The text for the agent begins with a block that names them; this reads the
// block back, so that a message shows tags in its place.

import { get, isObj, num, type Obj, str } from "../fold/json";
import { bytes } from "./time";

export type ContextKind =
  | "file"
  | "web"
  | "folder"
  | "symbol"
  | "terminal"
  | "problems"
  | "git"
  | "selection"
  | "workspace"
  | "image";

/** A context as the service takes it: its type and the members of that type. */
export interface Context {
  type: string;
  [member: string]: unknown;
}

export const types: Record<ContextKind, string> = {
  file: "FileReference",
  web: "WebReference",
  folder: "FolderReference",
  symbol: "SymbolReference",
  terminal: "TerminalReference",
  problems: "ProblemsReference",
  git: "GitReference",
  selection: "SelectionReference",
  workspace: "WorkspaceReference",
  image: "ImageReference",
};

const icons: [string, ContextKind][] = [
  ["📄", "file"],
  ["🌐", "web"],
  ["📁", "folder"],
  ["🔗", "symbol"],
  ["💻", "terminal"],
  ["⚠", "problems"],
  ["🔀", "git"],
  ["✏", "selection"],
  ["🏠", "workspace"],
  ["🖼", "image"],
];

/** A context as it is shown. */
export interface Tag {
  kind: ContextKind | "unknown";
  label: string;
  note: string;
}

const block = /^> \*\*(?:上下文资料|Context)\*\*[ \t]*\r?\n(?:>[ \t]*\r?\n)?((?:> - [^\r\n]+\r?\n)+)\r?\n/;

/** The content of a context, which follows the text of its message. */
export interface Part {
  kind: ContextKind;
  label: string;
  content: string;
}

export interface Parsed {
  text: string;
  tags: Tag[];
  parts: Part[];
  /** The text before and after, unchanged. */
  before: string;
  after: string;
}

/** Splits the block of contexts and their contents off a text. Text that only looks like them stays text. */
export function parseContexts(whole: string): Parsed {
  const { text: rest, tags } = parseBlock(whole);
  const { at, parts } = parseParts(rest);
  const labels = new Set(parts.map((p) => `${p.kind} ${p.label}`));
  return {
    text: rest.slice(0, at),
    tags: tags.filter((t) => !labels.has(`${t.kind} ${t.label}`)), // the part already names it
    parts,
    before: whole.slice(0, whole.length - rest.length),
    after: rest.slice(at),
  };
}

function parseBlock(text: string): { text: string; tags: Tag[] } {
  const m = block.exec(text);
  if (m === null) return { text, tags: [] };
  const tags: Tag[] = [];
  for (const line of (m[1] ?? "").trimEnd().split(/\r?\n/)) {
    const tag = parseLine(line.slice(4).trimEnd());
    if (tag === undefined) return { text, tags: [] };
    tags.push(tag);
  }
  return { text: text.slice(m[0].length), tags };
}

const partHead = /(?:^|\n\n)(📄|💻|⚠|🔀|✏)\uFE0F? `([^`\n]*)`:\n(`{3,})\n/g;

const partHere = new RegExp(partHead, "y");

/** Parses the contents at the end of a text; no other text follows them. */
function parseParts(text: string): { at: number; parts: Part[] } {
  for (const first of text.matchAll(partHead)) {
    const parts: Part[] = [];
    let at = first.index;
    while (at < text.length) {
      partHere.lastIndex = at;
      const m = partHere.exec(text);
      if (m === null) break;
      const from = at + m[0].length;
      const end = text.indexOf(`\n${m[3]}`, from - 1);
      if (end < 0) break;
      const kind = icons.find(([icon]) => icon === m[1])?.[1] ?? "file";
      parts.push({ kind, label: m[2] ?? "", content: text.slice(from, Math.max(from, end)) });
      at = end + 1 + (m[3] ?? "").length;
    }
    if (at === text.length) return { at: first.index, parts };
  }
  return { at: text.length, parts: [] };
}

/** The files of tags that a text names with @: they are shown there. */
export function mentionedIn(text: string, tags: readonly Tag[]): string[] {
  return tags.filter((x) => (x.kind === "file" || x.kind === "folder") && text.includes(`@${x.label}`)).map((x) => x.label);
}

/** Returns the contexts that remain after an edit of the text: those without a removed mention. */
export function stillMeant(contexts: readonly Obj[], before: string, after: string): readonly Obj[] {
  const tags = contexts.map(tagOf);
  const now = mentionedIn(after, tags);
  const gone = mentionedIn(before, tags).filter((label) => !now.includes(label));
  return gone.length === 0 ? contexts : contexts.filter((_, i) => !gone.includes(tags[i]?.label ?? ""));
}

/** A text in parts, of which every second is a mention. */
export function byMention(text: string, labels: readonly string[]): string[] {
  if (labels.length === 0) return [text];
  const longest = [...labels].sort((a, b) => b.length - a.length).map((l) => l.replace(/[^\w]/g, "\\$&"));
  return text.split(new RegExp(`(@(?:${longest.join("|")}))`));
}

/**
 * Returns the contents of contexts, to append to the text. Files of the project are left out: the agent reads
 * them itself.
 */
export function contents(contexts: readonly unknown[]): string {
  return contexts
    .filter(isObj)
    .map((c) => {
      const tag = tagOf(c);
      const icon = icons.find(([, kind]) => kind === tag.kind)?.[0] ?? "📄";
      const content = Array.isArray(c["problems"]) ? c["problems"].join("\n") : str(c["content"]);
      if (content === "") return "";
      const fence = "`".repeat(Math.max(3, ...[...content.matchAll(/`+/g)].map((m) => m[0].length + 1)));
      return `\n\n${icon} \`${tag.label}\`:\n${fence}\n${content.replace(/\n$/, "")}\n${fence}`;
    })
    .join("");
}

/** The same contexts without their contents. */
export function withoutContents(contexts: readonly unknown[]): Obj[] {
  return contexts.filter(isObj).map(({ content, problems, ...rest }) => rest);
}

function parseLine(line: string): Tag | undefined {
  const found = icons.find(([icon]) => line.startsWith(icon));
  if (found === undefined) return undefined;
  const [icon, kind] = found;
  const rest = line
    .slice(icon.length)
    .replace(/^\uFE0F/, "")
    .trimStart();
  const quoted = /^`([^`]+)`\s*(.*)$/.exec(rest);
  if (kind === "file" || kind === "folder" || kind === "symbol" || kind === "image") {
    if (quoted === null) return undefined;
    return { kind, label: quoted[1] ?? "", note: (quoted[2] ?? "").replace(/^\((.*)\)$/, "$1") };
  }
  const noted = /^(.*?)(?:\s+(\(.*\)|\[.*\]|\(.*\)\s.*))?$/.exec(rest);
  return { kind, label: noted?.[1] ?? rest, note: (noted?.[2] ?? "").replace(/[()[\]]/g, "") };
}

/** The display of a context of the service. */
export function tagOf(c: unknown): Tag {
  const type = str(get(c, "type"));
  const kind = (Object.keys(types) as ContextKind[]).find((k) => types[k] === type) ?? "unknown";
  const label = str(get(c, "path")) || str(get(c, "name")) || str(get(c, "title")) || str(get(c, "url"));
  return { kind, label, note: noteOf(kind, c) };
}

function size(text: string): string {
  return bytes(new Blob([text]).size);
}

function noteOf(kind: Tag["kind"], c: unknown): string {
  if (!isObj(c)) return "";
  switch (kind) {
    case "file":
      return typeof c["content"] === "string" ? size(c["content"]) : "";
    case "terminal":
      return String(num(c["lines"]));
    case "problems":
      return String(num(c["count"]));
    case "git":
      return str(c["gitType"]);
    case "image":
      return str(c["size"]);
    case "symbol":
      return str(c["file"]);
    default:
      return "";
  }
}

/** Reports whether a path has only characters that are allowed in the block. */
export function goodPath(path: string): boolean {
  return path !== "" && !/[\u0000-\u001f\u007f`\u2028\u2029]/.test(path);
}

/** The fields of a kind. */
export const asks: Record<ContextKind, readonly FieldName[]> = {
  file: ["path"],
  folder: ["path"],
  symbol: ["name", "symbolType", "file", "line"],
  web: ["url", "title"],
  selection: ["content"],
  terminal: ["content"],
  problems: ["content", "severity"],
  git: ["gitType", "content"],
  workspace: [],
  image: [],
};

export type FieldName =
  | "path"
  | "name"
  | "symbolType"
  | "file"
  | "line"
  | "url"
  | "title"
  | "content"
  | "severity"
  | "gitType";

/** The context for the fields; undefined if a field is missing or invalid. */
export function makeContext(kind: ContextKind, f: Partial<Record<FieldName, string>>): Obj | undefined {
  const base = { type: types[kind], displayType: "TAG" };
  const lines = (f.content ?? "").split("\n").filter((l) => l.trim() !== "").length;
  switch (kind) {
    case "file":
    case "folder":
      return goodPath(f.path ?? "") ? { ...base, path: f.path } : undefined;
    case "symbol":
      if (!goodPath(f.name ?? "")) return undefined;
      return {
        ...base,
        name: f.name,
        ...(f.symbolType ? { symbolType: f.symbolType } : {}),
        ...(f.file ? { file: f.file } : {}),
        ...(Number(f.line) > 0 ? { line: Math.floor(Number(f.line)) } : {}),
      };
    case "web":
      return /^https?:\/\/\S+$/.test(f.url ?? "")
        ? { ...base, url: f.url, ...(f.title ? { title: f.title } : {}) }
        : undefined;
    case "terminal":
      return lines > 0
        ? {
            ...base,
            lines,
            content: f.content,
            ...(/error|fail|panic/i.test(f.content ?? "") ? { isError: true } : {}),
          }
        : undefined;
    case "problems":
      return lines > 0
        ? {
            ...base,
            count: lines,
            severity: f.severity || "ERROR",
            problems: (f.content ?? "").split("\n").filter((l) => l.trim() !== ""),
          }
        : undefined;
    case "git":
      return { ...base, gitType: f.gitType || "DIFF", ...(f.content ? { content: f.content } : {}) };
    case "selection":
      return lines > 0 ? { ...base, content: f.content } : undefined;
    case "workspace":
      return base;
    default:
      return undefined;
  }
}
