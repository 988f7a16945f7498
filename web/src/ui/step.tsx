// One row of a conversation, with its sign on the line that ties a turn together.

import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Block, Item, Message } from "../fold/conversation";
import { get, list, str } from "../fold/json";
import { copyText } from "../state/actions";
import { w } from "../state/app";
import type { Event } from "../state/notices";
import { lang } from "../state/prefs";
import { isStop, type Row } from "../state/rows";
import { oneLine, plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { isLocalOutput, reason, tidy } from "../state/tidy";
import { dateTime, duration, tokens } from "../state/time";
import { titleOfCall } from "../state/tools";
import { RaiseBudget } from "./budget";
import { IconButton } from "./button";
import { CutOff, FaultAction, isLast } from "./fault";
import { Icon, type IconName } from "./icon";
import { Markdown } from "./markdown";
import { MessageMenu } from "./messagemenu";
import { TurnFoot } from "./result";
import { Tool } from "./tool/card";
import { Pictures, Raw } from "./tool/output";
import { NestedRow, stateOf } from "./tool/parts";
import { UserMessage } from "./user";

export function Step({ row, store, nested }: { row: Row; store: SessionStore; nested?: boolean }) {
  // Rows are changed in place, except texts, which are replaced with each delta.
  if (row.kind !== "text" && row.kind !== "user") void store.version.value;
  switch (row.kind) {
    case "user":
      return row.message ? <UserMessage message={row.message} store={store} at={row.key} /> : null;
    case "result":
      return <TurnFoot item={row.item} store={store} />;
    case "text":
      return (
        <Frame more={row.more} say>
          {row.block && <Markdown text={row.block.text ?? ""} streaming={row.block.state === "streaming"} />}
          {row.cut && !nested && <CutOff row={row} store={store} />}
          {row.message && !nested && row.block?.state !== "streaming" && (
            <div class="s-acts">
              <IconButton
                small
                icon="copy"
                class="no-p"
                label={w.value.copyAnswer}
                onClick={() => void copyText(row.block?.text ?? "")}
              />
              <MessageMenu message={row.message} store={store} at={row.key} />
            </div>
          )}
        </Frame>
      );
    case "thinking":
      return row.block ? <Thinking row={row} block={row.block} store={store} /> : null;
    case "tool":
      return row.block ? <ToolStep row={row} block={row.block} store={store} nested={nested === true} /> : null;
    case "block":
      return (
        <Frame more={row.more} icon="file">
          {row.block && <OtherBlock block={row.block} />}
        </Frame>
      );
    case "event":
      return row.event ? <EventStep event={row.event} row={row} store={store} /> : null;
    default:
      return <Notice item={row.item} message={row.message} more={row.more} store={store} />;
  }
}

/** A notice of the agent or the server, or a request to the model that was sent again. */
function EventStep({ event, row, store }: { event: Event; row: Row; store: SessionStore }) {
  const t = w.value;
  const { more } = row;
  void store.durable.value;
  const { notice, retry } = event;
  if (retry)
    return (
      <Frame more={more} icon="refresh" tone="ask">
        <p class="notice lost">
          <span>
            <b>{t.apiTrouble(retry.status)}</b> {t.retried(retry.attempt, retry.max_attempts)}{" "}
            {/^\S*$/.test(retry.reason ?? "") ? "" : plain(reason(retry.reason ?? ""))}
          </span>
        </p>
      </Frame>
    );
  if (!notice) return null;
  const bad = notice.severity === "error";
  const warns = notice.severity === "warning";
  return (
    <Frame more={more} icon={bad || warns ? "alert" : "info"} tone={bad ? "bad" : warns ? "ask" : ""}>
      <p class={`notice ${bad ? "bad" : warns ? "lost" : "info"}`} dir="auto" data-code={notice.code}>
        <span>
          {event.resetsAt
            ? t.rateLimited(dateTime(event.resetsAt, lang.value), duration(Date.parse(event.resetsAt) - Date.now(), t))
            : plain(oneLine(reason(notice.text), 1000))}
        </span>
        {notice.code === "budget_exceeded" && isLast(store, row.item) && <RaiseBudget store={store} />}
      </p>
    </Frame>
  );
}

interface FrameProps {
  more: boolean;
  icon?: IconName;
  say?: boolean;
  tone?: string;
  children: preact.ComponentChildren;
}

function Frame({ more, icon, say, tone, children }: FrameProps) {
  return (
    <div class={`step${say ? " say" : ""}${more ? "" : " last"} ${tone ?? ""}`}>
      <span class="g">{icon && <Icon name={icon} />}</span>
      <div>{children}</div>
    </div>
  );
}

interface ToolStepProps {
  row: Row;
  block: Block;
  store: SessionStore;
  nested: boolean;
}

function ToolStep({ row, block, store, nested }: ToolStepProps) {
  const tool = block.tool;
  if (tool === undefined) return null;
  const prompt = store.conversation.prompts.find((p) => p.tool_use_id === tool.id && tool.id !== "");
  // The request at the end of the conversation shows all of it.
  if (prompt && !nested) return null;
  const { icon, shape } = titleOfCall(tool, store.conversation.provider, w.value);
  const chosen = tool.toolType === "CLAUDE_ASK_USER_QUESTION" || tool.toolType === "CLAUDE_EXIT_PLAN_MODE";
  // A choice is not a fault, and neither is a change that was not applied: the agent tries another one.
  const bad = stateOf(tool, store, false) === "failed" && !chosen && shape !== "diff";
  const tone = prompt ? "ask" : bad ? "bad" : "";
  return (
    <Frame more={row.more} icon={icon} tone={tone}>
      <NestedRow.Provider value={Step}>
        <Tool tool={tool} store={store} streaming={block.state === "streaming"} />
      </NestedRow.Provider>
    </Frame>
  );
}

function Thinking({ row, block, store }: { row: Row; block: Block; store: SessionStore }) {
  void store.version.value;
  const [open, setOpen] = useState(false);
  const t = w.value;
  const live = block.state === "streaming";
  const took = store.times.thought(row.message?.id ?? "", block.index);
  return (
    <Frame more={row.more} icon="think">
      <details class="fold" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <span class="two">
            {live ? t.thinking : took === undefined ? t.thought : t.thoughtFor(duration(took, t))}
            {row.tokens !== undefined && (live ? " · " : ", ") + t.tokens(tokens(row.tokens))}
          </span>
          {live && <span class="spin" aria-hidden="true" />}
          <Icon name="chevron" class="chev" />
        </summary>
        {open && (
          <div class="thought">
            <Markdown text={block.text ?? ""} />
          </div>
        )}
      </details>
    </Frame>
  );
}

/** A block of another type: a picture is shown, other types as JSON. */
const OtherBlock = memo(function OtherBlock({ block }: { block: Block }) {
  const source = get(block.data, "source");
  if (
    block.type === "image" &&
    str(get(source, "data")) !== "" &&
    /^image\/(png|jpeg|gif|webp)$/.test(str(get(source, "media_type")))
  ) {
    return <Pictures images={[{ type: str(get(source, "media_type")), data: str(get(source, "data")) }]} />;
  }
  if (block.type === "redacted_thinking") return <p class="dim">{w.value.redacted}</p>;
  return <Unknown value={block.data ?? block} />;
});

/** A value that this page cannot show, as JSON. */
function Unknown({ value }: { value: unknown }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="two">{w.value.unknownPart}</span>
        <Icon name="chevron" class="chev" />
      </summary>
      {open && <Raw label="JSON" value={value} />}
    </details>
  );
}

