// The last sessions of a project.

import { now, w } from "../../state/app";
import { lang } from "../../state/prefs";
import { plain } from "../../state/safe";
import { liveEntries, pastEntries } from "../../state/sessions";
import { age } from "../../state/time";
import { basename } from "../../state/tools";
import { entryHref } from "../../state/sessions";
import { StateDot } from "../small";

const shown = 4;

export function RecentSessions({ machine, project }: { machine: string; project: string }) {
  const t = w.value;
  const all = [...liveEntries.value, ...pastEntries.value]
    .filter((e) => e.machine === machine && e.cwd === project && !e.archived)
    .sort((a, b) => (a.updated < b.updated ? 1 : -1))
    .slice(0, shown);
  if (all.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent-h">
      <h2 id="recent-h">{t.recentIn(plain(basename(project)))}</h2>
      {all.map((e) => (
        <a key={`${e.live}${e.id}`} class="recent-row" href={entryHref(e)}>
          <StateDot dot={e.dot} />
          <span class="cut" dir="auto">
            {plain(e.title) || t.untitled}
          </span>
          <span class="dim">{age(e.updated, now.value, t, lang.value)}</span>
        </a>
      ))}
    </section>
  );
}
