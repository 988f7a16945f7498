// A command: its text, the end of its output, its exit code.

import { get, str } from "../../fold/json";
import { w } from "../../state/app";
import { isRefusal, unfenced } from "../../state/tidy";
import { commandOf, exitCode } from "../../state/tools";
import { Coloured } from "../code";
import { Denied, Head, outputOf, type ShapeProps, ToolMeta } from "./parts";
import { Output } from "./output";

export function Bash({ tool, store, title, input, state }: ShapeProps) {
  void store.version.value;
  const command = commandOf(input);
  const live = state === "running";
  const code = state === "done" || state === "failed" ? exitCode(tool) : undefined;
  const whole = tool.result === undefined ? (tool.progress?.output ?? "") : unfenced(outputOf(tool));
  // The row shows this already, and the ids in these texts are internal to the agent.
  const moved = /^Command (?:running in background|was manually backgrounded)/.test(whole);
  // The code is in the meta as well.
  const said = code ? whole.replace(/^(?:Error: )?Exit code \d+(?:\n|$)/, "") : whole;
  const text = moved || isRefusal(whole) || /^\(Bash completed with no output\)$/.test(whole) ? "" : said;
  const named = str(get(input, "description")) !== "";
  return (
    <div class="card">
      <div class="card-h">
        <Head title={named ? title : { ...title, object: "" }} />
        <ToolMeta tool={tool} store={store} state={code === undefined ? state : "done"}>
          {code !== undefined && code !== 0 && <span class="chip bad">{w.value.exit(code)}</span>}
          {code === 0 && <span class="sr">{w.value.exit(0)}</span>}
          {(moved || get(input, "run_in_background") === true) && <span class="chip">{w.value.background}</span>}
        </ToolMeta>
      </div>
      {command !== "" && (
        <pre class="cmd wrap" dir="ltr">
          <span class="p" aria-hidden="true">
            ${" "}
          </span>
          <Coloured code={command} lang="bash" off={state === "input"} />
        </pre>
      )}
      <Denied decision={tool.decision} />
      {state === "done" && !moved && text.trim() === "" && <p class="pad dim">{w.value.noOutput}</p>}
      <Output text={text} bad={code !== undefined && code !== 0} live={live && text !== ""} />
    </div>
  );
}
