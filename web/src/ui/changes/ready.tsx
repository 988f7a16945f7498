// Below the diff when everything is committed: push, pull request, merge.

import { useState } from "preact/hooks";
import { newKey, send } from "../../state/actions";
import { call, refreshSoon, toast, w } from "../../state/app";
import { isBusy } from "../../state/phase";
import { fromHere, go } from "../../state/route";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { type Branch, type Diff, sayWorkspace } from "../../state/workspace";
import { Button } from "../button";
import { confirm } from "../dialog";
import { Icon } from "../icon";

interface ReadyProps {
  store: SessionStore;
  diff: Diff;
  branch: Branch;
  reload: () => void;
}

/** Pushing contacts another machine, and hooks may take long. */
const patience = 120_000;

export function ReadyBar({ store, diff, branch, reload }: ReadyProps) {
  const t = w.value.changes_;
  const [busy, setBusy] = useState("");
  const [error, setError] = useState("");
  const [remove, setRemove] = useState(true);
  const running = isBusy(store.settled);
  const target = branch.target ?? "";
  if (target === "" || branch.ahead === 0) return null;
  const off = running ? { disabled: true, title: t.waitForTurn } : {};
  const act = async (name: string, f: () => Promise<void>) => {
    setBusy(name);
    setError("");
    try {
      await f();
      reload();
    } catch (err) {
      setError(sayWorkspace(err));
    } finally {
      setBusy("");
    }
  };
  const params = { session_id: store.id, idempotency_key: newKey() };
  const push = async () => {
    const url = branch.url ?? "";
    // The address comes from the repository, which the agent can write.
    if (!(await confirm({ title: t.pushTitle(branch.branch ?? ""), text: t.pushText(url), ok: t.push }))) return;
    await act("push", async () => {
      const r = await call("workspace.push", { ...params, url }, patience);
      toast(t.pushed(r.branch, r.remote));
    });
  };
  const merge = async () => {
    const text = t.mergeText(branch.ahead, branch.behind === 0);
    if (!(await confirm({ title: t.mergeTitle(target), text, ok: t.mergeInto(target) }))) return;
    const here = fromHere();
    await act("merge", async () => {
      const r = await call("workspace.merge", { ...params, target }, patience);
      toast(t.merged(r.commits, r.target));
      if (!remove || !diff.workspace) return;
      await call("workspace.remove", { session_id: store.id }, patience);
      refreshSoon();
      if (here()) go({ page: "session", ids: [store.id] });
    });
  };
  const resolve = () => {
    send(store.id, { text: t.resolvePrompt(target, error), contexts: [], images: [] });
    go({ page: "session", ids: [store.id] });
  };
  return (
    <div class="commit ready" role="group" aria-label={t.allCommitted}>
      {error !== "" && (
        <p class="notice bad" role="alert">
          <Icon name="alert" />
          <span class="wrapany pre">{plain(error.slice(0, 4000))}</span>
          {/conflicts in /.test(error) && (
            <Button small onClick={resolve} {...off}>
              {t.resolve}
            </Button>
          )}
        </p>
      )}
      <Icon name="check" class="ok" />
      <span class="grow-text">
        <b>{t.allCommitted}</b>{" "}
        <span class="two">{branch.behind === 0 ? t.notMoved(plain(target)) : t.hasMoved(branch.behind, plain(target))}</span>
      </span>
      {branch.url && (
        <Button
          icon={branch.pushed ? "check" : "arrowUp"}
          busy={busy === "push"}
          {...(branch.pushed ? { disabled: true, title: plain(branch.url) } : off)}
          onClick={() => void push()}
        >
          {branch.pushed ? t.isPushed : t.push}
        </Button>
      )}
      {branch.compare_url && /^https:/.test(branch.compare_url) && (
        <a class="btn" href={branch.compare_url} target="_blank" rel="noopener noreferrer" title={branch.compare_url}>
          <Icon name="fork" />
          {t.openPull}
        </a>
      )}
      <Button kind="primary" icon="branch" busy={busy === "merge"} {...off} onClick={() => void merge()}>
        {t.mergeInto(plain(target))}
      </Button>
      {diff.workspace && (
        <label class="pick">
          <input type="checkbox" checked={remove} onChange={(e) => setRemove(e.currentTarget.checked)} />
          <span>{t.mergeRemove}</span>
        </label>
      )}
    </div>
  );
}
