// The details of a session in the list: its figures, its actions, and its continuations.

import { exportSession, fork } from "../state/actions";
import { now, w } from "../state/app";
import { lang } from "../state/prefs";
import { agentName } from "../state/providers";
import { plain } from "../state/safe";
import { asTree, diskId, type Entry } from "../state/sessions";
import { age, money } from "../state/time";
import { Button, IconButton } from "./button";
import { archiveSession, besides, deleteSession, renameSession, tagSession } from "./sessionmenu";
import { entryHref } from "../state/sessions";
import { StateDot } from "./small";

interface DetailProps {
  e: Entry;
  all: readonly Entry[];
  show: (id: string) => void;
  close: () => void;
}

export function SessionDetail({ e, all, show, close }: DetailProps) {
  const t = w.value;
  const figures = [
    e.machine,
    e.agent && agentName(e.agent),
    e.model,
    e.turns > 0 ? t.home.turns(e.turns) : "",
    e.cost ? money(e.cost) : "",
    age(e.updated, now.value, t, lang.value),
  ];
  return (
    <aside class="s-detail" aria-label={t.sessions_.detail}>
      <div class="sd-acts">
        <StateDot dot={e.dot} />
        <span class="dim">{t.states[e.state] ?? plain(e.state)}</span>
        <span class="sp" />
        <IconButton small icon="pencil" label={t.rename} onClick={() => void renameSession(e.id, e.live, e.title)} />
        <IconButton small icon="download" label={t.exportMarkdown} onClick={() => void exportSession(diskId(e.id), "markdown")} />
        {e.live && (
          <IconButton
            small
            icon="archive"
            label={e.archived ? t.unarchive : t.archive}
            onClick={() => void archiveSession(e.id, e.archived)}
          />
        )}
        <IconButton small icon="trash" label={t.deleteDo} onClick={() => void deleteSession(e.id, e.live, e.title)} />
        <IconButton small icon="x" label={t.close} onClick={close} />
      </div>
      <h2 dir="auto">{plain(e.title || t.untitled)}</h2>
      <p class="dim">{plain(figures.filter((x) => x).join(" · "))}</p>
      <p class="s-tags">
        {e.tag !== "" && <span class="chip">{plain(e.tag)}</span>}
        <Button small icon="tag" onClick={() => void tagSession(e.id)}>
          {e.tag === "" ? t.sessions_.addTag : t.tag}
        </Button>
      </p>
      <p class="s-tags">
        <a class="btn primary" href={entryHref(e)}>
          {t.sessions_.open}
        </a>
        {e.live && (
          <>
            <Button icon="split" onClick={() => besides(e.id)}>
              {t.sideBySide}
            </Button>
            <Button icon="fork" onClick={() => void fork(e.id)}>
              {t.fork}
            </Button>
          </>
        )}
      </p>
      <h3>{t.sessions_.place}</h3>
      <p class="s-place">
        {plain(e.project)} <span class="mono dim">{plain(e.branch || t.sessions_.mainBranch)}</span>
      </p>
      <Branches e={e} all={all} show={show} />
    </aside>
  );
}

/** The conversations that continue each other, including this one. */
function Branches({ e, all, show }: Omit<DetailProps, "close">) {
  const byId = new Map(all.map((x) => [x.id, x]));
  const rootOf = (x: Entry): string => {
    let at = x;
    for (let hops = 0; hops < 100; hops++) {
      const up = at.parent === undefined ? undefined : byId.get(at.parent);
      if (up === undefined) break;
      at = up;
    }
    return at.id;
  };
  const root = rootOf(e);
  const family = asTree(all.filter((x) => rootOf(x) === root));
  if (family.length < 2) return null;
  return (
    <>
      <h3>{w.value.sessions_.branches}</h3>
      <ul class="s-tree">
        {family.map(({ e: x, depth }) => (
          <li key={x.id} data-depth={Math.min(depth, 4)}>
            <button type="button" class="cut" aria-current={x.id === e.id ? "true" : undefined} onClick={() => show(x.id)}>
              {plain(x.title || w.value.untitled)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
