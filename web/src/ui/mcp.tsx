// The MCP servers of a session: their state, their tools, reconnecting, and switching them on and off.

import { useEffect, useState } from "preact/hooks";
import { get, list, str } from "../fold/json";
import type { MCPTool } from "../rpc/service";
import { call, sayError, toast, tryCall, w } from "../state/app";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { IconButton } from "./button";
import { Section } from "./section";

interface McpServer {
  name: string;
  status: string;
  error: string;
}

function serverOf(v: unknown): McpServer {
  return { name: str(get(v, "name")), status: str(get(v, "status")), error: str(get(v, "error")) };
}

const tones: Readonly<Record<string, string>> = { connected: "ok", failed: "bad", "needs-auth": "warn" };

export function McpServers({ store }: { store: SessionStore }) {
  const t = w.value;
  const c = store.settled;
  const known = (c.mcpServers ?? []).map(serverOf);
  const [asked, setAsked] = useState<readonly McpServer[]>();
  const [open, setOpen] = useState(false);
  const [version, setVersion] = useState(0);
  const running = c.state === "idle" || c.state === "running" || c.state === "requires_action";
  useEffect(() => {
    if (!open || !running) return;
    let gone = false;
    call("mcp.status", { session_id: store.id })
      .then((r) => !gone && setAsked(list(r.servers).map(serverOf)))
      // If the agent cannot be asked, the servers known from its start are shown.
      .catch(() => {});
    return () => {
      gone = true;
    };
  }, [store.id, open, running, version]);
  const all = asked ?? known;
  return (
    <Section title={t.mcp.title} meta={all.length > 0 ? String(all.length) : ""} folded onOpen={setOpen}>
      {all.length === 0 && <p class="pad dim">{t.mcp.none}</p>}
      {all.map((s) => (
        <Server key={s.name} session={store.id} s={s} changed={() => setVersion((n) => n + 1)} />
      ))}
    </Section>
  );
}

function Server({ session, s, changed }: { session: string; s: McpServer; changed: () => void }) {
  const t = w.value;
  const [tools, setTools] = useState<readonly MCPTool[]>();
  const [busy, setBusy] = useState(false);
  // The switch stays where the person put it until the agent has reported its state.
  const [wanted, setWanted] = useState<boolean>();
  useEffect(() => setWanted(undefined), [s]);
  const on = wanted ?? s.status !== "disabled";
  const name = plain(s.name);
  const act = async (f: () => Promise<unknown>, done?: string) => {
    setBusy(true);
    const r = await f();
    setBusy(false);
    if (r === undefined) setWanted(undefined);
    else if (done) toast(done);
    changed();
  };
  const show = async () => {
    if (tools) return setTools(undefined);
    try {
      setTools((await call("mcp.tools", { session_id: session, server_name: s.name })).tools ?? []);
    } catch (err) {
      toast(sayError(err), true);
    }
  };
  return (
    <div class="mcp">
      <div class="l">
        <label class="pick">
          <input
            type="checkbox"
            role="switch"
            aria-label={t.mcp.on(name)}
            aria-checked={on}
            checked={on}
            disabled={busy}
            onChange={(e) => {
              const enabled = e.currentTarget.checked;
              setWanted(enabled);
              void act(() => tryCall("mcp.toggle", { session_id: session, server_name: s.name, enabled }));
            }}
          />
          <span class="cut strong">{name}</span>
        </label>
        <span class={`chip ${tones[s.status] ?? ""}`}>{t.mcp.states[s.status] ?? plain(s.status)}</span>
        <span class="sp" />
        <IconButton
          small
          icon="wrench"
          label={t.mcp.showTools(name)}
          expanded={tools !== undefined}
          onClick={() => void show()}
        />
        <IconButton
          small
          icon="refresh"
          label={t.mcp.reconnect(name)}
          busy={busy}
          onClick={() =>
            void act(
              () => tryCall("mcp.reconnect", { session_id: session, server_name: s.name }),
              t.mcp.reconnected(name),
            )
          }
        />
      </div>
      {s.error !== "" && <p class="err">{plain(s.error)}</p>}
      {tools && tools.length === 0 && <p class="dim">{t.mcp.noTools}</p>}
      {tools && tools.length > 0 && (
        <ul aria-label={t.mcp.showTools(name)}>
          {tools.slice(0, 200).map((x) => (
            <li key={x.name}>
              <span class="mono">{plain(x.name)}</span> <span class="dim">{plain(x.description ?? "")}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
