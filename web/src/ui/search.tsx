// Search in the sessions' titles, tags and texts.

import { useEffect, useState } from "preact/hooks";
import { type Found, nothing, type Results, searchAll } from "../state/search";
import { formatRoute } from "../state/route";
import type { Entry } from "../state/sessions";

export type Filter = "all" | "live" | "archived";

/** The filter of the list; empty members match everything. */
export interface Narrow {
  project: string;
  agent: string;
  tag: string;
  machine: string;
}

/** The value that selects the server's machine; no other machine can have this name. */
export const thisMachine = "@";

/** Reports whether a session matches the filter. */
export function matches(
  e: Entry,
  query: string,
  narrow: Narrow,
  filter: Filter,
  hits: ReadonlyMap<string, Found>,
): boolean {
  if (filter === "live" ? !e.live : filter === "archived" ? !e.archived : e.archived) return false;
  if (narrow.project !== "" && e.project !== narrow.project) return false;
  if (narrow.agent !== "" && e.agent !== narrow.agent) return false;
  if (narrow.machine !== "" && (e.machine || thisMachine) !== narrow.machine) return false;
  if (narrow.tag !== "" && e.tag !== narrow.tag) return false;
  if (query === "") return true;
  const q = query.toLowerCase();
  return hits.has(e.id) || e.title.toLowerCase().includes(q) || e.tag.toLowerCase().includes(q);
}

/** Searches for a text after a pause in typing. */
export function useSearch(query: string): Results {
  const [results, setResults] = useState<Results>(nothing);
  useEffect(() => {
    const q = query.trim();
    if (q.length < 2) return setResults(nothing);
    setResults({ ...nothing, reading: true });
    let gone = false;
    const id = setTimeout(() => void searchAll(q, () => !gone, setResults), 200);
    return () => {
      gone = true;
      clearTimeout(id);
    };
  }, [query]);
  return results;
}

/** The address of a session, at the place that was found. */
export function hitHref(e: Entry, hit: Found | undefined): string {
  const message = hit?.message;
  return formatRoute(
    e.live
      ? { page: "session", ids: [e.id], ...(message ? { message } : {}) }
      : { page: "history", id: e.id, ...(message ? { message } : {}) },
  );
}

/** Draws a text with its matches marked. */
export function Marked({ text, query }: { text: string; query: string }) {
  const q = query.trim();
  const i = q === "" ? -1 : text.toLowerCase().indexOf(q.toLowerCase());
  if (i < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, i)}
      <mark>{text.slice(i, i + q.length)}</mark>
      {text.slice(i + q.length)}
    </>
  );
}
