// The questions of an AskUserQuestion and the chosen answers.

import { get, list, str } from "../fold/json";

export interface Option {
  label: string;
  description: string;
  preview: string;
}

export interface Question {
  question: string;
  header: string;
  multi: boolean;
  options: Option[];
}

/** The answer to one question: labels, and free text. */
export interface Chosen {
  labels: readonly string[];
  other?: string;
}

export function questions(v: unknown): Question[] {
  return list(v).map((q) => ({
    question: str(get(q, "question")),
    header: str(get(q, "header")),
    multi: get(q, "multiSelect") === true,
    options: list(get(q, "options")).map((o) => ({
      label: typeof o === "string" ? o : str(get(o, "label")),
      description: str(get(o, "description")),
      preview: str(get(o, "preview")),
    })),
  }));
}

/** The choice after a click on an option: the only one, or one of several that can be toggled. */
export function pick(q: Question, c: Chosen, label: string): Chosen {
  if (!q.multi) return { labels: [label] };
  const labels = c.labels.includes(label) ? c.labels.filter((l) => l !== label) : [...c.labels, label];
  // In the order of the options, regardless of the order of the clicks.
  const sorted = q.options.map((o) => o.label).filter((l) => labels.includes(l));
  return { ...c, labels: sorted };
}

export function isAnswered(c: Chosen | undefined): boolean {
  return c !== undefined && (c.labels.length > 0 || (c.other ?? "").trim() !== "");
}

/** The answers in the agent's form: by question, several joined by commas. */
export function answers(all: readonly Question[], chosen: readonly (Chosen | undefined)[]): Record<string, string> {
  const out: Record<string, string> = {};
  all.forEach((q, i) => {
    const c = chosen[i];
    if (c === undefined || !isAnswered(c)) return;
    const other = (c.other ?? "").trim();
    out[q.question] = [...c.labels, ...(other === "" ? [] : [other])].join(", ");
  });
  return out;
}
