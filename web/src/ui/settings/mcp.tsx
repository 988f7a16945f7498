// MCP servers in the settings of a project: added, changed, tested in a session that runs, removed. Secrets are set and never shown.

import { useEffect, useState } from "preact/hooks";
import { get, list, str } from "../../fold/json";
import type { MCPConfig } from "../../rpc/service";
import { copyText } from "../../state/actions";
import { call, hello, sayError, toast, w } from "../../state/app";
import { pairsOf, wordsOf } from "../../state/mcpform";
import { plain } from "../../state/safe";
import { live } from "../../state/sessions";
import { Button, IconButton } from "../button";
import { confirm } from "../dialog";
import { Seg } from "../segmented";
import { ProjectRow, settingsOf, Unread } from "./project";
import { Row } from "./row";

export function McpSettings() {
  const t = w.value.set_;
  const of = settingsOf();
  const [all, setAll] = useState<readonly MCPConfig[]>();
  const [error, setError] = useState<unknown>();
  const [version, setVersion] = useState(0);
  const [editing, setEditing] = useState<MCPConfig>();
  const may = hello.value?.role === "admin";
  const reload = () => setVersion((n) => n + 1);
  useEffect(() => {
    let gone = false;
    setError(undefined);
    call("mcp.configured", of)
      .then((r) => !gone && setAll(r.servers ?? []))
      .catch((err) => {
        if (gone) return;
        setAll(undefined);
        setError(err);
      });
    return () => {
      gone = true;
    };
  }, [of.cwd, of.provider, version]);
  return (
    <div class="set-card">
      <ProjectRow />
      <Unread error={error} />
      {all?.length === 0 && <Row name={t.noServers} note={t.noServersNote} />}
      {all?.map((s) => (
        <ServerRow key={`${s.scope} ${s.name}`} s={s} may={may} edit={() => setEditing(s)} changed={reload} />
      ))}
      {may && all && editing === undefined && (
        <Row name={t.addServer} note={t.addServerNote}>
          <Button small icon="plus" onClick={() => setEditing({ name: "", type: "stdio" })}>
            {t.addServer}
          </Button>
        </Row>
      )}
      {editing && (
        <ServerForm
          key={editing.name}
          s={editing}
          done={() => {
            setEditing(undefined);
            reload();
          }}
        />
      )}
    </div>
  );
}

/** The state of a server in the first session that runs in the project. */
async function stateIn(cwd: string, name: string): Promise<string | undefined> {
  const inside = live.peek().filter((s) => (s.repo || s.cwd) === cwd && s.provider === "claude" && s.state !== "ended");
  for (const s of inside) {
    const r = await call("mcp.status", { session_id: s.session_id }).catch(() => undefined);
    const one = list(r?.servers).find((x) => str(get(x, "name")) === name);
    if (one === undefined) continue;
    await call("mcp.reconnect", { session_id: s.session_id, server_name: name }).catch(() => undefined);
    const again = await call("mcp.status", { session_id: s.session_id }).catch(() => undefined);
    return str(get(list(again?.servers).find((x) => str(get(x, "name")) === name) ?? one, "status"));
  }
  return undefined;
}

function ServerRow({ s, may, edit, changed }: { s: MCPConfig; may: boolean; edit: () => void; changed: () => void }) {
  const t = w.value.set_;
  const { cwd, provider } = settingsOf();
  const [state, setState] = useState("");
  const [busy, setBusy] = useState(false);
  const name = plain(s.name);
  const own = s.scope === "project";
  const test = async () => {
    setBusy(true);
    const found = await stateIn(cwd, s.name);
    setBusy(false);
    setState(found === undefined ? "" : found);
    if (found === undefined) toast(t.testNeedsSession);
  };
  const remove = async () => {
    if (!(await confirm({ title: t.removeServer(name), text: t.removeServerText, ok: w.peek().deleteDo, danger: true }))) return;
    await call("mcp.unconfigure", { cwd, provider, name: s.name }).catch((err) => toast(sayError(err), true));
    changed();
  };
  const what = s.type === "stdio" ? [s.command ?? "", ...(s.args ?? [])].join(" ") : `${s.type}, ${s.url ?? ""}`;
  return (
    <Row
      class="mcp-row"
      name={
        <>
          {name}
          {state !== "" && <span class={`chip ${state === "connected" ? "ok" : "warn"}`}>{w.value.mcp.states[state] ?? plain(state)}</span>}
        </>
      }
      note={
        <span title={plain(s.file ?? "")}>
          {plain(what)} · {own ? t.keptIn.project : t.keptIn.user}
        </span>
      }
    >
      <Button small busy={busy} onClick={() => void test()}>
        {t.test}
      </Button>
      {state === "needs-auth" && (
        <Button small title={t.logInNote} onClick={() => void copyText("claude /mcp")}>
          {t.logIn}
        </Button>
      )}
      {may && own && (
        <>
          <IconButton small icon="pencil" label={t.editServer(name)} onClick={edit} />
          <IconButton small icon="trash" label={t.removeServer(name)} onClick={() => void remove()} />
        </>
      )}
    </Row>
  );
}

function ServerForm({ s, done }: { s: MCPConfig; done: () => void }) {
  const t = w.value.set_;
  const [name, setName] = useState(s.name);
  const [type, setType] = useState(s.type === "stdio" ? "stdio" : "http");
  const [command, setCommand] = useState([s.command ?? "", ...(s.args ?? [])].join(" ").trim());
  const [url, setUrl] = useState(s.url ?? "");
  const secrets = type === "stdio" ? s.env : s.headers;
  const [pairs, setPairs] = useState(Object.keys(secrets ?? {}).map((k) => `${k}=`).join("\n"));
  const [error, setError] = useState("");
  const save = async () => {
    const [first = "", ...args] = wordsOf(command);
    const server: MCPConfig =
      type === "stdio"
        ? { name: name.trim(), type, command: first, ...(args.length > 0 ? { args } : {}), env: pairsOf(pairs) }
        : { name: name.trim(), type: s.type === "sse" ? "sse" : "http", url: url.trim(), headers: pairsOf(pairs) };
    try {
      await call("mcp.configure", { ...settingsOf(), server });
      done();
    } catch (err) {
      setError(sayError(err));
    }
  };
  return (
    <div class="set-row set-form">
      <Seg
        label={t.kind}
        value={type}
        options={[
          ["stdio", t.kinds.stdio],
          ["http", t.kinds.http],
        ]}
        set={setType}
      />
      <label>
        {t.serverName}
        <input class="inp" value={name} disabled={s.name !== ""} onInput={(e) => setName(e.currentTarget.value)} />
      </label>
      {type === "stdio" ? (
        <label>
          {t.command}
          <input class="inp mono" value={command} onInput={(e) => setCommand(e.currentTarget.value)} />
        </label>
      ) : (
        <label>
          {t.address}
          <input class="inp mono" inputMode="url" value={url} onInput={(e) => setUrl(e.currentTarget.value)} />
        </label>
      )}
      <label>
        {type === "stdio" ? t.env : t.headers}
        <textarea class="inp mono" rows={3} value={pairs} placeholder="NAME=value" onInput={(e) => setPairs(e.currentTarget.value)} />
        <span class="dim">{t.secretNote}</span>
      </label>
      {error !== "" && (
        <span class="err" role="alert">
          {error}
        </span>
      )}
      <span class="acts">
        <Button kind="primary" onClick={() => void save()}>
          {t.saveServer}
        </Button>
        <Button onClick={done}>{w.value.cancel}</Button>
      </span>
    </div>
  );
}
