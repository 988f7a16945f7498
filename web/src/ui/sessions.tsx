// All sessions: those that run and those on disk, with search in their texts.

import { useEffect, useRef, useState } from "preact/hooks";
import { exportSession, fork } from "../state/actions";
import { now, w } from "../state/app";
import { lang, letters } from "../state/prefs";
import { agentName } from "../state/providers";
import { plain } from "../state/safe";
import { countOf, type Found } from "../state/search";
import {
  allPast,
  archivedEntries,
  asTree,
  type Entry,
  live,
  liveEntries,
  loaded,
  morePast,
  pastCursor,
  pastEntries,
  refreshArchived,
  refreshTrees,
} from "../state/sessions";
import { age, money } from "../state/time";
import { mw } from "../state/words.machines";
import { Button } from "./button";
import { MenuButton } from "./frame";
import { entryHref } from "../state/sessions";
import { Icon } from "./icon";
import { MachineChip } from "./machinechip";
import { ActionMenu, archiveSession, besides, deleteSession, renameSession, tagSession } from "./sessionmenu";
import { type Filter, hitHref, Marked, matches, type Narrow, thisMachine, useSearch } from "./search";
import { SessionDetail } from "./sessiondetail";
import { Picks } from "./picks";
import { Skeleton, StateDot } from "./small";

export function SessionsPage() {
  const [query, setQuery] = useState("");
  const [narrow, setNarrow] = useState<Narrow>({ project: "", agent: "", tag: "", machine: "" });
  const [at, setAt] = useState("");
  const [filter, setFilter] = useState<Filter>("all");
  const [picked, setPicked] = useState<ReadonlySet<string>>();
  const toggle = (id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  };
  const results = useSearch(query);
  const hits = results.found;
  const count = countOf(results);
  const t = w.value;
  useEffect(() => {
    void refreshTrees().catch(() => {});
    void allPast().catch(() => {});
  }, []);
  useEffect(() => {
    if (filter === "archived") void refreshArchived().catch(() => {});
  }, [filter, live.value]);
  const ids = new Set([...liveEntries.value, ...archivedEntries.value].map((e) => e.id));
  const all = [...liveEntries.value, ...archivedEntries.value, ...pastEntries.value.filter((e) => !ids.has(e.id))];
  const shown = all.filter((e) => matches(e, query, narrow, filter, hits));
  const rows = asTree(shown).slice(0, 500);
  const current = picked ? undefined : all.find((e) => e.id === at);
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{t.sessions}</h1>
        <span class="dim num">{pastCursor.value === undefined ? all.length : `${all.length}+`}</span>
        <span class="sp" />
        {!picked && shown.length > 0 && (
          <Button small icon="check" onClick={() => setPicked(new Set())}>
            {t.sessions_.select}
          </Button>
        )}
      </header>
      <div class="tools">
        <label class="find grow">
          <Icon name="search" />
          <span class="sr">{t.searchSessions}</span>
          <input
            type="search"
            value={query}
            placeholder={t.searchSessions}
            enterkeyhint="search"
            data-search
            onInput={(e) => setQuery(e.currentTarget.value)}
          />
          {query !== "" && <span class="dim no-p">{count.sessions > 0 ? t.find_.count(count.matches, count.sessions) : t.found(shown.length)}
              {results.reading && ` · ${t.find_.reading}`}</span>}
        </label>
        {narrowings(all).map(([key, label, none, options]) => (
          <select
            key={key}
            class="inp auto"
            aria-label={label}
            value={narrow[key]}
            onChange={(e) => setNarrow({ ...narrow, [key]: e.currentTarget.value })}
          >
            <option value="">{none}</option>
            {options.map((o) => (
              <option key={o} value={o}>
                {plain(key === "agent" ? agentName(o) : o === thisMachine ? mw.value.thisMachine : o)}
              </option>
            ))}
          </select>
        ))}
        <span class="seg" role="group" aria-label={t.show}>
          {(["all", "live", "archived"] as const).map((f) => (
            <button key={f} type="button" aria-pressed={f === filter} onClick={() => setFilter(f)}>
              {t.filters[f]}
            </button>
          ))}
        </span>
      </div>
      <div class={`s-page${current ? " with" : ""}`}>
      <div
        class="scroll"
        tabIndex={0}
        role="group"
        aria-label={t.sessions}
        onKeyDown={(k) => {
          if (k.key === "Escape" && picked) setPicked(undefined);
          const id = k.key === "x" && letters.value && k.target instanceof Element ? k.target.closest("tr")?.dataset["id"] : undefined;
          if (id) toggle(id);
        }}
        onScroll={(e) => {
          const box = e.currentTarget;
          if (box.scrollHeight - box.scrollTop - box.clientHeight < 400) void morePast().catch(() => {});
        }}
      >
        {!loaded.value && <Skeleton />}
        {loaded.value && shown.length === 0 && <p class="empty-line">{query === "" ? t.noSessions : t.nothingFound}</p>}
        {shown.length > 0 && (
          <table class="list">
            <thead>
              <tr>
                <th>
                  <span class="sr">{t.stateCol}</span>
                </th>
                <th class="grow">{t.session}</th>
                <th class="p-hide">{t.project}</th>
                <th class="p-hide r">{t.turnsCol}</th>
                <th class="p-hide r">{t.cost}</th>
                <th class="r">{t.last}</th>
                <th>
                  <span class="sr">{t.more}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ e, depth }) => (
                <Row
                  key={e.id}
                  e={e}
                  depth={depth}
                  hit={hits.get(e.id)}
                  query={query}
                  current={e.id === at}
                  show={() => setAt(e.id)}
                  picked={picked?.has(e.id)}
                  toggle={() => toggle(e.id)}
                />
              ))}
            </tbody>
          </table>
        )}
        {pastCursor.value !== undefined && (
          <div class="center">
            <Button small kind="ghost" onClick={() => void morePast().catch(() => {})}>
              {t.olderSessions}
            </Button>
          </div>
        )}
      </div>
      {current && <SessionDetail e={current} all={all} show={setAt} close={() => setAt("")} />}
      </div>
      {picked && <Picks picked={shown.filter((e) => picked.has(e.id))} shown={shown} set={setPicked} />}
    </main>
  );
}

