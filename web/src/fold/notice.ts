import type { Hook, Notice, SessionInfo } from "../rpc/messages";
import type { HookRun, NoticeRow } from "./conversation";
import { isObj, over, setText, setValue, str } from "./json";
import type { Lookup } from "./lookup";
import { replace } from "./session";

/** How many notices and runs of hooks are kept. Older ones are counted. */
const maxRows = 100;

export function notice(x: Lookup, msg: Notice): void {
  const row: NoticeRow = { notice: msg };
  setText(row, "turnId", x.turn?.id);
  const rows = x.state.notices;
  rows.push(row);
  if (rows.length > maxRows) {
    rows.shift();
    x.state.noticesOmitted = (x.state.noticesOmitted ?? 0) + 1;
  }
}

export function hook(x: Lookup, msg: Hook): void {
  const { output, ...event } = msg;
  const run = x.hooks.get(str(msg.hook_id)) ?? newHook(x, event);
  over(run.hook, event);
  // At the end it is all of it.
  if (msg.state === "finished") setText(run, "output", output);
  else setText(run, "output", (run.output ?? "") + str(output));
}

function newHook(x: Lookup, event: Hook): HookRun {
  const run: HookRun = { hook: { ...event } };
  const runs = x.state.hooks;
  runs.push(run);
  x.hooks.set(str(event.hook_id), run);
  while (runs.length > maxRows) {
    const old = runs.shift();
    if (old !== undefined && x.hooks.get(old.hook.hook_id) === old) x.hooks.delete(old.hook.hook_id);
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
  if (Array.isArray(msg.mcp_servers)) s.mcpServers = msg.mcp_servers.filter(isObj);
  setValue(s, "commands", msg.commands);
}
