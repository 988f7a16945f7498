// The option of a new session to run in a git worktree that is made for it.

import { newKey } from "../state/actions";
import { call, toast, w, whenOpen } from "../state/app";
import { sayWorkspace } from "../state/workspace";

/** What a worktree is made with; what is empty the server chooses. */
export interface Tree {
  branch: string;
  base: string;
  setup: string;
}

/** Setup commands have ten minutes. */
const patience = 620_000;

/** Makes a worktree of a repository and returns its id; undefined where that failed, which it says. */
export async function makeTree(repo: string, tree: Tree): Promise<string | undefined> {
  await whenOpen();
  const asked = Object.entries(tree).filter(([, v]) => v.trim() !== "");
  try {
    const r = await call(
      "workspace.create",
      { repo, idempotency_key: newKey(), ...Object.fromEntries(asked.map(([k, v]) => [k, v.trim()])) },
      patience,
    );
    return r.workspace.id;
  } catch (err) {
    toast(sayWorkspace(err), true);
    return undefined;
  }
}

interface WorktreeProps {
  tree: Tree | undefined;
  set: (t: Tree | undefined) => void;
  making: boolean;
}

export function Worktree({ tree, set, making }: WorktreeProps) {
  const t = w.value;
  const fields = ["branch", "base", "setup"] as const;
  return (
    <section class="wt" aria-label={t.worktree.use}>
      <label class="pick">
        <input
          type="checkbox"
          checked={tree !== undefined}
          onChange={(e) => set(e.currentTarget.checked ? { branch: "", base: "", setup: "" } : undefined)}
        />
        <span>{t.worktree.use}</span>
      </label>
      {tree && (
        <>
          <p class="dim">{t.worktree.note}</p>
          <div class="fields">
            {fields.map((f) => (
              <div class="field" key={f}>
                <label for={`wt-${f}`}>{t.worktree[f]}</label>
                <input
                  id={`wt-${f}`}
                  class="inp mono"
                  autocomplete="off"
                  spellcheck={false}
                  placeholder={t.worktree[`${f}Note`]}
                  value={tree[f]}
                  onInput={(e) => set({ ...tree, [f]: e.currentTarget.value })}
                />
              </div>
            ))}
          </div>
        </>
      )}
      {making && (
        <p role="status">
          <span class="spin" aria-hidden="true" /> {t.worktree.making}
        </p>
      )}
    </section>
  );
}
