// The report of an agent's reach on its machine.

import { useEffect, useState } from "preact/hooks";
import type { IsolationResult } from "../rpc/service";
import { call, sayError } from "../state/app";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { shortPath } from "../state/tools";
import { found as words } from "../state/words.box";
import { Icon } from "./icon";

export default function Found({ store }: { store: SessionStore }) {
  const found = useReport(store.id);
  if (typeof found === "object") return <Report of={found} cwd={store.settled.cwd} />;
  return (
    <p class="pad dim" role="status">
      {found ?? words.value.looking}
    </p>
  );
}

/**
 * Returns the server's report, or a text with the reason why there is no report; undefined until
 * the server answers.
 */
function useReport(session: string): IsolationResult | string | undefined {
  const [found, setFound] = useState<IsolationResult | string>();
  useEffect(() => {
    let gone = false;
    call("session.isolation", { session_id: session }).then(
      (r) => !gone && setFound(r),
      (err) => !gone && setFound(sayError(err)),
    );
    return () => {
      gone = true;
    };
  }, [session]);
  return found;
}

function Report({ of, cwd }: { of: IsolationResult; cwd: string | undefined }) {
  const t = words.value;
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
