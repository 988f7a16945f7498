// What the data of the server takes, for those who run it.

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StorageKind } from "../rpc/service";
import { call, w } from "../state/app";
import { plain } from "../state/safe";
import { bytes } from "../state/time";

export function Storage() {
  const [kinds, setKinds] = useState<StorageKind[]>();
  const [failed, setFailed] = useState("");
  useEffect(() => {
    call("server.storage", {})
      .then((r) => setKinds(r.kinds))
      .catch((e: Error) => setFailed(e.message));
  }, []);
  const t = w.value.storage_;
  if (failed) return (
      <dd>
        <span role="status">{plain(failed)}</span>
      </dd>
    );
  return (
    <>
      {kinds?.map((k) => (
        <Fragment key={k.name}>
          <dt>{t.kinds[k.name] ?? plain(k.name)}</dt>
          <dd class="storage" data-kind={k.name}>
            {k.at_least ? t.atLeast(bytes(k.bytes)) : bytes(k.bytes)} · {k.limit_bytes ? t.limit(bytes(k.limit_bytes)) : t.kept}
          </dd>
        </Fragment>
      ))}
    </>
  );
}
