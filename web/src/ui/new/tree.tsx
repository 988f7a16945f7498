// The worktree of a new session: its base branch, its own branch, and a setup command.

import { newKey } from "../../state/actions";
import { call, toast, w, whenOpen } from "../../state/app";
import { onMachine } from "../../state/choices";
import { sayWorkspace } from "../../state/workspace";
import { Icon } from "../icon";

/** The settings of a new worktree; the server chooses empty ones. */
export interface Tree {
  branch: string;
  base: string;
  setup: string;
}

/** Setup commands have ten minutes. */
const patience = 620_000;

/** Creates a worktree and returns its id. If that fails it shows the error and returns undefined. */
export async function makeTree(repo: string, tree: Tree, machine: string): Promise<string | undefined> {
  await whenOpen();
  const asked = Object.entries(tree).filter(([, v]) => v.trim() !== "");
  try {
    const r = await call(
      "workspace.create",
      { repo, idempotency_key: newKey(), ...onMachine(machine), ...Object.fromEntries(asked.map(([k, v]) => [k, v.trim()])) },
      patience,
    );
    return r.workspace.id;
  } catch (err) {
    toast(sayWorkspace(err), true);
    return undefined;
  }
}

interface TreeProps {
  tree: Tree;
  current: string;
  branches: readonly string[];
  set: (t: Partial<Tree>) => void;
  /** Whether a command can prepare the worktree. */
  setup: boolean;
}

export function TreeFields({ tree, current, branches, set, setup }: TreeProps) {
  const t = w.value.worktree;
  return (
    <>
      {branches.length > 0 && (
        <label class="sw" title={t.base}>
          <Icon name="branch" />
          <span class="mono" aria-hidden="true">
            {tree.base || current}
          </span>
          <Icon name="chevronDown" class="chev" />
          <select
            aria-label={t.base}
            value={tree.base || current}
            onChange={(e) => set({ base: e.currentTarget.value })}
          >
            {branches.map((b) => (
              <option key={b} value={b}>
                {b}
              </option>
            ))}
          </select>
        </label>
      )}
      <Icon name="chevron" class="dim" />
      <Field of="branch" value={tree.branch} set={(branch) => set({ branch })} />
      {setup && <Field of="setup" value={tree.setup} set={(text) => set({ setup: text })} />}
    </>
  );
}

function Field({ of, value, set }: { of: "branch" | "setup"; value: string; set: (v: string) => void }) {
  const t = w.value.worktree;
  return (
    <input
      class={`inp sm mono tree-${of}`}
      autocomplete="off"
      spellcheck={false}
      aria-label={t[of]}
      title={t[of]}
      placeholder={of === "branch" ? t.branchNote : t.setup}
      value={value}
      onInput={(e) => set(e.currentTarget.value)}
    />
  );
}