/** The filters of the sessions, if there is a choice. */
function narrowings(all: readonly Entry[]): (readonly [keyof Narrow, string, string, string[]])[] {
  const t = w.value;
  const machines = [...new Set(all.map((e) => e.machine || thisMachine))].sort();
  const of = (key: "project" | "agent" | "tag") => [...new Set(all.map((e) => e[key]).filter((x) => x !== ""))].sort();
  const lists = [
    ["machine", mw.value.machine, mw.value.anyMachine, machines],
    ["project", t.project, t.allProjects, of("project")],
    ["agent", t.agent, t.sessions_.anyAgent, of("agent")],
    ["tag", t.tag, t.sessions_.anyTag, of("tag")],
  ] as const;
  return lists.filter(([key, , , options]) => key === "project" || options.length > (key === "tag" ? 0 : 1)).map((l) => l);
}

interface RowProps {
  e: Entry;
  depth: number;
  hit: Found | undefined;
  query: string;
  current: boolean;
  show: () => void;
  /** Whether it is selected; undefined without selection mode. */
  picked: boolean | undefined;
  toggle: () => void;
}

function Row({ e, depth, hit, query, current, show, picked, toggle }: RowProps) {
  const t = w.value;
  const pressed = useRef(false);
  const items = [
    { icon: "pencil" as const, label: t.rename, run: () => void renameSession(e.id, e.live, e.title) },
    { icon: "tag" as const, label: t.tag, run: () => void tagSession(e.id) },
    ...(e.live
      ? [
          { icon: "split" as const, label: t.sideBySide, run: () => besides(e.id) },
          { icon: "fork" as const, label: t.fork, run: () => void fork(e.id) },
          {
            icon: "archive" as const,
            label: e.archived ? t.unarchive : t.archive,
            run: () => void archiveSession(e.id, e.archived),
          },
        ]
      : []),
    { icon: "download" as const, label: t.exportMarkdown, run: () => void exportSession(e.id, "markdown") },
    { icon: "trash" as const, label: t.deleteDo, run: () => void deleteSession(e.id, e.live, e.title), danger: true },
  ];
  return (
    <tr
      aria-current={current ? "true" : undefined}
      data-id={e.id}
      // The layout must not change between pointer down and up, so the details open on the click.
      onPointerDown={() => {
        pressed.current = true;
      }}
      onFocusIn={() => {
        if (!pressed.current) show();
        pressed.current = false;
      }}
      onClick={() => {
        pressed.current = false;
        show();
      }}
      onDblClick={() => {
        location.hash = entryHref(e);
      }}
    >
      <td>
        {picked === undefined ? (
          <StateDot dot={e.dot} />
        ) : (
          <input type="checkbox" checked={picked} aria-label={t.sessions_.pick(plain(e.title || t.untitled))} onChange={toggle} />
        )}
      </td>
      <td class="grow">
        <span class={`tline${depth > 0 ? " fork" : ""}`} data-depth={Math.min(depth, 4)}>
          {depth > 0 && <span class="sr">{t.sessions_.forkOf}</span>}
          <a class="cut" href={hitHref(e, hit)} dir="auto">
            <Marked text={plain(e.title || t.untitled)} query={query} />
          </a>
          {e.tag !== "" && <span class="chip">{plain(e.tag)}</span>}
          {e.machine !== "" && <MachineChip name={e.machine} />}
          {e.dot === "ask" && <span class="chip warn">{t.needsYou}</span>}
          {e.terminal && <span class="chip">{t.inTerminal}</span>}
        </span>
        {hit && (
          <span class="hit cut" dir="auto">
            <Marked text={plain(hit.excerpt)} query={query} />
          </span>
        )}
      </td>
      <td class="p-hide dim">
        <span class="cut">{plain(e.project)}</span>
        {e.branch !== "" && <span class="branch cut mono">{plain(e.branch)}</span>}
      </td>
      <td class="p-hide r num">{e.turns > 0 ? e.turns : ""}</td>
      <td class="p-hide r num">{e.cost !== undefined && e.cost > 0 ? money(e.cost) : ""}</td>
      <td class="r dim num nowrap">{age(e.updated, now.value, t, lang.value)}</td>
      <td // its menu opens without the details, which would move it
        onFocusIn={(f) => f.stopPropagation()}
        onClick={(c) => {
          pressed.current = false;
          c.stopPropagation();
        }}
      >
        <ActionMenu items={items} label={`${t.more}: ${plain(e.title || t.untitled)}`} />
      </td>
    </tr>
  );
}
