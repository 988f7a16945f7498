// Removes the worktree of a session; lost changes have to be confirmed.

import type { WorkspaceDiffResult } from "../../rpc/service";
import { CallError } from "../../rpc/connection";
import { call, refreshSoon, toast, w } from "../../state/app";
import { fromHere, go } from "../../state/route";
import type { SessionStore } from "../../state/session";
import { sayWorkspace } from "../../state/workspace";
import { confirm } from "../dialog";
import { ActionMenu } from "../sessionmenu";

type How = { keep_branch?: boolean; force?: boolean };

export function RemoveWorktree({ store, diff }: { store: SessionStore; diff: WorkspaceDiffResult }) {
  const t = w.value;
  const branch = diff.workspace?.branch ?? diff.branch ?? "";
  return (
    <ActionMenu
      label={t.more}
      items={[
        { icon: "trash", label: t.changes_.removeTree, danger: true, run: () => void removeTree(store.id, branch) },
      ]}
    />
  );
}

async function removeTree(session_id: string, branch: string): Promise<void> {
  const t = w.peek().changes_;
  const asked: { how: How; title: string; text: (why: string) => string; ok: string; danger: boolean }[] = [
    { how: {}, title: t.removeTitle, text: () => t.removeText(branch), ok: t.removeDo, danger: true },
    { how: { keep_branch: true }, title: t.notRemoved, text: t.keepText, ok: t.keepDo, danger: false },
    { how: { force: true }, title: t.notRemoved, text: t.forceText, ok: t.forceDo, danger: true },
  ];
  let why = "";
  for (const a of asked) {
    const yes = await confirm({ title: a.title, text: a.text(why), ok: a.ok, danger: a.danger });
    if (!yes) return;
    const here = fromHere();
    try {
      await call("workspace.remove", { session_id, ...a.how }, 60_000);
      toast(t.removed);
      refreshSoon();
      if (here()) go({ page: "session", ids: [session_id] });
      return;
    } catch (err) {
      why = sayWorkspace(err);
      if (!(err instanceof CallError) || err.reason !== "conflict") break;
    }
  }
  toast(why, true);
}
