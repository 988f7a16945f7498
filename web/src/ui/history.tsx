// A session on disk: loaded page by page, backwards, and continued.

import { useEffect, useRef, useState } from "preact/hooks";
import type { FoldedConversation } from "../fold/conversation";
import { isObj } from "../fold/json";
import { exportSession, startSession } from "../state/actions";
import { call, sayError, w } from "../state/app";
import { route } from "../state/route";
import { plain } from "../state/safe";
import { SessionStore } from "../state/session";
import { past } from "../state/sessions";
import { transcriptVersions } from "../state/versions";
import { Button, IconButton } from "./button";
import { FindBar, type Jump } from "./find";
import { MenuButton } from "./frame";
import { Skeleton, StateDot } from "./small";
import { Thread } from "./thread";

const page = 200;

/** Prepends an older page to the loaded items. */
export function prepend(older: FoldedConversation, newer: FoldedConversation): FoldedConversation {
  const [first, ...rest] = newer.threads;
  const items = [...(older.threads[0]?.items ?? []), ...(first?.items ?? [])];
  const known = new Set(rest.map((t) => t.parentToolUseId));
  return {
    ...newer,
    threads: [
      { ...(first ?? { parentToolUseId: "" }), items },
      ...rest,
      ...older.threads.slice(1).filter((t) => !known.has(t.parentToolUseId)),
    ],
    turns: [...(older.turns ?? []), ...(newer.turns ?? [])],
  };
}

function firstUuid(c: FoldedConversation): string | undefined {
  for (const item of c.threads[0]?.items ?? []) {
    const uuid = item.message?.uuid ?? item.message?.blocks.find((b) => b.uuid)?.uuid;
    if (uuid) return uuid;
  }
  return undefined;
}

export function HistoryPage() {
  const r = route.value;
  return r.page === "history" ? <History id={r.id} message={r.message} /> : null;
}

function History({ id, message }: { id: string; message?: string | undefined }) {
  const store = useRef(new SessionStore(id));
  const [more, setMore] = useState(false);
  const [error, setError] = useState("");
  const [jump, setJump] = useState<Jump>();
  const [ready, setReady] = useState(false);
  const busy = useRef(false);
  const leaf = useRef("");
  const t = w.value;
  const load = async (before?: string) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const r = await call("history.load", {
        session: id,
        limit: page,
        ...(before ? { before } : {}),
        ...(leaf.current ? { leaf: leaf.current } : {}),
      });
      if (!isObj(r.conversation)) throw new Error(t.gone);
      const got = r.conversation as unknown as FoldedConversation;
      store.current.reset({ epoch: "", seq: 0 }, before ? prepend(got, store.current.conversation) : got);
      setMore(r.has_more);
      setReady(true);
    } catch (err) {
      setError(sayError(err));
    } finally {
      busy.current = false;
    }
  };
  useEffect(() => {
    const s = new SessionStore(id);
    s.past = true;
    store.current = s;
    leaf.current = "";
    setReady(false);
    setError("");
    void load().then(async () => {
      const m = await call("history.metadata", { session: id }).catch(() => undefined);
      if (!m?.versions?.length) return;
      const versions = m.versions;
      s.versions = (uuid) => {
        const v = transcriptVersions(versions, uuid);
        if (v === undefined) return undefined;
        const show = (n: number) => {
          leaf.current = v.leaves[n] ?? "";
          void load();
        };
        return { count: v.leaves.length, at: v.at, show };
      };
      s.durable.value++;
    });
  }, [id]);
  const info = past.value.find((h) => h.session_id === id);
  const title =
    info?.custom_title || info?.summary || info?.first_prompt || store.current.conversation.title || t.untitled;
  const older = more ? () => void load(firstUuid(store.current.conversation)) : undefined;
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <StateDot dot="end" />
        <h1 class="cut" dir="auto">
          {plain(title)}
        </h1>
        <span class="sp" />
        <IconButton icon="download" label={t.exportMarkdown} onClick={() => void exportSession(id, "markdown")} />
      </header>
      {error !== "" ? (
        <div class="empty">
          <h2>{t.cannotRead}</h2>
          <p>{error}</p>
        </div>
      ) : ready ? (
        <>
          <FindBar store={store.current} jump={setJump} older={older} />
          <Thread key={id} store={store.current} older={older} target={message} jump={jump} />
        </>
      ) : (
        <Skeleton />
      )}
      <div class="dock plain">
        <div class="dock-in act">
          <span class="two">{info?.live === "terminal" ? t.inTerminalNote : t.pastNote}</span>
          <span class="sp" />
          <Button
            onClick={() =>
              void startSession({ resume_session_id: id, fork_session: true, ...(info?.cwd ? { cwd: info.cwd } : {}) })
            }
            icon="fork"
          >
            {t.fork}
          </Button>
          <Button
            kind="primary"
            onClick={() => void startSession({ resume_session_id: id, ...(info?.cwd ? { cwd: info.cwd } : {}) })}
          >
            {t.continueIt}
          </Button>
        </div>
      </div>
    </main>
  );
}
