// The server, and the space that its data takes, for those who run it.

import { useEffect, useState } from "preact/hooks";
import type { StorageKind } from "../../rpc/service";
import { call, hello, w } from "../../state/app";
import { plain } from "../../state/safe";
import { bytes } from "../../state/time";
import { Row } from "./row";

export function About() {
  const t = w.value;
  const h = hello.value;
  return (
    <div class="set-card">
      <Row name={h ? plain(`${h.name} ${h.version}`) : t.server} note={h ? (t.roles[h.role] ?? plain(h.role)) : "–"} />
      {h?.role === "admin" && <Storage />}
    </div>
  );
}

function Storage() {
  const [kinds, setKinds] = useState<StorageKind[]>();
  const [failed, setFailed] = useState("");
  useEffect(() => {
    call("server.storage", {})
      .then((r) => setKinds(r.kinds))
      .catch((e: Error) => setFailed(e.message));
  }, []);
  const t = w.value.storage_;
  if (failed) return <Row name={t.title} error={plain(failed)} />;
  return (
    <>
      {kinds?.map((k) => (
        <Row key={k.name} name={t.kinds[k.name] ?? plain(k.name)}>
          <span class="storage dim" data-kind={k.name}>
            {k.at_least ? t.atLeast(bytes(k.bytes)) : bytes(k.bytes)} · {k.limit_bytes ? t.limit(bytes(k.limit_bytes)) : t.kept}
          </span>
        </Row>
      ))}
    </>
  );
}
