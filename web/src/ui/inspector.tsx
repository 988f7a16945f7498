// The events of a message, or of a session, as they are in the log.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { get, str } from "../fold/json";
import type { Envelope } from "../rpc/connection";
import { copyText } from "../state/actions";
import { sayError, w } from "../state/app";
import { allEvents, eventsOf, type LogPart, mostShown } from "../state/log";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { IconButton } from "./button";
import { Dialog } from "./dialog";

/** The range of the log that is shown: without ids the end of the whole log. */
interface Looked {
  store: SessionStore;
  ids?: readonly string[];
}

export const inspected = signal<Looked | undefined>(undefined);

/** How much of one event is drawn. */
const mostText = 100_000;

export function Inspector({ of }: { of: Looked }) {
  const t = w.value;
  const [part, setPart] = useState<LogPart | string>();
  const [query, setQuery] = useState("");
  useEffect(() => {
    let gone = false;
    (of.ids ? eventsOf(of.store, of.ids) : allEvents(of.store))
      .then((r) => !gone && setPart(r))
      .catch((err: unknown) => !gone && setPart(sayError(err)));
    return () => {
      gone = true;
    };
  }, [of]);
  const close = () => {
    inspected.value = undefined;
  };
  const events = typeof part === "object" ? part.events : [];
  const wanted = query.toLowerCase();
  const found = wanted === "" ? events : events.filter((e) => JSON.stringify(e.msg).toLowerCase().includes(wanted));
  // The newest ones are shown first.
  const shown = found.slice(-mostShown);
  return (
    <Dialog title={t.log.title} close={close} class="wide">
      <div class="dlg-b">
        {part === undefined && <p class="dim">{t.log.reading}</p>}
        {typeof part === "string" && <p class="err">{part}</p>}
        {typeof part === "object" && (
          <p class="dim">
            {events.length === 0 ? t.log.none : t.log.note(events.length)}{" "}
            {(part.cut || shown.length < found.length) && t.log.cut(shown.length)}
          </p>
        )}
        {events.length > 0 && (
          <input
            class="inp"
            aria-label={t.log.find}
            placeholder={t.log.find}
            value={query}
            onInput={(e) => setQuery(e.currentTarget.value)}
          />
        )}
      </div>
      {shown.length > 0 && (
        <div class="evs" tabIndex={0} role="group" aria-label={t.log.title}>
          {shown.map((e) => (
            <EventRow key={e.seq} e={e} />
          ))}
        </div>
      )}
    </Dialog>
  );
}

function EventRow({ e }: { e: Envelope }) {
  const [open, setOpen] = useState(false);
  const type = ["type", "subtype", "originalType"].map((key) => str(get(e.msg, key))).filter((x) => x !== "").join(" · ");
  const text = open ? (JSON.stringify(e.msg, null, 2) ?? "").slice(0, mostText) : "";
  return (
    <details class="ev" onToggle={(x) => setOpen(x.currentTarget.open)}>
      <summary>
        <span class="num dim">{e.seq}</span>
        <span class="mono cut">{plain(type || w.value.unknown)}</span>
        <span class="dim num">{plain(e.ts.slice(11, 23))}</span>
      </summary>
      {open && (
        <>
          <IconButton small icon="copy" label={w.value.copy} onClick={() => void copyText(text)} />
          <pre tabIndex={0} dir="ltr">
            {plain(text)}
          </pre>
        </>
      )}
    </details>
  );
}
