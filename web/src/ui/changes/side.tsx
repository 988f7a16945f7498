// The column of the diff: files, comments, commits, and files that were left out.

import { useState } from "preact/hooks";
import type { WorkspaceFile } from "../../rpc/service";
import { now, w } from "../../state/app";
import { isBusy } from "../../state/phase";
import { lang } from "../../state/prefs";
import type { Review } from "../../state/review";
import { fromHere, go } from "../../state/route";
import { plain } from "../../state/safe";
import type { SessionStore } from "../../state/session";
import { age, bytes } from "../../state/time";
import type { Branch, Diff } from "../../state/workspace";
import { Button } from "../button";
import { Counts } from "../diff";
import { Icon, type IconName } from "../icon";
import { CommentView } from "./comment";
import { fileId } from "./file";

export const kindIcons: Record<string, IconName> = { add: "plus", delete: "trash", move: "enter" };

interface SideProps {
  store: SessionStore;
  diff: Diff;
  branch: Branch | undefined;
  review: Review;
}

export function SideList({ store, diff, branch, review }: SideProps) {
  const t = w.value;
  const commits = diff.commits ?? [];
  return (
    <aside class="ch-side" aria-label={t.changes_.overview} tabIndex={0}>
      <h2 class="grp">{t.changes_.filesN(diff.files.length)}</h2>
      <ul>
        {diff.files.map((f) => (
          <FileRow key={f.path} f={f} />
        ))}
      </ul>
      <ReviewList store={store} review={review} />
      {commits.length > 0 && (
        <>
          <h2 class="grp">
            {branch?.target ? t.changes_.aheadCommits(branch.ahead, plain(branch.target)) : t.changes_.committedHere}
          </h2>
          <ul>
            {commits.slice(0, 50).map((c) => (
              <li key={c.commit} class="frow" title={plain(`${c.commit.slice(0, 12)} ${c.author ?? ""}`)}>
                <Icon name="commit" />
                <span class="cut">{plain(c.subject)}</span>
                <span class="meta">{age(c.time, now.value, t, lang.value)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {(diff.left_out ?? []).length > 0 && (
        <>
          <h2 class="grp">{t.changes_.leftOut}</h2>
          <ul>
            {(diff.left_out ?? []).slice(0, 50).map((l) => (
              <li key={l.path} class="frow" title={plain(l.path)}>
                <Icon name="info" />
                <span class="cut mono">{plain(l.path)}</span>
                <span class="meta">
                  {t.changes_.why[l.why] ?? plain(l.why)} {l.size ? bytes(l.size) : ""}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

function FileRow({ f }: { f: WorkspaceFile }) {
  const at = f.path.lastIndexOf("/") + 1;
  return (
    <li>
      <button
        type="button"
        class="frow"
        title={plain(f.path)}
        onClick={() => document.getElementById(fileId(f.path))?.scrollIntoView({ block: "start" })}
      >
        <Icon name={kindIcons[f.kind] ?? "pencil"} />
        <span class="cut">
          {plain(f.path.slice(at))} <span class="dim">{plain(f.path.slice(0, Math.max(0, at - 1)))}</span>
        </span>
        <span class="meta">
          <Counts diff={f} />
        </span>
      </button>
    </li>
  );
}

/** The collected comments, and the button that sends them as one message. */
function ReviewList({ store, review }: { store: SessionStore; review: Review }) {
  const t = w.value;
  const text = review.words.value;
  const [busy, setBusy] = useState(false);
  const all = review.comments.value;
  const open = all.filter((c) => c.state === "open");
  const running = isBusy(store.settled);
  const send = async () => {
    setBusy(true);
    const here = fromHere();
    const ok = await review.send(text.trim());
    setBusy(false);
    if (!ok) return;
    review.words.value = "";
    // Comments that could not be sent stay here, with the current lines.
    if (here() && review.stale.peek().size === 0) go({ page: "session", ids: [store.id] });
  };
  return (
    <section aria-label={t.review_.title}>
      <h2 class="grp">{t.review_.titleN(all.length)}</h2>
      {all.length === 0 && <p class="pad dim">{t.review_.none}</p>}
      {all.map((c) => (
        <CommentView key={c.id} c={c} review={review} listed />
      ))}
      {open.length > 0 && (
        <div class="cmt-send" onKeyDown={(e) => e.stopPropagation()}>
          <label class="sr" for="review-text">
            {t.review_.before_}
          </label>
          <textarea
            id="review-text"
            class="inp"
            rows={2}
            placeholder={t.review_.before_}
            value={text}
            onInput={(e) => {
              review.words.value = e.currentTarget.value;
            }}
          />
          <Button kind="primary" busy={busy} icon="arrowUp" onClick={() => void send()}>
            {t.review_.send(open.length)}
          </Button>
          {running && <p class="hint dim">{t.review_.afterTurn}</p>}
        </div>
      )}
    </section>
  );
}
