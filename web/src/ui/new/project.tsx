// The chooser of the project: recent ones, then folders below the roots of the server by a part of their name.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Project } from "../../rpc/service";
import { w } from "../../state/app";
import { findProjects, type Projects } from "../../state/choices";
import { plain } from "../../state/safe";
import { basename } from "../../state/tools";
import { mw } from "../../state/words.machines";
import { Hint } from "../button";
import { composes, focusInput } from "../composer/focus";
import { Icon } from "../icon";
import { Marked } from "../search";

export const choosing = signal(false);

/** The folder that a path is in, with the home directory as a tilde. */
function parent(path: string): string {
  return path.replace(/\/[^/]*$/, "").replace(/^\/(?:home|Users)\/[^/]+/, "~") || "/";
}

interface ProjectProps {
  /** The machine of the project; empty is this one. */
  machine: string;
  path: string;
  set: (p: Project) => void;
}

export function ProjectButton({ machine, path, set }: ProjectProps) {
  const t = w.value;
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.key.toLowerCase() !== "p") return;
      e.preventDefault();
      choosing.value = true;
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      choosing.value = false;
    };
  }, []);
  return (
    <span class="project">
      <button
        type="button"
        class="sw"
        aria-haspopup="listbox"
        aria-expanded={choosing.value}
        title={`${t.chooseProject}: ${plain(path)}`}
        onClick={() => {
          choosing.value = !choosing.peek();
        }}
      >
        <Icon name="folder" />
        <span>{plain(basename(path)) || t.chooseProject}</span>
        <Icon name="chevronDown" class="chev" />
      </button>
      {choosing.value && <Chooser machine={machine} path={path} set={set} />}
    </span>
  );
}

function Chooser({ machine, path, set }: ProjectProps) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<Projects & { query: string }>();
  const [at, setAt] = useState(0);
  const entered = useRef(false);
  const close = () => {
    choosing.value = false;
    requestAnimationFrame(() => focusInput("new"));
  };
  const choose = (p: Project | undefined) => {
    if (!p) return;
    set(p);
    close();
  };
  const t = w.value;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    let gone = false;
    void findProjects(query.trim(), machine).then((f) => {
      if (gone || f === undefined) return;
      setFound({ ...f, query });
      if (entered.current) choose([...f.recent, ...f.folders][0]);
      const all = [...f.recent, ...f.folders];
      setAt(
        query === ""
          ? Math.max(
              0,
              all.findIndex((p) => p.path === path),
            )
          : 0,
      );
    });
    return () => {
      gone = true;
    };
  }, [query, machine]);
  const all = [...(found?.recent ?? []), ...(found?.folders ?? [])];
  const onKey = (e: KeyboardEvent) => {
    if (composes(e)) return;
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, all.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter") {
      if (found?.query === query) choose(all[at]);
      else entered.current = true; // the search for the typed text is still running
    }
    else if (e.key === "Escape") close();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const roots = (found?.roots ?? []).map((r) => plain(`${parent(r)}/${basename(r)}`)).join(", ");
  const option = (p: Project, i: number) => (
    <div
      key={p.path}
      id={`project-${i}`}
      role="option"
      class="opt proj"
      aria-selected={i === at}
      title={plain(p.path)}
      onMouseDown={(e) => {
        e.preventDefault();
        choose(p);
      }}
    >
      <Icon name="folder" />
      <span class="cut">
        <b>
          <Marked text={plain(basename(p.path))} query={query} />
        </b>{" "}
        <span class="dim mono">{plain(parent(p.path))}</span>
      </span>
      <span class="dim mono">{plain(p.branch ?? "") || (p.git ? t.noBranch : t.notGit)}</span>
    </div>
  );
  const recent = found?.recent ?? [];
  return (
    <div
      class="popover"
      onFocusOut={(e) => {
        if (!(e.relatedTarget instanceof Node && e.currentTarget.contains(e.relatedTarget))) choosing.value = false;
      }}
    >
      <input
        class="inp"
        role="combobox"
        aria-expanded="true"
        aria-controls="projects"
        aria-activedescendant={all.length > 0 ? `project-${at}` : undefined}
        aria-label={t.findFolder}
        placeholder={t.findFolder}
        autocomplete="off"
        spellcheck={false}
        value={query}
        ref={field}
        onKeyDown={onKey}
        onInput={(e) => {
          entered.current = false;
          setQuery(e.currentTarget.value);
        }}
      />
      <div role="listbox" id="projects" class="menu" aria-label={t.chooseProject} data-query={found?.query}>
        {recent.length > 0 && <p class="menu-h">{t.recentProjects}</p>}
        {recent.map(option)}
        {(found?.folders.length ?? 0) > 0 && <p class="menu-h">{t.folders}</p>}
        {found?.folders.map((p, i) => option(p, recent.length + i))}
        {found && all.length === 0 && <p class="dim pad">{t.noFolder(plain(query), roots)}</p>}
      </div>
      <footer class="menu-f">
        <span class="cut">{machine === "" ? t.foldersBelow(roots) : mw.value.foldersBelow(plain(machine), roots)}</span>
        <span class="keyhints">
          <Hint of="↑ ↓" /> {t.toChoose} <Hint of="↵" />
        </span>
      </footer>
    </div>
  );
}
