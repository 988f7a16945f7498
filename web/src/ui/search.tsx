// Search in the sessions' titles, tags and texts.

import { useEffect, useState } from "preact/hooks";
import type { HistoryHit } from "../rpc/service";
import { call } from "../state/app";
import type { Entry } from "../state/sessions";

export type Filter = "all" | "live" | "archived";

/** Whether a session is among what was asked for. */
export function matches(
  e: Entry,
  query: string,
  project: string,
  filter: Filter,
  hits: ReadonlyMap<string, HistoryHit>,
): boolean {
  if (filter === "live" ? !e.live : filter === "archived" ? !e.archived : e.archived) return false;
  if (project !== "" && e.project !== project) return false;
  if (query === "") return true;
  const q = query.toLowerCase();
  return hits.has(e.id) || e.title.toLowerCase().includes(q) || e.tag.toLowerCase().includes(q);
}

/** The first place in each session where a text stands, asked for after a pause in typing. */
export function useSearch(query: string): ReadonlyMap<string, HistoryHit> {
  const [hits, setHits] = useState<ReadonlyMap<string, HistoryHit>>(new Map());
  useEffect(() => {
    setHits(new Map());
    if (query.trim().length < 2) return;
    let gone = false;
    const id = setTimeout(() => {
      call("history.search", { query: query.trim(), limit: 200 })
        .then((r) => {
          if (!gone) setHits(new Map((r.hits ?? []).map((h) => [h.session, h] as const)));
        })
        .catch(() => {});
    }, 200);
    return () => {
      gone = true;
      clearTimeout(id);
    };
  }, [query]);
  return hits;
}

/** A text with what was searched for marked. */
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