/** A message that was generated in the person's name: its beginning, and all of it when opened. */
function Told({ name, text }: { name: string; text: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="name">{name}</span>
        <span class="two cut">{open ? "" : plain(oneLine(text))}</span>
        <Icon name="chevron" class="chev" />
      </summary>
      {open && (
        <div class="thought">
          <Markdown text={text} />
        </div>
      )}
    </details>
  );
}

/** The texts of a message. */
function textOf(m: Message): string {
  return m.blocks
    .map((b) => b.text ?? "")
    .filter((s) => s !== "")
    .join("\n");
}

interface NoticeProps {
  item: Item;
  message: Message | undefined;
  more: boolean;
  store: SessionStore;
}

function Notice({ item, message, more, store }: NoticeProps) {
  const t = w.value;
  if (item.error)
    return (
      <Frame more={more} icon="alert" tone="bad">
        <p class="notice bad" dir="auto">
          {/: decoding a line: /.test(item.error.message) ? t.badLine : plain(reason(item.error.message))}
        </p>
      </Frame>
    );
  if (item.compaction) {
    const before = get(item.compaction.compact_metadata, "pre_tokens");
    return (
      <Frame more={more} icon="archive">
        <p class="notice info">
          <b>{t.compacted}</b> {t.compactedNote(typeof before === "number" ? before : undefined)}
        </p>
      </Frame>
    );
  }
  if (message?.line?.error)
    return (
      <Frame more={more} icon="alert" tone="bad">
        <p class="notice bad">
          <span>
            <b>{t.faultsOf[message.line.error] ?? t.apiError}</b> {plain(reason(textOf(message)))}
          </span>
          <FaultAction code={message.line.error} item={item} store={store} />
        </p>
      </Frame>
    );
  if (message && isStop(message))
    return (
      <Frame more={more} icon="square">
        <p class="dim">{t.stoppedHere}</p>
      </Frame>
    );
  if (message) {
    const text = tidy(textOf(message));
    const local = isLocalOutput(message.blocks[0]?.text ?? "");
    return (
      <Frame more={more} icon="info">
        {local ? (
          <Markdown text={text} />
        ) : text === "" ? (
          <Unknown value={list(message.blocks)} />
        ) : (
          <Told name={message.user?.isMeta ? t.metaMessage : t.systemMessage} text={text} />
        )}
      </Frame>
    );
  }
  return (
    <Frame more={more} icon="code">
      <Unknown value={item.toolResult ?? item} />
    </Frame>
  );
}
