// Tokens and devices: a code that pairs a phone, the list of tokens with their roles, and revoking one.

import { useEffect, useState } from "preact/hooks";
import type { TokenInfo } from "../../rpc/service";
import { copyText } from "../../state/actions";
import { call, hello, now, sayError, toast, tryCall, w } from "../../state/app";
import { clock, endPairing, type Paired, pairing, pairingUrl, roles, startPairing } from "../../state/pairing";
import { lang } from "../../state/prefs";
import { plain } from "../../state/safe";
import { age } from "../../state/time";
import { Button } from "../button";
import { confirm } from "../dialog";
import { Icon } from "../icon";
import { Seg } from "../segmented";
import { QrPicture } from "./qr";
import { Row } from "./row";

export function DeviceSettings() {
  const t = w.value.set_;
  const may = hello.value?.role === "admin";
  const [all, setAll] = useState<readonly TokenInfo[]>([]);
  const [version, setVersion] = useState(0);
  const p = pairing.value;
  useEffect(() => {
    if (!may) return;
    let gone = false;
    const load = () =>
      void call("tokens.list", {})
        .then((r) => {
          if (gone) return;
          setAll(r.tokens ?? []);
          const paired = p?.state === "open" && r.tokens?.find((x) => x.id === p.id);
          if (paired) pairing.value = { state: "used", name: paired.name ?? "" };
        })
        .catch(() => {});
    load();
    const id = setInterval(load, p?.state === "open" ? 1500 : 15_000);
    return () => {
      gone = true;
      clearInterval(id);
    };
  }, [may, version, p?.state]);
  useEffect(() => () => void endPairing(), []);
  if (!may)
    return (
      <div class="set-card">
        <ThisBrowser />
        <Row name={t.adminOnly} />
      </div>
    );
  const listed = all.filter((x) => !x.current);
  return (
    <div class="set-card">
      <PairPhone p={p} />
      <ThisBrowser />
      {listed.map((x) => (
        <Token key={x.id} x={x} changed={() => setVersion((n) => n + 1)} />
      ))}
      <NewToken changed={() => setVersion((n) => n + 1)} />
    </div>
  );
}

function ThisBrowser() {
  const t = w.value.set_;
  return (
    <Row name={t.thisBrowser} note={t.rights[hello.value?.role ?? ""] ?? ""}>
      <span class="chip ok">{t.inUse}</span>
    </Row>
  );
}

function Token({ x, changed }: { x: TokenInfo; changed: () => void }) {
  const t = w.value.set_;
  const name = plain(x.name || x.id);
  const right = x.session_id ? t.linkOnly : (t.rights[x.role] ?? plain(x.role));
  const seen = x.used_at ? t.lastSeen(age(x.used_at, now.value, w.value, lang.value)) : t.notSeen;
  const out = async () => {
    if (!(await confirm({ title: t.shutOutTitle(name), text: t.shutOutText, ok: t.shutOut, danger: true }))) return;
    if (await tryCall("tokens.revoke", { id: x.id })) toast(t.shutOutDone(name));
    changed();
  };
  return (
    <Row name={name} note={`${right}, ${seen}`} class="device">
      {x.device && <span class="chip">{t.device}</span>}
      <Button small kind="danger" onClick={() => void out()}>
        {t.shutOut}
      </Button>
    </Row>
  );
}

/** The code for a phone. It is dark on white in both themes: cameras require that. */
function PairPhone({ p }: { p: Paired | undefined }) {
  const t = w.value.set_;
  const [role, setRole] = useState<(typeof roles)[number]>("operator");
  const [name, setName] = useState(t.phone);
  if (p?.state === "open") {
    const left = Math.ceil((p.expires - now.value) / 1000);
    if (left <= 0) void endPairing();
    const url = pairingUrl(p, document.baseURI);
    return (
      <div class="set-row pair">
        <QrPicture text={url} label={t.qr} />
        <div class="set-l">
          <span class="set-n">{t.pair}</span>
          <ol>
            {t.pairSteps.map((s) => (
              <li key={s}>{s}</li>
            ))}
          </ol>
          <span class="dim">
            {t.rights[p.role]}. {t.codeLeft(clock(Math.max(0, left)))}
          </span>
          {url.startsWith("http:") && <span class="dim">{t.pairPlain}</span>}
          <span class="acts">
            <Button small icon="copy" onClick={() => void copyText(url)}>
              {t.copyLink}
            </Button>
            <Button small onClick={() => void endPairing()}>
              {t.hideCode}
            </Button>
          </span>
        </div>
      </div>
    );
  }
  return (
    <Row
      name={t.pair}
      class="pair-start"
      note={
        p?.state === "loopback" || p?.state === "unknown" ? (
          <span class="warnc" role="status">
            <Icon name="alert" /> {p.state === "loopback" ? t.loopback(location.hostname) : t.noAddress}
          </span>
        ) : p?.state === "used" ? (
          <span class="okc" role="status">
            <Icon name="check" /> {t.paired(plain(p.name))}
          </span>
        ) : (
          t.pairNote
        )
      }
    >
      <input class="inp sm set-name" aria-label={t.deviceName} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      <Seg label={t.right} value={role} options={roles.map((r) => [r, t.rightsShort[r]])} set={setRole} />
      <Button
        small
        disabled={name.trim() === ""}
        onClick={() => void startPairing(role, name.trim()).catch((err) => toast(sayError(err), true))}
      >
        {t.showCode}
      </Button>
    </Row>
  );
}

/** A token for a program: it is shown once. */
function NewToken({ changed }: { changed: () => void }) {
  const t = w.value.set_;
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [role, setRole] = useState<(typeof roles)[number]>("viewer");
  const [made, setMade] = useState("");
  const create = async () => {
    const r = await tryCall("tokens.create", { role, name: name.trim() });
    if (!r) return;
    setMade(r.token);
    changed();
  };
  if (made !== "")
    return (
      <Row name={t.tokenOnce} note={<code class="set-token">{made}</code>}>
        <Button small icon="copy" onClick={() => void copyText(made)}>
          {t.copyToken}
        </Button>
        <Button
          small
          onClick={() => {
            setMade("");
            setOpen(false);
          }}
        >
          {t.done}
        </Button>
      </Row>
    );
  if (!open)
    return (
      <Row name={t.newToken} note={t.newTokenNote}>
        <Button small icon="plus" onClick={() => setOpen(true)}>
          {t.newToken}
        </Button>
      </Row>
    );
  return (
    <Row name={t.newToken} note={t.newTokenNote}>
      <input class="inp sm set-name" aria-label={t.tokenName} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      <Seg label={t.right} value={role} options={roles.map((r) => [r, t.rightsShort[r]])} set={setRole} />
      <Button small disabled={name.trim() === ""} onClick={() => void create()}>
        {t.create}
      </Button>
    </Row>
  );
}
