import type { Hook, Notice, Retry, SessionInfo } from "../rpc/messages";
import type { HookRun, NoticeRow, RetryState } from "./conversation";
import { num, setNumber, setText, setValue, str } from "./json";
import type { Lookup } from "./lookup";
import { replace, servers } from "./session";

/** How many notices and runs of hooks are kept. Older ones are counted. */
const maxRows = 100;

export function notice(x: Lookup, msg: Notice): void {
  const row: NoticeRow = { severity: str(msg.severity), text: str(msg.text) };
  setText(row, "code", msg.code);
  setText(row, "toolUseId", msg.tool_use_id);
  setText(row, "turnId", x.turn?.id);
  const rows = x.state.notices;
  rows.push(row);
  if (rows.length > maxRows) {
    rows.shift();
    x.state.noticesOmitted = (x.state.noticesOmitted ?? 0) + 1;
  }
}

export function retry(x: Lookup, msg: Retry): void {
  const r: RetryState = { attempt: num(msg.attempt) };
  setNumber(r, "maxAttempts", msg.max_attempts);
  setNumber(r, "delayMs", msg.delay_ms);
  setText(r, "reason", msg.reason);
  setNumber(r, "status", msg.status);
  x.state.retry = r;
}

export function hook(x: Lookup, msg: Hook): void {
  const id = str(msg.hook_id);
  const run = x.hooks.get(id) ?? newHook(x, id);
  setText(run, "name", msg.name);
  setText(run, "event", msg.event);
  if (str(msg.state) !== "") run.state = str(msg.state);
  setText(run, "outcome", msg.outcome);
  setText(run, "decision", msg.decision);
  setText(run, "message", msg.message);
  setText(run, "toolUseId", msg.tool_use_id);
  setNumber(run, "exitCode", msg.exit_code);
  // At the end it is all of it.
  if (msg.state === "finished") setText(run, "output", msg.output);
  else setText(run, "output", (run.output ?? "") + str(msg.output));
}

function newHook(x: Lookup, id: string): HookRun {
  const run: HookRun = { id, state: "" };
  const runs = x.state.hooks;
  runs.push(run);
  x.hooks.set(id, run);
  while (runs.length > maxRows) {
    const old = runs.shift();
    if (old !== undefined && x.hooks.get(old.id) === old) x.hooks.delete(old.id);
    x.state.hooksOmitted = (x.state.hooksOmitted ?? 0) + 1;
  }
  return run;
}

export function sessionInfo(x: Lookup, msg: SessionInfo): void {
  const s = x.state;
  if (typeof msg.title === "string") replace(s, "title", msg.title);
  if (typeof msg.goal === "string") replace(s, "goal", msg.goal);
  if (typeof msg.model === "string") replace(s, "model", msg.model);
  if (typeof msg.permissionMode === "string") replace(s, "permissionMode", msg.permissionMode);
  if (typeof msg.sandbox === "string") replace(s, "sandbox", msg.sandbox);
  if (typeof msg.cwd === "string") replace(s, "cwd", msg.cwd);
  if (msg.archived === true) s.archived = true;
  else if (msg.archived === false) delete s.archived;
  if (msg.deleted === true) s.deleted = true;
  else if (msg.deleted === false) delete s.deleted;
  if (Array.isArray(msg.mcp_servers)) (s.init ??= {}).mcpServers = servers(msg.mcp_servers);
  setValue(s, "commands", msg.commands);
}
