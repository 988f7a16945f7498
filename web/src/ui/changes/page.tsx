// Changes of a session or one of its turns: revert, comment, commit.

import { useEffect, useState } from "preact/hooks";
import { follow, sessionStore, w } from "../../state/app";
import { diffView } from "../../state/prefs";
import { formatRoute, go } from "../../state/route";
import { oneLine, plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { type Branch, type Diff, hasCommitHunks, isDiff, type NoDiff, sameScope, type Scope } from "../../state/workspace";
import { Icon } from "../icon";
import { titleOf } from "../session";
import { Seg } from "../segmented";
import { Skeleton } from "../small";
import { read } from "../user";
import { CommentForm } from "./comment";
import { CommitBar } from "./commit";
import { ReadyBar } from "./ready";
import { RevertedLine } from "./reverted";
import { Reported } from "./reported";
import { RemoveWorktree } from "./remove";
import { SideList } from "./side";
import { FileView } from "./file";
import { useBranch, useDiff, useReview } from "./use";

type Which = "turn" | "session" | "head";

export function ChangesPage({ id, turn }: { id: string; turn?: string | undefined }) {
  const store = sessionStore(id);
  useEffect(() => follow(id), [id]);
  const [which, setWhich] = useState<Which>(turn ? "turn" : "session");
  const [chosen, setChosen] = useState(turn && turn !== "last" ? turn : "");
  useEffect(() => {
    if (turn === undefined) return;
    setWhich("turn");
    setChosen(turn === "last" ? "" : turn);
  }, [turn]);
  // Every response contains the turns; that for the session determines the last one.
  const session = useDiff(store, {});
  const turns = isDiff(session.diff) ? (session.diff.turns ?? []) : [];
  const known = turns.some((x) => x.turn_id === chosen);
  const last = (known ? chosen : turns[turns.length - 1]?.turn_id) ?? "";
  const scope: Scope = which === "turn" && last ? { turn: last } : which === "head" ? { against: "head" } : {};
  const ofTurn = useDiff(store, scope.turn ? scope : undefined);
  // Only differences from the last commit can be committed.
  const head = useDiff(store, { against: "head" });
  const loaded = scope.turn ? ofTurn : which === "head" ? head : session;
  const open = new Set(isDiff(head.diff) ? head.diff.files.map((f) => f.path) : []);
  const t = w.value;
  const git = isDiff(session.diff);
  const branch = useBranch(store, git);
  return (
    <main class="centre changes" id="main">
      <header class="bar">
        <a class="ibtn" href={formatRoute({ page: "session", ids: [id] })} aria-label={t.toSession} title={t.toSession}>
          <Icon name="chevronLeft" />
        </a>
        <h1>{t.changes}</h1>
        <span class="cut two no-p" dir="auto">
          {plain(titleOf(store))}
        </span>
        <Where diff={session.diff} branch={branch} />
        <span class="sp" />
        <Seg
          label={t.changes_.which}
          value={which}
          options={[
            ["turn", t.changes_.lastTurn],
            ["session", t.session],
            ...(git ? ([["head", t.changes_.notCommitted]] as const) : []),
          ]}
          set={(v) => {
            setWhich(v);
            setChosen("");
          }}
        />
        <span class="no-p">
          <Seg
            label={t.changes_.view}
            value={diffView.value}
            options={[
              ["split", t.changes_.split],
              ["inline", t.changes_.inline],
            ]}
            set={(v) => {
              diffView.value = v;
            }}
          />
        </span>
        {isDiff(session.diff) && session.diff.workspace && <RemoveWorktree store={store} diff={session.diff} />}
      </header>
      {which === "turn" && turns.length > 1 && (
        <Turns store={store} ids={turns.map((x) => x.turn_id)} chosen={last} set={setChosen} />
      )}
      <Body
        store={store}
        scope={scope}
        which={which}
        loaded={loaded}
        open={open}
        branch={branch}
        committed={isDiff(head.diff) && head.diff.files.length === 0}
        reload={() => {
          session.reload();
          ofTurn.reload();
          head.reload();
        }}
      />
    </main>
  );
}

/** The branch, and how far it is from its base. */
function Where({ diff, branch }: { diff: Diff | NoDiff | undefined; branch: Branch | undefined }) {
  const t = w.value;
  if (!isDiff(diff)) return null;
  return (
    <>
      {diff.branch && (
        <span class="chip branch" title={t.branch}>
          <Icon name="branch" />
          <span class="mono cut">{plain(diff.branch)}</span>
        </span>
      )}
      {branch?.target && (
        <span class={`two nowrap no-p${branch.behind > 0 ? " warn" : ""}`} title={plain(diff.workspace?.path ?? "")}>
          {t.changes_.ahead(branch.ahead, branch.behind, plain(branch.target))}
        </span>
      )}
      {!diff.workspace && diff.branch && <span class="two nowrap no-p">{t.changes_.ownCheckout}</span>}
    </>
  );
}

/** The turns, named after the person's messages, latest first. */
function Turns(p: { store: SessionStore; ids: string[]; chosen: string; set: (id: string) => void }) {
  const t = w.value;
  const prompts = new Map(p.store.rows.get().flatMap((r) => (r.message?.uuid ? [[r.message.uuid, r.message]] : [])));
  const name = (id: string, at: number) => {
    const m = prompts.get(id);
    const said = m ? oneLine(read(m).text, 60) : "";
    return t.changes_.turn(at + 1, said);
  };
  return (
    <div class="tools turns">
      <label>
        {t.changes_.ofTurn}{" "}
        <select class="inp" value={p.chosen} onChange={(e) => p.set(e.currentTarget.value)}>
          {p.ids
            .map((id, i) => ({ id, i }))
            .reverse()
            .slice(0, 100)
            .map(({ id, i }) => (
              <option key={id} value={id}>
                {plain(name(id, i))}
              </option>
            ))}
        </select>
      </label>
    </div>
  );
}

interface BodyProps {
  store: SessionStore;
  scope: Scope;
  which: Which;
  loaded: ReturnType<typeof useDiff>;
  /** The files that are not committed. */
  open: ReadonlySet<string>;
  branch: Branch | undefined;
  /** Whether the files equal the last commit. */
  committed: boolean;
  reload: () => void;
}

function Body({ store, scope, which, loaded, open, branch, committed, reload }: BodyProps) {
  const t = w.value;
  const review = useReview(store);
  const { diff } = loaded;
  if (store.phase.value === "gone")
    return (
      <div class="empty">
        <h2>{t.gone}</h2>
        <p>{t.goneNote}</p>
      </div>
    );
  if (diff === undefined) return <Skeleton />;
  if (!isDiff(diff)) return <Reported store={store} why={diff} turn={which === "turn"} />;
  // Reverted hunks of files without other changes.
  const elsewhere = (diff.reverted ?? []).filter(
    (r) => (scope.turn ?? "") === (scope.turn ? (r.turn_id ?? "") : "") && !diff.files.some((f) => f.path === r.file),
  );
  return (
    <>
      <div class="ch-body">
        <SideList store={store} diff={diff} branch={branch} review={review} />
        <div class="ch-files" tabIndex={0} role="region" aria-label={t.changes_.files}>
          {diff.truncated && <p class="notice lost">{t.changes_.truncated}</p>}
          {diff.files.length === 0 && (
            <div class="empty">
              <h2>{which === "turn" ? t.changes_.nothingInTurn : t.noChanges}</h2>
              <p>{t.changes_.nothingNote}</p>
              <button type="button" class="btn" onClick={() => go({ page: "session", ids: [store.id] })}>
                {t.toSession}
              </button>
            </div>
          )}
          {/* What is written about a file that has no change any more. */}
          {review.writing.value
            .filter((d) => sameScope(d.scope, scope) && !diff.files.some((f) => f.path === d.file))
            .map((d) => (
              <CommentForm key={d.id} d={d} now={undefined} others={false} review={review} reload={reload} />
            ))}
          {diff.files.map((f, i) => (
            <FileView
              key={f.path}
              store={store}
              diff={diff}
              file={f}
              scope={scope}
              review={review}
              open={i < 20}
              pick={which !== "turn" && open.has(f.path)}
              hunks={hasCommitHunks(diff, scope)}
              shown={loaded.set}
              reload={reload}
            />
          ))}
          {elsewhere.map((r) => (
            <RevertedLine key={r.id} store={store} scope={scope} reverted={r} named shown={loaded.set} />
          ))}
        </div>
      </div>
      {which !== "turn" && diff.files.some((f) => open.has(f.path)) && (
        <CommitBar store={store} diff={diff} scope={scope} open={open} reload={reload} />
      )}
      {committed && branch && <ReadyBar store={store} diff={diff} branch={branch} reload={reload} />}
    </>
  );
}
