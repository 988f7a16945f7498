// The box to write in: tags and Add context on one row, the text, the switches and Send.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Obj } from "../../fold/json";
import type { Draft } from "../../state/actions";
import { toast, w } from "../../state/app";
import { byMention, mentionedIn, stillMeant, tagOf } from "../../state/contexts";
import { clear, draft, trigger } from "../../state/drafts";
import { bytes } from "../../state/time";
import { Icon } from "../icon";
import { AddContext } from "./add";
import { dropped, type Given, pasted, type Refused, readFiles } from "./files";
import { composes, focusInput } from "./focus";
import { Menu, type MenuHandle } from "./menu";
import { ContextTag } from "./tags";

interface InputProps {
  id: string;
  session?: string;
  /** Before there is a session: where it will run, and its agent. */
  cwd?: string;
  machine?: string;
  agent?: string;
  head?: ComponentChildren;
  /** Why it cannot be sent now. */
  off?: string | undefined;
  commands: readonly string[];
  placeholder: string;
  sendLabel: string;
  onSend: (d: Draft) => void;
  onEscape?: () => void;
  onUpWhenEmpty?: () => void;
  switches: ComponentChildren;
  /** A request waits: the box is one line until it is written in or entered. */
  fold?: boolean;
}

export function InputBox(p: InputProps) {
  const d = draft(p.id);
  const area = useRef<HTMLTextAreaElement>(null);
  const menu = useRef<MenuHandle>(null);
  const [caret, setCaret] = useState(0);
  const [closed, setClosed] = useState("");
  const [adding, setAdding] = useState(false);
  const [over, setOver] = useState(false);
  // It keeps its size when it loses the focus, because an answer must not move under the pointer.
  const [wide, setWide] = useState(false);
  useEffect(() => setWide(document.activeElement === area.current), [p.fold]);
  useLayoutEffect(() => {
    const end = d.text.peek().length;
    area.current?.setSelectionRange(end, end);
    focusInput(p.id);
  }, [p.id]);
  const text = d.text.value;
  const tags = d.contexts.value.map(tagOf);
  const mentioned = mentionedIn(text, tags);
  const parts = byMention(text, mentioned);
  const mirror = useRef<HTMLDivElement>(null);
  const write = (value: string) => {
    d.contexts.value = stillMeant(d.contexts.peek(), d.text.peek(), value);
    d.text.value = value;
  };
  const folded =
    p.fold === true && !wide && text === "" && d.contexts.value.length === 0 && d.images.value.length === 0;
  const found = trigger(text, caret);
  const asked = found && closed !== `${found.kind}${found.from}` ? found : undefined;
  const t = w.value;
  useLayoutEffect(() => {
    const e = area.current;
    if (!e) return;
    e.style.height = "auto";
    e.style.height = `${Math.min(e.scrollHeight, 10 * 24 + 12)}px`;
  }, [text]);

  const add = (c: Obj) => {
    d.contexts.value = [...d.contexts.peek(), c];
  };
  const takeGiven = async (given: { files: readonly Given[]; refused: readonly Refused[] }) => {
    const r = await readFiles(given.files);
    d.images.value = [...d.images.peek(), ...r.images];
    for (const c of r.contexts) add(c);
    for (const f of [...given.refused, ...r.refused])
      toast(t.fileRefused[f.why](f.name, bytes(f.size), f.why === "many" ? String(f.limit) : bytes(f.limit)), true);
  };
  const take = (files: readonly File[]) =>
    takeGiven({ files: files.map((file) => ({ file, path: file.name })), refused: [] });
  const submit = () => {
    const value = d.text.peek();
    if (p.off !== undefined) return;
    if (value.trim() === "" && d.images.peek().length === 0) return;
    p.onSend({ text: value, contexts: [...d.contexts.peek()], images: [...d.images.peek()] });
    clear(d);
    setClosed("");
    area.current?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (composes(e)) return;
    if (asked && menu.current?.key(e)) return;
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      submit();
    } else if (e.key === "Escape") {
      e.preventDefault();
      if (asked) setClosed(`${asked.kind}${asked.from}`);
      else p.onEscape?.();
    } else if (e.key === "Backspace" && e.currentTarget instanceof HTMLTextAreaElement) {
      const { selectionStart: from, selectionEnd: to } = e.currentTarget;
      const label = mentioned.find((l) => from === to && text.slice(0, from).endsWith(`@${l}`));
      if (label === undefined) return;
      e.preventDefault();
      replace(from - label.length - 1, from, "");
    } else if (e.key === "ArrowUp" && text === "") {
      e.preventDefault();
      p.onUpWhenEmpty?.();
    }
  };
  const replace = (from: number, to: number, by: string) => {
    write(text.slice(0, from) + by + text.slice(to));
    setCaret(from + by.length);
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(from + by.length, from + by.length);
    });
  };
  return (
    <div
      class={`box${over ? " over" : ""}${folded ? " slim" : ""}`}
      onFocusIn={() => setWide(p.fold === true)}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        if (e.dataTransfer) void dropped(e.dataTransfer).then(takeGiven);
      }}
    >
      {asked && (
        <Menu
          handle={menu}
          asked={asked}
          where={{ session: p.session, cwd: p.cwd, machine: p.machine, agent: p.agent }}
          commands={p.commands}
          caret={caret}
          replace={replace}
          add={add}
        />
      )}
      {p.head}
      <div class="tags">
        <button type="button" class="tag add" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          <span class="no-p">{t.addContext}</span>
          <span class="sr p-sr">{t.addContext}</span>
        </button>
        {tags.map((tag, i) =>
          mentioned.includes(tag.label) ? null : (
            <ContextTag
              key={i}
              tag={tag}
              remove={() => {
                d.contexts.value = d.contexts.peek().filter((_, j) => j !== i);
              }}
            />
          ),
        )}
        {d.images.value.map((m, i) => (
          <span class="tag" key={`i${i}`} data-kind="image">
            <img class="thumb" src={`data:${m.type};base64,${m.data}`} alt="" />
            <span class="mono cut">{m.name}</span>
            <span class="dim">{bytes(m.size)}</span>
            <button
              type="button"
              class="x"
              aria-label={t.removeContext(m.name)}
              onClick={() => {
                d.images.value = d.images.peek().filter((_, j) => j !== i);
              }}
            >
              <Icon name="x" />
            </button>
          </span>
        ))}
      </div>
      <div class="area">
        {mentioned.length > 0 && (
          <div class="mirror" ref={mirror} dir="auto" aria-hidden="true">
            {parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}
          </div>
        )}
        <textarea
          ref={area}
          rows={1}
          value={text}
          placeholder={p.placeholder}
          aria-label={p.placeholder}
          enterkeyhint="send"
          dir="auto"
          aria-haspopup="listbox"
          aria-controls={`menu-${p.id}`}
          aria-autocomplete="list"
          aria-activedescendant={asked ? `opt-${p.id}` : undefined}
          data-composer={p.id}
          onInput={(e) => {
            write(e.currentTarget.value);
            setCaret(e.currentTarget.selectionStart);
          }}
          onScroll={(e) => mirror.current?.scrollTo(0, e.currentTarget.scrollTop)}
          onSelect={(e) => setCaret(e.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={(e) => {
            const files = [...(e.clipboardData?.files ?? [])];
            const long = pasted(e.clipboardData?.getData("text/plain") ?? "", d.contexts.peek().length + 1);
            if (files.length === 0 && long === undefined) return;
            e.preventDefault();
            if (files.length > 0) void take(files);
            else if (long) add(long);
          }}
        />
      </div>
      <div class="box-foot">
        <div class="switches">{p.switches}</div>
        <button
          type="button"
          class="send"
          aria-label={p.sendLabel}
          title={p.off ?? p.sendLabel}
          disabled={p.off !== undefined}
          onClick={submit}
        >
          <Icon name="arrowUp" />
        </button>
      </div>
      {adding && (
        <AddContext where={{ session: p.session, cwd: p.cwd, machine: p.machine }} add={add} take={take} close={() => setAdding(false)} />
      )}
    </div>
  );
}
