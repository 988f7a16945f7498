// Versions of a prompt: editing and resending one starts a session that continues after the message
// before it. The sessions' metadata records this, so every client shows it.

import type { FoldedConversation, Item } from "../fold/conversation";
import { get, isObj, list, str } from "../fold/json";
import type { HistoryVersion, SessionSummary } from "../rpc/service";
import { isPerson } from "./rows";

/** A session's metadata about the prompt of which it has another version. */
export interface Origin {
  /** The session with the first version. */
  of: string;
  /** Which prompt, counted from 0. */
  prompt: number;
  version: number;
}

export function originOf(s: SessionSummary | undefined): Origin | undefined {
  const of = s?.metadata?.["version_of"];
  const prompt = Number(s?.metadata?.["version_prompt"]);
  if (!of || !Number.isInteger(prompt) || prompt < 0) return undefined;
  return { of, prompt, version: Number(s?.metadata?.["version"]) || 0 };
}

export function metadataOf(o: Origin): Record<string, string> {
  return { version_of: o.of, version_prompt: String(o.prompt), version: String(o.version) };
}

/** The sessions that have a version of a prompt, in their order, and which of them this is. */
export function versionsOf(
  all: readonly SessionSummary[],
  session: string,
  prompt: number,
): { ids: string[]; at: number } {
  const byId = new Map(all.map((s) => [s.session_id, s]));
  let here = session;
  let root = session;
  // A prompt before the one that was edited is the origin's own.
  for (let hops = 0; hops < 100; hops++) {
    const o = originOf(byId.get(here));
    if (o === undefined || prompt > o.prompt) {
      root = here;
      break;
    }
    if (prompt === o.prompt) {
      root = o.of;
      break;
    }
    here = o.of;
    root = here;
  }
  const others = all
    .map((s) => ({ id: s.session_id, o: originOf(s) }))
    .filter((x) => x.o?.of === root && x.o.prompt === prompt)
    .sort((a, b) => (a.o?.version ?? 0) - (b.o?.version ?? 0) || (a.id < b.id ? -1 : 1))
    .map((x) => x.id);
  const ids = [root, ...others].filter((id) => byId.has(id));
  return { ids, at: ids.indexOf(here) };
}

/** Returns the index of a message among the prompts, from 0; -1 if it is not a prompt. */
export function promptIndex(c: FoldedConversation, uuid: string): number {
  let n = 0;
  for (const item of c.threads[0]?.items ?? []) {
    if (!item.message || !isPerson(item.message)) continue;
    if (item.message.uuid === uuid) return n;
    n++;
  }
  return -1;
}

/** The message before a prompt, after which another version continues. */
export function messageBefore(c: FoldedConversation, uuid: string): string | undefined {
  const items = c.threads[0]?.items ?? [];
  let last: string | undefined;
  for (const item of items) {
    if (item.message?.uuid === uuid && isPerson(item.message)) return last;
    last = lastUuid(item) ?? last;
  }
  return undefined;
}

function lastUuid(item: Item): string | undefined {
  if (item.toolResult?.uuid) return item.toolResult.uuid;
  const m = item.message;
  if (m === undefined) return undefined;
  const results = list(m.blocks).map((b) => (isObj(b) ? str(get(get(b, "tool"), "resultUuid")) : ""));
  const result = results.filter((s) => s !== "").pop();
  return result ?? [...m.blocks].reverse().find((b) => b.uuid)?.uuid ?? m.uuid;
}

/** The versions of a prompt in a transcript. */
export function transcriptVersions(
  all: readonly HistoryVersion[],
  uuid: string,
): { leaves: string[]; at: number } | undefined {
  const me = all.find((v) => v.uuid === uuid);
  if (me === undefined) return undefined;
  const same = all.filter((v) => v.parent === me.parent);
  return { leaves: same.map((v) => v.leaf), at: same.indexOf(me) };
}
