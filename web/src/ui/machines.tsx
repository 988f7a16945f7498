// Machines: where agents can run, whether they are reachable, and how to add one.

import { useEffect, useState } from "preact/hooks";
import type { Machine } from "../rpc/service";
import { copyText } from "../state/actions";
import { call, hello, now, sayError, toast, tryCall, w } from "../state/app";
import { joinCommand, machines, refreshMachines, sessionsOf } from "../state/machines";
import { chooseMachine } from "../state/choices";
import { clock, isLoopback } from "../state/pairing";
import { lang } from "../state/prefs";
import { agentName } from "../state/providers";
import { plain } from "../state/safe";
import { go } from "../state/route";
import { live } from "../state/sessions";
import { clockTime, duration } from "../state/time";
import { mw } from "../state/words.machines";
import { Button } from "./button";
import { confirm, Dialog } from "./dialog";
import { MenuButton } from "./frame";
import { Icon } from "./icon";
import { Skeleton } from "./small";
import { useMachines } from "./usemachines";

export default function MachinesPage() {
  const t = mw.value;
  const [adding, setAdding] = useState(false);
  useMachines(adding ? 1500 : 5000);
  const all = machines.value;
  const may = hello.value?.role === "admin";
  return (
    <main class="centre" id="main">
      <header class="bar">
        <MenuButton />
        <h1>{t.title}</h1>
        {all && <span class="dim num">{all.length}</span>}
        <span class="sp" />
        {may && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )}
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.title}>
        {all === undefined ? (
          <Skeleton />
        ) : (
          <div class="machines">
            {all.length === 0 && <p class="empty-line">{t.none}</p>}
            {all.map((m) => (
              <MachineCard key={m.name} m={m} may={may} />
            ))}
            {!may && <p class="dim">{t.adminOnly}</p>}
          </div>
        )}
      </div>
      {adding && <AddDialog close={() => setAdding(false)} />}
    </main>
  );
}

function MachineCard({ m, may }: { m: Machine; may: boolean }) {
  const t = mw.value;
  const name = plain(m.name);
  const away = m.state !== "reachable";
  const counts = sessionsOf(m.name, live.value);
  const since = Date.parse(m.since);
  const out = async () => {
    const text = t.shutOutText(counts.run + counts.wait);
    if (!(await confirm({ title: t.shutOutTitle(name), text, ok: t.shutOut, danger: true }))) return;
    if (await tryCall("tokens.revoke", { id: m.token ?? "" })) toast(t.shutOutDone(name));
    await refreshMachines().catch(() => {});
  };
  return (
    <section class="machine" aria-label={name}>
      <header>
        <Icon name="server" />
        <h2>{name}</h2>
        <span class={away ? "warnc" : "dim"}>
          {away ? t.away(clockTime(since, lang.value)) : t.connected(duration(Math.max(0, now.value - since), w.value))}
        </span>
        <span class="sp" />
        <Button
          small
          disabled={away}
          title={t.newHere(name)}
          onClick={() => {
            chooseMachine(m.name);
            go({ page: "new" });
          }}
        >
          {t.newSession}
        </Button>
        {may && m.token && (
          <Button small kind="danger" onClick={() => void out()}>
            {t.shutOut}
          </Button>
        )}
      </header>
      <dl>
        <Figure name={t.sessions} lines={[t.counts(counts.run, counts.wait), m.slots ? t.places(m.slots) : t.noLimit]} />
        <Figure name={t.agents} lines={m.agents.map(agentName)} />
        <Figure name={t.folders} lines={m.directories} mono />
        <Figure name={t.sandbox} lines={[m.box ? plain(m.box) : t.noSandbox, plain(m.system ?? ""), ...(m.labels ?? []).map(plain)]} />
      </dl>
      {away && (
        <p class="machine-note">
          <Icon name="info" /> {t.awayNote}
        </p>
      )}
    </section>
  );
}

function Figure({ name, lines, mono }: { name: string; lines: readonly string[]; mono?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      {lines
        .filter((l) => l !== "")
        .map((l) => (
          <dd key={l} class={mono ? "mono" : ""}>
            {plain(l)}
          </dd>
        ))}
    </div>
  );
}

interface Code {
  id: string;
  code: string;
  expires: number;
}

/** The command, and a code that the command asks for. It closes when the machine has joined. */
function AddDialog({ close }: { close: () => void }) {
  const t = mw.value;
  const [name, setName] = useState("");
  const [dirs, setDirs] = useState("~/src");
  const [slots, setSlots] = useState("");
  const [made, setMade] = useState<Code>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let gone = false;
    let id = "";
    const end = () => void (id && call("pairing.cancel", { id }).catch(() => {}));
    call("pairing.create", { role: "host", name: t.title })
      .then((r) => {
        id = r.id;
        if (gone) end();
        else setMade({ id: r.id, code: r.code, expires: Date.parse(r.expires_at) });
      })
      .catch((err) => toast(sayError(err), true));
    return () => {
      gone = true;
      end();
    };
  }, [tries]);
  const joined = made && machines.value?.find((m) => m.token === made.id);
  useEffect(() => {
    if (!joined) return;
    toast(t.joined(plain(joined.name), joined.agents.map(agentName).join(", ")));
    close();
  }, [joined]);
  const left = made ? Math.ceil((made.expires - now.value) / 1000) : 0;
  const folders = dirs.split(",").map((d) => d.trim());
  const command = joinCommand(document.baseURI, { name: name.trim(), dirs: folders.filter((d) => d !== ""), slots: slots.trim() });
  return (
    <Dialog title={t.addTitle} close={close} class="add-machine">
      <div class="dlg-b">
        <div class="fields">
          <Field label={t.name} value={name} set={setName} />
          <Field label={t.foldersOffered} value={dirs} set={setDirs} note={t.foldersNote} />
          <Field label={t.slots} value={slots} set={setSlots} />
        </div>
        {isLoopback(location.hostname) && (
          <p class="warnc">
            <Icon name="alert" /> {t.loopback(location.hostname)}
          </p>
        )}
        <p>{t.run}</p>
        <Copied text={command} />
        <p>{t.code}</p>
        <Copied text={made && left > 0 ? made.code : ""} />
        <p role="status" class="dim">
          {made && left <= 0 ? t.expired : t.waits(clock(Math.max(0, left)))}{" "}
          {made && left <= 0 && (
            <Button small onClick={() => setTries(tries + 1)}>
              {t.newCode}
            </Button>
          )}
        </p>
      </div>
    </Dialog>
  );
}

function Field({ label, value, set, note }: { label: string; value: string; set: (v: string) => void; note?: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input class="inp" value={value} autocomplete="off" spellcheck={false} onInput={(e) => set(e.currentTarget.value)} />
      {note && <span class="dim">{note}</span>}
    </label>
  );
}

function Copied({ text }: { text: string }) {
  return (
    <div class="copied">
      <code class="mono">{text}</code>
      <Button small icon="copy" disabled={text === ""} onClick={() => void copyText(text)}>
        {mw.value.copy}
      </Button>
    </div>
  );
}
