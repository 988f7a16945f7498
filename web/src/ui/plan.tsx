// The plan as a checklist that stays in view: in the panel, or as a line under the bar.

import { useState } from "preact/hooks";
import { w } from "../state/app";
import { planDone, planNow, planSteps } from "../state/plan";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import type { Step } from "../state/tools";
import { useFiles } from "./changes/use";
import { Counts } from "./diff";
import { Icon } from "./icon";
import { narrow, togglePanel } from "./viewport";

export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ul class="todo">
      {steps.map((s, i) => (
        <li key={i} class={s.state} aria-current={s.state === "now" ? "step" : undefined}>
          <span class="tk" role="img" aria-label={w.value.stepStates[s.state]}>
            {s.state === "done" && <Icon name="check" />}
          </span>
          <span dir="auto">{plain(s.text)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The plan and the changes in one line, if there is no room for the panel. */
export function PlanStrip({ store }: { store: SessionStore }) {
  void store.durable.value;
  const steps = planSteps(store.settled);
  const [open, setOpen] = useState(false);
  const files = useFiles(store, false, !narrow.value);
  if (steps.length === 0 && files.length === 0) return null;
  const total = files.reduce((n, f) => ({ added: n.added + f.added, removed: n.removed + f.removed }), {
    added: 0,
    removed: 0,
  });
  return (
    <div class="stripwrap">
      <div class="strip">
        {steps.length > 0 && (
          <button type="button" class="strip-b" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name="list" />
            <span class="name">
              {w.value.plan} {w.value.ofSteps(planDone(steps), steps.length)}
            </span>
            <span class="cut">{plain(planNow(steps))}</span>
            <Icon name="chevron" class="chev" />
          </button>
        )}
        {files.length > 0 && (
          <button type="button" class="strip-b files" onClick={() => togglePanel(true)}>
            <Icon name="pencil" />
            <span class="nowrap">{w.value.files(files.length)}</span>
            <Counts diff={total} />
          </button>
        )}
      </div>
      {open && <Steps steps={steps} />}
    </div>
  );
}
