// The end of a turn: its result, duration and cost, and the changed files.

import type { Item } from "../fold/conversation";
import { isObj } from "../fold/json";
import { w } from "../state/app";
import { isPerson } from "../state/rows";
import { formatRoute } from "../state/route";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { reason, tidy } from "../state/tidy";
import { duration } from "../state/time";
import { basename, shortPath } from "../state/tools";
import { Arguments } from "./ask/calldetails";
import { useTurnFiles } from "./changes/use";
import { Counts } from "./diff";
import { FaultAction } from "./fault";
import { Icon } from "./icon";
import { Markdown } from "./markdown";

/** The prompt that a turn began with, by which the server names the turn. */
function promptOf(store: SessionStore, result: Item): string {
  const items = store.settled.threads[0]?.items ?? [];
  let found = "";
  for (let i = items.lastIndexOf(result) - 1; i >= 0 && items[i]?.kind !== "result"; i--) {
    const m = items[i]?.message;
    if (m && isPerson(m) && m.uuid) found = m.uuid;
  }
  return found;
}

/** Reports whether an earlier row of the turn has the reason of its failure. */
function faultBefore(store: SessionStore, result: Item): boolean {
  const items = store.settled.threads[0]?.items ?? [];
  for (let i = items.lastIndexOf(result) - 1; i >= 0 && items[i]?.kind !== "result"; i--)
    if (items[i]?.message?.line?.error) return true;
  return false;
}

/** The answer of a turn that no message contains. An answer with a schema is a table. */
function Answer({ text }: { text: string }) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  return isObj(value) ? <Arguments input={value} /> : <Markdown text={text} />;
}

export function TurnFoot({ item, store }: { item: Item; store: SessionStore }) {
  const r = item.result;
  const t = w.value;
  if (r === undefined) return null;
  const turn = promptOf(store, item);
  const files = useTurnFiles(store, item, turn);
  const stopped =
    r.terminal_reason === "aborted_streaming" || r.terminal_reason === "aborted_tools" || r.subtype === "interrupted";
  const failed = r.is_error && !stopped;
  const waited = r.waited_ms ?? 0;
  const ran = r.duration_ms - waited;
  return (
    <div class="turn-end">
      {failed && !faultBefore(store, item) && (
        <p class="notice bad" dir="auto">
          <Icon name="alert" />
          <span>
            <b>{t.turnFailed(r.subtype)}</b> {plain(reason((r.errors ?? []).join("\n") || r.result || ""))}
          </span>
          <FaultAction code={r.subtype} item={item} store={store} />
        </p>
      )}
      {!failed && r.result && <Answer text={tidy(r.result)} />}
      {files.length > 0 && (
        <div class="changed" role="group" aria-label={t.changedFiles(files.length)}>
          <span class="strong">{t.changedFiles(files.length)}</span>
          {files.slice(0, 6).map((f) => (
            <span class="chip line" key={f.path} title={plain(shortPath(f.path, store.settled.cwd))}>
              <Icon name={f.isNew ? "filePlus" : "pencil"} />
              <span class="mono">{plain(basename(f.path))}</span> <Counts diff={f} />
            </span>
          ))}
          {files.length > 6 && <span class="dim">+{files.length - 6}</span>}
          {!store.past && (
            <a
              class="linkish"
              href={formatRoute({ page: "changes", id: store.id, turn: turn || "last" })}
            >
              {t.changes_.ofTurnLink}
            </a>
          )}
        </div>
      )}
      <div class="turn-foot">
        <span>
          {stopped
            ? t.stoppedByYou
            : failed
              ? t.failedAfter(duration(ran, t))
              : t.doneIn(duration(ran, t))}
        </span>
        {waited >= 1000 && <span>{t.waitedForYou(duration(waited, t))}</span>}
        {r.num_turns > 1 && <span>{t.apiTurns(r.num_turns)}</span>}
      </div>
    </div>
  );
}
