// The queue of messages to send: edit in place, move, send now, remove.

import { useEffect, useRef, useState } from "preact/hooks";
import type { QueueItem } from "../../fold/conversation";
import { get, list, str } from "../../fold/json";
import { tryCall, w } from "../../state/app";
import { parseContexts } from "../../state/contexts";
import { draft, restore } from "../../state/drafts";
import { oneLine, plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { Button, IconButton } from "../button";
import { Icon } from "../icon";
import { composes, takeFocus } from "./focus";

/** The text of an input that waits. */
export function queueText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((b) => str(get(b, "text")))
    .filter((s) => s !== "")
    .join("\n");
}

/** The order after one item was moved. */
export function moved(ids: readonly string[], id: string, to: number): string[] {
  const rest = ids.filter((x) => x !== id);
  rest.splice(Math.max(0, Math.min(to, rest.length)), 0, id);
  return rest;
}

export function Queue({ store }: { store: SessionStore }) {
  const items = store.settled.queue;
  const [editing, setEditing] = useState("");
  const [dragged, setDragged] = useState("");
  if (items.length === 0) return null;
  const ids = items.map((i) => i.id);
  const move = (id: string, to: number) =>
    void tryCall("queue.reorder", { session_id: store.id, ids: moved(ids, id, to) });
  return (
    <ol class="queue" aria-label={w.value.queue}>
      {items.some((i) => i.status === "held") && (
        <li class="held">
          <Icon name="clock" />
          <span class="cut">{w.value.queueHeld}</span>
          <Button small onClick={() => void tryCall("queue.release", { session_id: store.id })}>
            {w.value.release}
          </Button>
        </li>
      )}
      {items.map((item, at) => (
        <Item
          key={item.id}
          item={item}
          at={at}
          count={items.length}
          store={store}
          move={(to) => move(item.id, to)}
          editing={editing === item.id}
          edit={(on) => setEditing(on ? item.id : "")}
          drag={() => setDragged(item.id)}
          drop={() => dragged !== "" && move(dragged, at)}
        />
      ))}
    </ol>
  );
}

interface ItemProps {
  item: QueueItem;
  at: number;
  count: number;
  store: SessionStore;
  editing: boolean;
  edit: (on: boolean) => void;
  move: (to: number) => void;
  drag: () => void;
  drop: () => void;
}

function Item({ item, at, count, store, editing, edit, move, drag, drop }: ItemProps) {
  const t = w.value;
  const raw = queueText(item.content);
  const { text, tags, parts, before, after } = parseContexts(raw);
  const [value, setValue] = useState(text);
  const ref = { session_id: store.id, id: item.id };
  const save = () => {
    edit(false);
    if (value.trim() === "" || value === text) return;
    const whole = before + value + after;
    const content = typeof item.content === "string" ? whole : replaceText(item.content, whole);
    void tryCall("queue.edit", { ...ref, content });
  };
  // Unsaved text is kept when the message is sent or another view is shown.
  const left = useRef(() => {});
  left.current = () => {
    if (!editing || value.trim() === "" || value === text) return;
    if (store.settled.queue.some((i) => i.id === item.id)) save();
    else restore(draft(store.id), { text: value, contexts: [], images: [] });
  };
  useEffect(() => () => left.current(), []);
  const onKey = (e: KeyboardEvent) => {
    if (e.altKey && e.key === "ArrowUp") move(at - 1);
    else if (e.altKey && e.key === "ArrowDown") move(at + 1);
    else return;
    e.preventDefault();
  };
  return (
    <li draggable={!editing} onDragStart={drag} onDragOver={(e) => e.preventDefault()} onDrop={drop} onKeyDown={onKey}>
      <span class="grip" title={t.moveHint}>
        <Icon name="grip" />
      </span>
      <span class="n">{at + 1}</span>
      {editing ? (
        <input
          class="inp"
          aria-label={t.editQueued}
          value={value}
          ref={takeFocus}
          onInput={(e) => setValue(e.currentTarget.value)}
          onBlur={save}
          onKeyDown={(e) => {
            e.stopPropagation();
            if (e.key === "Enter" && !composes(e)) save();
            if (e.key === "Escape") edit(false);
          }}
        />
      ) : (
        <span class="cut" dir="auto">
          {plain(oneLine(text))}
          {tags.length + parts.length > 0 && <span class="dim"> · {t.contextCount(tags.length + parts.length)}</span>}
        </span>
      )}
      {count > 1 && (
        <IconButton
          small
          icon="chevronDown"
          class="up"
          label={t.moveUp}
          disabled={at === 0}
          onClick={() => move(at - 1)}
        />
      )}
      <IconButton small icon="play" label={t.sendNow} onClick={() => void tryCall("queue.sendNow", ref)} />
      <IconButton
        small
        icon="pencil"
        class="q-edit"
        label={t.editQueued}
        onClick={() => {
          setValue(text);
          edit(true);
        }}
      />
      <IconButton small icon="x" label={t.removeQueued} onClick={() => void tryCall("queue.remove", ref)} />
    </li>
  );
}

function replaceText(content: unknown, text: string): unknown[] {
  let done = false;
  const out = list(content).flatMap((b) => {
    if (get(b, "type") !== "text") return [b];
    if (done) return [];
    done = true;
    return [{ type: "text", text }];
  });
  return done ? out : [...out, { type: "text", text }];
}
