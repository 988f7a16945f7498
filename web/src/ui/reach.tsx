// What the agent of a session can reach on its machine, as the server finds when it is asked.

import { useEffect, useState } from "preact/hooks";
import type { IsolationResult } from "../rpc/service";
import { call, sayError, w } from "../state/app";
import { sayBox } from "../state/box";
import { plain } from "../state/safe";
import { live } from "../state/sessions";
import type { SessionStore } from "../state/session";
import { shortPath } from "../state/tools";
import { Icon } from "./icon";
import { Section } from "./section";

export function Reach({ store }: { store: SessionStore }) {
  const t = w.value.sandbox;
  const box = live.value.find((s) => s.session_id === store.id)?.box;
  const [open, setOpen] = useState(false);
  const found = useReport(store.id, open);
  return (
    <Section title={t.reach} meta={box ? sayBox(box) : t.none} folded onOpen={setOpen}>
      {box?.credentials && <p class="pad">{t.credentials}</p>}
      {found === undefined && open && (
        <p class="pad dim" role="status">
          {t.looking}
        </p>
      )}
      {typeof found === "string" && <p class="pad dim">{found}</p>}
      {typeof found === "object" && <Report of={found} cwd={store.settled.cwd} />}
    </Section>
  );
}

/** What the server finds, or why it finds nothing; undefined until it answers. */
function useReport(session: string, open: boolean): IsolationResult | string | undefined {
  const [found, setFound] = useState<IsolationResult | string>();
  useEffect(() => {
    if (!open) return setFound(undefined);
    let gone = false;
    call("session.isolation", { session_id: session }).then(
      (r) => !gone && setFound(r),
      (err) => !gone && setFound(sayError(err)),
    );
    return () => {
      gone = true;
    };
  }, [session, open]);
  return found;
}

function Report({ of, cwd }: { of: IsolationResult; cwd: string | undefined }) {
  const t = w.value.sandbox;
  const lists = [
    [t.reads, of.read],
    [t.writes, of.write],
    [t.network, of.network],
    [t.secrets, of.secrets],
  ] as const;
  const say = (x: string) => t.places[x] ?? (x === cwd ? t.here : plain(shortPath(x, cwd)));
  return (
    <>
      <dl class="pad kv reach">
        {lists.map(([name, all]) => (
          <>
            <dt>{name}</dt>
            <dd>{all.length === 0 ? t.nothing : all.map((x) => <div key={x}>{say(x)}</div>)}</dd>
          </>
        ))}
      </dl>
      {of.checks.map((c) => (
        <div class="frow" key={c.name} title={plain(c.detail ?? "")}>
          <Icon name={c.ok ? "check" : "alert"} />
          <span class="cut">{t.checks[c.name]?.[c.ok ? 0 : 1] ?? plain(c.detail ?? c.name)}</span>
        </div>
      ))}
    </>
  );
}
