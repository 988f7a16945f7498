// Colours for code, loaded when the first code is shown.

import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({
  bash: ["sh", "zsh", "shell", "console"],
  ini: ["toml"],
  javascript: ["jsx"],
  typescript: ["tsx"],
  xml: ["html", "svg"],
});

export type Node = string | { class: string; children: Node[] };

/** Maps the classes of the library to the five colours. */
const classes: Record<string, string> = {
  keyword: "k",
  built_in: "f",
  literal: "k",
  type: "t",
  class: "t",
  number: "n",
  string: "s",
  regexp: "s",
  symbol: "n",
  comment: "c",
  doctag: "c",
  title: "f",
  function: "f",
  section: "f",
  name: "k",
  attr: "f",
  attribute: "f",
  variable: "t",
  meta: "c",
  tag: "k",
  "selector-tag": "k",
  "selector-class": "t",
  params: "",
  property: "f",
  addition: "s",
  deletion: "k",
};

interface Hast {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Hast[];
}

/** The coloured parts of code; undefined where the language is not known. */
export function highlight(code: string, lang: string): readonly Node[] | undefined {
  const name = lang.toLowerCase();
  if (!lowlight.registered(name)) return undefined;
  return nodes((lowlight.highlight(name, code) as unknown as Hast).children);
}

function nodes(list: Hast[] | undefined): Node[] {
  return (list ?? []).map((n) => {
    if (n.type === "text") return n.value ?? "";
    const names = Array.isArray(n.properties?.className) ? (n.properties.className as string[]) : [];
    return { class: classes[(names[0] ?? "").replace(/^hljs-/, "")] ?? "", children: nodes(n.children) };
  });
}
