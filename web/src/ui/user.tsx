// A person's message: contexts as tags above, the text, and its actions.

import { useState } from "preact/hooks";
import type { Message } from "../fold/conversation";
import { get, str } from "../fold/json";
import { copyText, fork, sendAgain } from "../state/actions";
import { tryCall, w } from "../state/app";
import { mentionedIn, type Part, parseContexts, tagOf } from "../state/contexts";
import type { Line } from "../state/diff";
import { forget, useKept } from "../state/kept";
import { capabilitiesOf } from "../state/providers";
import { plain } from "../state/safe";
import { foldText, parseReview, type Remark } from "../state/said";
import type { Sending, SessionStore } from "../state/session";
import { commandText, untag } from "../state/tidy";
import { bytes } from "../state/time";
import { RaiseBudget } from "./budget";
import { IconButton } from "./button";
import { touches } from "./composer/focus";
import { ContextTag, kindIcon } from "./composer/tags";
import { confirm } from "./dialog";
import { DiffTable } from "./diff";
import { Markdown, Mentions } from "./markdown";
import { MessageMenu } from "./messagemenu";
import { EditAndResend, Versions } from "./version";
import { Icon } from "./icon";
import { Pictures } from "./tool/output";

/** The text of a message, its contexts as tags, their contents, and both as they came. */
export function read(m: Message) {
  const whole = m.blocks
    .filter((b) => b.type === "text")
    .map((b) => b.text ?? "")
    .join("\n");
  const { text, ...rest } = parseContexts(whole);
  return { text: commandText(text) ?? untag(text), ...rest };
}

/** The pictures of a message. */
export function imagesOf(m: Message): { type: string; data: string }[] {
  return m.blocks
    .filter((b) => b.type === "image")
    .map((b) => ({
      type: str(get(get(b.data, "source"), "media_type")),
      data: str(get(get(b.data, "source"), "data")),
    }))
    .filter((i) => i.data !== "" && /^image\/(png|jpeg|gif|webp)$/.test(i.type));
}

/** The text of a message: the comments of a review, or a text that folds if it is long. */
function Said({ text, all, showAll }: { text: string; all: boolean; showAll: () => void }) {
  const t = w.value;
  const review = parseReview(text);
  if (review)
    return (
      <>
        <Markdown text={review.words} />
        <p class="two">{t.remarksOn(review.remarks.length)}</p>
        {review.remarks.map((r, i) => (
          <RemarkCard key={i} r={r} />
        ))}
      </>
    );
  const { shown, more, rest } = all ? { shown: text, more: 0, rest: false } : foldText(text);
  return (
    <>
      <Markdown text={shown} />
      {rest && (
        <button type="button" class="more" onClick={showAll}>
          {more > 0 ? t.moreLines(more) : t.showAll}
        </button>
      )}
    </>
  );
}

/** A comment with its lines and their numbers. */
function RemarkCard({ r }: { r: Remark }) {
  const t = w.value;
  const lines = r.code.split("\n").map((text, i): Line => ({ sign: " ", text, [r.old ? "old" : "new"]: r.from + i }));
  return (
    <div class="card remark">
      <div class="card-h">
        <Icon name="comment" />
        <span class="mono cut">{plain(r.file)}</span>
        <span class="meta">
          {t.lines(r.from, r.to)} {r.old && t.beforeChange}
        </span>
      </div>
      <DiffTable diff={{ path: r.file, hunks: [{ lines }], added: 0, removed: 0, isNew: false, cut: false }} bare />
      <div class="pad">
        <Markdown text={r.text} />
      </div>
    </div>
  );
}

export function UserMessage({ message, store, at }: { message: Message; store: SessionStore; at: string }) {
  const { text, tags, parts, before, after } = read(message);
  const name = `edit\n${store.id}\n${message.uuid ?? at}\n`;
  const [editing, setEditing] = useKept(`${name}on`, false);
  const [fresh, setFresh] = useState(false);
  const [all, setAll] = useState(false);
  const images = imagesOf(message);
  const mentioned = mentionedIn(text, tags);
  const shownTags = tags.filter((x) => !mentioned.includes(x.label));
  const other = message.blocks.filter((b) => b.type !== "text" && b.type !== "image").length;
  const t = w.value;
  const begin = () => {
    setFresh(true);
    setEditing(true);
  };
  return (
    <article class="user" tabIndex={touches() ? -1 : undefined} aria-label={message.user?.by ? plain(message.user.by) : t.you}>
      {shownTags.length > 0 && (
        <div class="tags">
          {shownTags.map((tag, i) => (
            <ContextTag key={i} tag={tag} />
          ))}
        </div>
      )}
      {message.user?.by && <p class="sent-by dim">{plain(message.user.by)}</p>}
      {editing ? (
        <EditAndResend
          name={name}
          fresh={fresh}
          text={text}
          around={[before, after]}
          images={images}
          uuid={message.uuid ?? ""}
          store={store}
          done={() => {
            forget(name);
            setEditing(false);
          }}
        />
      ) : (
        <div class="bubble" dir="auto">
          {images.length > 0 && <Pictures images={images} />}
          <Mentions.Provider value={mentioned}>
            <Said text={text} all={all} showAll={() => setAll(true)} />
          </Mentions.Provider>
          {other > 0 && <span class="chip">{t.otherBlocks(other)}</span>}
          {parts.map((p, i) => (
            <Attached key={i} part={p} />
          ))}
        </div>
      )}
      {!editing && <Versions uuid={message.uuid ?? ""} store={store} />}
      {!editing && !store.past && <Actions message={message} store={store} at={at} edit={begin} />}
    </article>
  );
}

