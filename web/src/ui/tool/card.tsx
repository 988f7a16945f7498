// A tool call: a row, or a card if it has content to show.

import { useState } from "preact/hooks";
import type { ToolCall } from "../../fold/conversation";
import { get, str } from "../../fold/json";
import { w } from "../../state/app";
import { chosenAnswers } from "../../state/decided";
import { oneLine, plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { inputOf, metaOf, resultImages, titleOfCall } from "../../state/tools";
import { Icon } from "../icon";
import { Markdown } from "../markdown";
import { Bash } from "./bash";
import { Change } from "./change";
import { Output, Pictures, Raw } from "./output";
import { Denied, Head, outputOf, type ShapeProps, stateOf, ToolMeta, type ToolProps } from "./parts";
import { Subagent } from "./task";

/** A tool by its type. Every shape keeps its parts in the same place. */
export function Tool(p: ToolProps) {
  const input = inputOf(p.tool);
  const c = p.store.conversation;
  const title = titleOfCall(p.tool, c.provider, w.value, c.cwd);
  const state = stateOf(p.tool, p.store, p.streaming);
  if (state === "waits") return <Waiting {...p} title={title} input={input} state={state} />;
  if (p.tool.toolType === "CLAUDE_ASK_USER_QUESTION" && p.tool.result !== undefined)
    return <Answered {...p} title={title} input={input} state={state} />;
  if (p.tool.toolType === "CLAUDE_EXIT_PLAN_MODE" && p.tool.decision)
    return <Planned {...p} title={title} input={input} state={state} />;
  if (title.shape === "bash") return <Bash {...p} title={title} input={input} state={state} />;
  if (title.shape === "task") return <Subagent {...p} title={title} input={input} state={state} />;
  if (title.shape === "diff") return <Change {...p} title={title} input={input} state={state} />;
  return <Row {...p} title={title} input={input} state={state} />;
}

/** A call that waits for a person: the request shows all of it. */
function Waiting({ tool, store, title, state }: ShapeProps) {
  return (
    <div class="card-h plain-h">
      <Head title={title} />
      <ToolMeta tool={tool} store={store} state={state} />
    </div>
  );
}

/** A question after its answer, with the chosen answers. */
function Answered({ tool, store, title, state }: ShapeProps) {
  const t = w.value;
  const chosen = chosenAnswers(tool);
  return (
    <div class="answered">
      <div class="card-h plain-h">
        <Head title={chosen && chosen.length > 1 ? { ...title, object: "" } : title} />
        <ToolMeta tool={tool} store={store} state={state === "failed" || state === "denied" ? "done" : state} />
      </div>
      {chosen ? (
        chosen.map(([question, answer]) => (
          <p key={question} dir="auto">
            {chosen.length > 1 && <span class="dim">{plain(question)}</span>}
            <span class="chose">
              <Icon name="check" /> {plain(answer)}
            </span>
          </p>
        ))
      ) : (
        <p class="dim">{t.ask.skipped}</p>
      )}
    </div>
  );
}

/** A plan after its answer, with its title and the decision. */
function Planned({ tool, store, title, input }: ShapeProps) {
  const t = w.value;
  const [open, setOpen] = useState(false);
  const plan = str(get(input, "plan"));
  const approved = tool.decision?.behavior === "allow";
  return (
    <details class="fold answered" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span>
          <span class="sum">
            <Head title={{ ...title, object: oneLine(plan.replace(/^#+\s*/, ""), 100) }} />
            <ToolMeta tool={tool} store={store} state="done" />
          </span>
          <span class={approved ? "chose" : "two"}>
            <Icon name={approved ? "check" : "comment"} />{" "}
            {approved ? t.ask.planApproved : t.ask.planKept(plain(tool.decision?.message ?? ""))}
          </span>
        </span>
      </summary>
      {open && <Markdown text={plan} />}
    </details>
  );
}

function Row({ tool, store, title, state, input }: ShapeProps) {
  void store.version.value;
  const images = resultImages(tool.result);
  const [open, setOpen] = useState(false);
  return (
    <details class="fold" open={open || images.length > 0} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Head title={title} />
        <ToolMeta tool={tool} store={store} state={state}>
          <span class="no-p">{metaOf(tool, w.value)}</span>
        </ToolMeta>
        <Icon name="chevron" class="chev" />
      </summary>
      <Denied decision={tool.decision} />
      {images.length > 0 && <Pictures images={images} />}
      {open && <RowBody tool={tool} store={store} input={input} />}
    </details>
  );
}

function RowBody({ tool, store, input }: { tool: ToolCall; store: SessionStore; input: unknown }) {
  void store.version.value;
  const text = outputOf(tool);
  const unknown = tool.toolType === "MCP" || !/^CLAUDE_(READ|GLOB|GREP|WEB_|TODO)/.test(tool.toolType);
  return (
    <div class="card under">
      {unknown && (
        <Raw label={w.value.input} value={tool.inputText && tool.input === undefined ? tool.inputText : input} />
      )}
      {text !== "" ? (
        <Output text={text} bad={tool.status === "failed"} />
      ) : (
        tool.result !== undefined && tool.decision?.behavior !== "deny" && <Raw label={w.value.result} value={tool.result} />
      )}
    </div>
  );
}

