// A subagent: its own rows inside, one line of summary, and a way to stop it.

import { useContext, useState } from "preact/hooks";
import { get, str } from "../../fold/json";
import { tryCall, w } from "../../state/app";
import { rowsOf, threadOf } from "../../state/rows";
import { duration, tokens } from "../../state/time";
import { resultText } from "../../state/tools";
import { IconButton } from "../button";
import { Icon } from "../icon";
import { Markdown } from "../markdown";
import { Head, NestedRow, type ShapeProps, ToolMeta, usageOf } from "./parts";

/** How many rows of a subagent are drawn: its last ones. */
const most = 60;

export function Subagent({ tool, store, title, input, state }: ShapeProps) {
  const c = store.conversation;
  const task = c.tasks.find((t) => t.started?.tool_use_id === tool.id);
  const running = state === "running" || (task !== undefined && /^(running|pending|in_progress)$/.test(task.status));
  const [open, setOpen] = useState<boolean>();
  const shown = open ?? running;
  const rows = shown ? rowsOf(threadOf(c, tool.id)) : [];
  const usage = usageOf(tool.toolUseResult);
  const t = w.value;
  const Nested = useContext(NestedRow);
  return (
    <details class="sub" open={shown}>
      <summary
        onClick={(e) => {
          // The browser's own event also comes when the end of the task closes it.
          e.preventDefault();
          setOpen(!shown);
        }}
      >
        <Head title={title} />
        <ToolMeta tool={tool} store={store} state={running ? "running" : state}>
          {usage && <span class="no-p">{t.subUsage(usage.tools, duration(usage.ms, t), tokens(usage.tokens))}</span>}
          {task?.isBackgrounded && <span class="chip">{t.background}</span>}
          {!running && state === "done" && (
            <span class="chip ok">
              <Icon name="check" />
              {t.state.done}
            </span>
          )}
        </ToolMeta>
        {running && task && (
          <IconButton
            small
            icon="stop"
            label={t.stopTask}
            onClick={(e) => {
              e.stopPropagation();
              e.preventDefault();
              void tryCall("task.stop", { session_id: store.id, task_id: task.id });
            }}
          />
        )}
        <Icon name="chevron" class="chev" />
      </summary>
      {shown && (
        <div class="in">
          {rows.length > most && <p class="dim">{t.earlierRows(rows.length - most)}</p>}
          {rows.slice(-most).map((r) => (
            <Nested key={r.key} row={r} store={store} nested />
          ))}
          {rows.length === 0 && <p class="dim">{str(get(input, "prompt")).slice(0, 500)}</p>}
          {state === "done" && rows.length === 0 && <Markdown text={resultText(tool.result)} />}
        </div>
      )}
    </details>
  );
}