/** How many lines of a content are shown at first. */
const firstLines = 4;

/** The content that goes with a message: its size, and its first lines. */
function Attached({ part }: { part: Part }) {
  const [all, setAll] = useState(false);
  const t = w.value;
  const lines = part.content.split("\n");
  const shown = all ? lines : lines.slice(0, firstLines);
  return (
    <div class="attached card">
      <div class="card-h">
        <Icon name={kindIcon(part.kind)} />
        <span class="mono cut">{plain(part.label || t.contexts[part.kind])}</span>
        <span class="meta">{t.sizeOf(lines.length, bytes(new Blob([part.content, "\n"]).size))}</span>
      </div>
      <pre class="out" tabIndex={0} dir="auto">
        {plain(shown.join("\n"))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {t.moreLines(lines.length - shown.length)}
        </button>
      )}
    </div>
  );
}

interface ActionsProps {
  message: Message;
  store: SessionStore;
  /** The key of its row, which links name. */
  at: string;
  edit: () => void;
}

function Actions({ message, store, at, edit }: ActionsProps) {
  const t = w.value;
  const uuid = message.uuid;
  const can = capabilitiesOf(store.id);
  return (
    <div class="u-acts">
      <IconButton small icon="copy" label={t.copyMessage} onClick={() => void copyText(read(message).text)} />
      <IconButton small icon="pencil" label={t.editResend} onClick={edit} />
      {uuid && can?.can_rewind !== false && (
        <IconButton small icon="undo" label={t.rewind} onClick={() => void rewind(store.id, uuid)} />
      )}
      {uuid && can?.can_fork !== false && (
        <IconButton small icon="fork" label={t.forkHere} onClick={() => void fork(store.id, uuid)} />
      )}
      <MessageMenu message={message} store={store} at={at} />
    </div>
  );
}

/** Rewinds files, after a preview. */
async function rewind(session_id: string, user_message_id: string): Promise<void> {
  const t = w.peek();
  const r = await tryCall("session.rewind", { session_id, user_message_id, dry_run: true });
  if (r === undefined) return;
  const files = r.files_changed ?? [];
  if (!r.can_rewind) return void (await confirm({ title: t.cannotRewind, text: r.error ?? "", ok: t.close }));
  const yes = await confirm({
    title: t.rewindTitle,
    text: t.rewindText(files.length, r.insertions ?? 0, r.deletions ?? 0),
    list: files,
    ok: t.rewindDo,
  });
  if (yes) await tryCall("session.rewind", { session_id, user_message_id });
}

/** A message of this page that is not yet in the log. */
export function PendingMessage({ m, store }: { m: Sending; store: SessionStore }) {
  const t = w.value;
  return (
    <article class={`user ${m.state === "failed" ? "failed" : "pending"}`} aria-label={t.you} data-key={m.id}>
      {m.contexts.length > 0 && (
        <div class="tags">
          {m.contexts.map((c, i) => (
            <ContextTag key={i} tag={tagOf(c)} />
          ))}
        </div>
      )}
      <div class="bubble" dir="auto">
        {m.images.length > 0 && <Pictures images={m.images} />}
        <Markdown text={m.text} />
      </div>
      <p class="pend">
        {m.state === "sending" && t.sending}
        {m.state === "kept" && (
          <>
            <Icon name="offline" /> {t.kept}
          </>
        )}
        {m.state === "failed" && (
          <>
            <Icon name="alert" /> {m.error} {m.reason === "budget_exceeded" && <RaiseBudget store={store} />}{" "}
            <button type="button" class="linkish" onClick={() => sendAgain(store, m.id)}>
              {t.again}
            </button>{" "}
            <button type="button" class="linkish" onClick={() => store.drop(m.id)}>
              {t.discard}
            </button>
          </>
        )}
      </p>
    </article>
  );
}
