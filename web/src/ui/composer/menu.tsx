// The menu in the top edge of the input: commands after /, files after @. The focus stays in
// the text; the arrows move the choice.

import { useEffect, useImperativeHandle, useState } from "preact/hooks";
import { get, type Obj, str } from "../../fold/json";
import { noteOffer, offerOf } from "../../state/agents";
import { call, w } from "../../state/app";
import { goodPath, types } from "../../state/contexts";
import { fitting, type Trigger } from "../../state/drafts";
import { providerOf } from "../../state/providers";
import { plain } from "../../state/safe";
import { projectCommands, searchFiles, type Where } from "../../state/where";
import { Hint } from "../button";
import { Icon } from "../icon";

export interface MenuHandle {
  /** Handles a key and reports whether it used it. */
  key: (e: KeyboardEvent) => boolean;
}

interface MenuProps {
  handle: { current: MenuHandle | null };
  asked: Trigger;
  where: Where;
  commands: readonly string[];
  caret: number;
  replace: (from: number, to: number, by: string) => void;
  add: (c: Obj) => void;
}

interface Item {
  name: string;
  note: string;
  dir?: boolean;
}

const commandCache = new Map<string, readonly Item[]>();

/**
 * Loads the commands of a session with their descriptions; before it has started, those that its agent last reported, and those
 * of the project.
 */
async function loadCommands(where: Where, names: readonly string[]): Promise<readonly Item[]> {
  const { session, agent = "" } = where;
  const plainNames = names.map((name) => ({ name, note: "" }));
  if (session === undefined) {
    const own = await projectCommands(where);
    const told = offerOf(agent).commands.filter((c) => !own.includes(c.name));
    return [...own.map((name) => ({ name, note: w.peek().ofProject })), ...told];
  }
  const known = commandCache.get(session);
  if (known) return known;
  const r = await call("commands.list", { session_id: session }).catch(() => undefined);
  const items = (r?.items ?? [])
    .map((i) => ({ name: str(get(i, "name")).replace(/^\//, ""), note: str(get(i, "description")) }))
    .filter((i) => i.name !== "");
  const all = items.length > 0 ? items : plainNames;
  if (items.length > 0) {
    commandCache.set(session, all);
    noteOffer(providerOf(session) ?? "", { commands: items });
  }
  return all;
}

async function loadFiles(where: Where, query: string): Promise<readonly Item[]> {
  return (await searchFiles(where, query, 20))
    .filter((f) => goodPath(f.path))
    .map((f) => ({ name: f.path, note: "", dir: f.is_dir === true }));
}

export function Menu({ handle, asked, where, commands, caret, replace, add }: MenuProps) {
  const [items, setItems] = useState<readonly Item[]>([]);
  const [at, setAt] = useState(0);
  const [loaded, setLoaded] = useState(false);
  const t = w.value;
  useEffect(() => {
    let gone = false;
    const load =
      asked.kind === "/"
        ? loadCommands(where, commands).then((all) => fitting(all, (i) => i.name, asked.query, 8))
        : loadFiles(where, asked.query).then((all) => all.slice(0, 8));
    void load.then((all) => {
      if (gone) return;
      setItems(all);
      setLoaded(true);
      setAt(0);
    });
    return () => {
      gone = true;
    };
  }, [asked.kind, asked.query, where.session, where.cwd, where.agent]);
  const choose = (item: Item | undefined) => {
    if (!item) return;
    if (asked.kind === "/") replace(asked.from, caret, `/${item.name} `);
    else {
      replace(asked.from, caret, `@${item.name} `);
      add({ type: item.dir ? types.folder : types.file, path: item.name, displayType: "TAG" });
    }
  };
  useImperativeHandle(handle, () => ({
    key: (e) => {
      if (items.length === 0) return false;
      if (e.key === "ArrowDown") setAt((at + 1) % items.length);
      else if (e.key === "ArrowUp") setAt((at + items.length - 1) % items.length);
      else if (e.key === "Tab" || (e.key === "Enter" && !exact(items, asked))) choose(items[at]);
      else return false;
      e.preventDefault();
      e.stopPropagation();
      return true;
    },
  }));
  if (items.length === 0) {
    const unknown = asked.kind === "/" && loaded && where.session === undefined && offerOf(where.agent ?? "").commands.length === 0;
    return unknown ? <p class="menu pad dim">{t.noCommandsYet}</p> : null;
  }
  return (
    <div class="menu">
      <div class="menu-h">
        <span>{asked.kind === "/" ? t.commands : t.fileMenu}</span>
        <span class="keyhints">
          <Hint of="↑ ↓" /> {t.toChoose} <Hint of="Tab" />
        </span>
      </div>
      <div
        role="listbox"
        id={`menu-${where.session ?? "new"}`}
        aria-label={asked.kind === "/" ? t.commands : t.fileMenu}
      >
        {items.map((item, i) => (
          <div
            key={item.name}
            role="option"
            id={i === at ? `opt-${where.session ?? "new"}` : undefined}
            class={`opt ${asked.kind === "@" ? "wide" : ""}`}
            aria-selected={i === at}
            onMouseDown={(e) => {
              e.preventDefault();
              choose(item);
            }}
          >
            <span class="mono cut">
              {asked.kind === "/" ? "/" : <Icon name={item.dir ? "folder" : "file"} />}
              {plain(item.name)}
            </span>
            <span class="cut">{plain(item.note)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** A command that is typed out is sent by Enter, not chosen. */
function exact(items: readonly Item[], asked: Trigger): boolean {
  return asked.kind === "/" && items.some((i) => i.name === asked.query);
}
