// The panel of a conversation: plan, changes, background tasks, MCP servers, reach of the agent,
// context and cost.

import { useEffect, useRef, useState } from "preact/hooks";
import { tryCall, w } from "../state/app";
import { taskName, tasksOf } from "../state/known";
import { planDone, planSteps } from "../state/plan";
import { plain } from "../state/safe";
import { formatRoute } from "../state/route";
import type { SessionStore } from "../state/session";
import { basename, shortPath } from "../state/tools";
import { IconButton } from "./button";
import { Context } from "./context";
import { useFiles } from "./changes/use";
import { Counts } from "./diff";
import { Icon } from "./icon";
import { McpServers } from "./mcp";
import { Steps } from "./plan";
import { Preview } from "./preview";
import { Reach } from "./reach";
import { Section } from "./section";
import { Seg } from "./segmented";
import { SessionUsage } from "./usage/session";
import { overlay, togglePanel } from "./viewport";

/** The parts of the panel, from above. Another one is added here. */
const parts: readonly ((p: { store: SessionStore }) => preact.VNode | null)[] = [
  Plan,
  Changes,
  Background,
  Preview,
  McpServers,
  Reach,
  Context,
  SessionUsage,
];

export function Panel({ store, over }: { store: SessionStore; over: boolean }) {
  void store.durable.value;
  const t = w.value;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!over) return;
    // It takes the focus while it covers the page, and then returns it.
    const before = document.activeElement;
    box.current?.querySelector<HTMLElement>("button")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      overlay.value = false;
    };
  }, [over]);
  const onKey = (e: KeyboardEvent) => {
    if (!over || e.key !== "Escape") return;
    e.stopPropagation();
    togglePanel(false);
  };
  return (
    <aside ref={box} class={`panel${over ? " over" : ""}`} aria-label={t.thisSession} onKeyDown={onKey}>
      <header class="bar">
        <h2>{t.thisSession}</h2>
        <span class="sp" />
        <IconButton
          icon={over ? "x" : "panelRight"}
          label={over ? t.close : t.panel}
          onClick={() => togglePanel(false)}
        />
      </header>
      <div class="panel-in" tabIndex={0} role="group" aria-label={t.thisSession}>
        {parts.map((Part, i) => (
          <Part key={i} store={store} />
        ))}
      </div>
    </aside>
  );
}

function Plan({ store }: { store: SessionStore }) {
  const steps = planSteps(store.settled);
  const t = w.value;
  if (steps.length === 0)
    return (
      <Section title={t.plan}>
        <p class="pad dim">{t.noPlan}</p>
      </Section>
    );
  return (
    <Section title={t.plan} meta={t.ofSteps(planDone(steps), steps.length)}>
      <Steps steps={steps} />
    </Section>
  );
}

function Changes({ store }: { store: SessionStore }) {
  const [turn, setTurn] = useState(false);
  const c = store.settled;
  const files = useFiles(store, turn);
  const t = w.value;
  const total = files.reduce((n, f) => ({ added: n.added + f.added, removed: n.removed + f.removed }), {
    added: 0,
    removed: 0,
  });
  const href = formatRoute({ page: "changes", id: store.id, ...(turn ? { turn: "last" } : {}) });
  return (
    <Section title={t.changes} meta={files.length > 0 && <Counts diff={total} />}>
      {files.length === 0 ? (
        <p class="pad dim">{t.noChanges}</p>
      ) : (
        files.slice(0, 50).map((f) => (
          <a class="frow go" key={f.path} title={plain(f.path)} href={href}>
            <Icon name={f.isNew ? "plus" : "pencil"} />
            <span class="cut">
              <span class="dim">{plain(folder(shortPath(f.path, c.cwd)))}</span>
              {plain(basename(f.path))}
            </span>
            <span class="meta">
              {f.isNew && <span class="chip acc">{t.isNew}</span>}
              <Counts diff={f} />
            </span>
          </a>
        ))
      )}
      <div class="pad seg-row acts">
        {c.turns.length > 1 && (
          <Seg
            label={t.changes_.which}
            value={turn ? "turn" : "session"}
            options={[
              ["turn", t.thisTurn],
              ["session", t.session],
            ]}
            set={(v) => setTurn(v === "turn")}
          />
        )}
        <a class="btn sm" href={href}>
          {t.changes_.open}
        </a>
      </div>
    </Section>
  );
}

function folder(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** A task with another status is listed without it. */
const moves = /^(running|pending|in_progress)?$/;
const ended = /^(completed|failed|killed|stopped|cancelled|done|success|error)$/;

function Background({ store }: { store: SessionStore }) {
  const t = w.value;
  const tasks = tasksOf(store.settled).filter((x) => x.isBackgrounded || !ended.test(x.status));
  if (tasks.length === 0) return null;
  const running = tasks.filter((x) => !ended.test(x.status)).length;
  return (
    <Section title={t.inBackground} meta={running > 0 ? String(running) : ""}>
      {tasks.slice(-20).map((x) => (
        <div class="frow tall" key={x.id}>
          {ended.test(x.status) ? (
            <Icon name={x.status === "completed" ? "check" : "alert"} />
          ) : moves.test(x.status) ? (
            <span class="spin" role="img" aria-label={t.state.running} />
          ) : (
            <Icon name="clock" />
          )}
          <span class="cut" title={plain(x.summary ?? x.description ?? "")}>
            {plain(taskName(store.settled, x) || t.aTask)}
          </span>
          <span class="meta">
            {t.taskStates[x.status] ?? ""}
            {!ended.test(x.status) && (
              <IconButton
                small
                icon="square"
                label={t.stopTask}
                onClick={() => void tryCall("task.stop", { session_id: store.id, task_id: x.id })}
              />
            )}
          </span>
        </div>
      ))}
    </Section>
  );
}
