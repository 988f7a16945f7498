// A change of a file: the diff, open if it is small.

import { useState } from "preact/hooks";
import { get } from "../../fold/json";
import { w } from "../../state/app";
import { ofCall, ofTool } from "../../state/diff";
import { untag } from "../../state/tidy";
import { resultText } from "../../state/tools";
import { unnumbered } from "../ask/infile";
import { Counts, DiffTable } from "../diff";
import { Icon } from "../icon";
import { Denied, Head, type ShapeProps, ToolMeta } from "./parts";
import { Output } from "./output";

export function Change({ tool, store, title, state, input }: ShapeProps) {
  void store.version.value;
  const diff =
    state === "input" ? undefined : (ofTool(tool.toolType, input, tool.toolUseResult) ?? ofCall(tool.content, input));
  const failed = state === "failed"; // the agent sees it and continues
  const reason = failed ? untag(resultText(tool.result)).trim() : "";
  const small = diff !== undefined && diff.added + diff.removed <= 60;
  const [open, setOpen] = useState<boolean>();
  const shown = open ?? (small && state !== "denied" && !failed);
  const size = tool.inputText?.length ?? 0;
  return (
    <div class="card">
      <button type="button" class="card-h" aria-expanded={shown} onClick={() => setOpen(!shown)}>
        <Head title={title} />
        <ToolMeta tool={tool} store={store} state={failed ? "done" : state}>
          {failed && <span class="chip">{w.value.notApplied}</span>}
          {diff?.isNew && <span class="chip acc">{w.value.isNew}</span>}
          {get(input, "replace_all") === true && <span class="chip">{w.value.ask.options.everyOccurrence}</span>}
          {diff && !failed && <Counts diff={diff} />}
          {state === "input" && size > 0 && <span>{w.value.characters(size)}</span>}
        </ToolMeta>
        <Icon name="chevron" class="chev" />
      </button>
      <Denied decision={tool.decision} />
      {shown && diff && (diff.hunks.length > 0 || diff.isNew) && <DiffTable diff={failed ? unnumbered(diff) : diff} />}
      {failed &&
        (/^String to replace not found in file\b/.test(reason) ? (
          <p class="pad two">{w.value.textNotThere}</p>
        ) : (
          <Output text={reason} />
        ))}
    </div>
  );
}
