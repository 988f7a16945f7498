import type { QueueUpdated, StatusSystem, SystemInit, TaskNotification, TaskProgress, TaskStarted, TaskUpdated } from "../rpc/messages";
import type { Decision, Prompt, QueueItem } from "./conversation";
import { isObj, list, over, setText, setValue, str } from "./json";
import type { Lookup, State } from "./lookup";

type TextKey = "state" | "status" | "cwd" | "model" | "permissionMode" | "sandbox" | "title" | "goal";

/** Sets a text of the state; an empty text removes it. */
export function replace(state: State, key: TextKey, text: unknown): void {
  delete state[key];
  setText(state, key, text);
}

export function systemInit(x: Lookup, msg: SystemInit): void {
  replace(x.state, "cwd", msg.cwd);
  replace(x.state, "model", msg.model);
  replace(x.state, "permissionMode", msg.permissionMode);
  replace(x.state, "sandbox", msg.sandbox);
  const { mcp_servers, ...init } = msg;
  delete x.state.mcpServers;
  if (Array.isArray(mcp_servers)) x.state.mcpServers = mcp_servers.filter(isObj);
  x.state.init = init;
}

export function status(x: Lookup, msg: StatusSystem): void {
  replace(x.state, "status", msg.status);
  setText(x.state, "permissionMode", msg.permissionMode);
}

export function queueChanged(x: Lookup, items: unknown): void {
  x.state.queue = list(items).filter(isObj) as unknown as QueueItem[];
}

/** Folds a change of the queue. */
export function queueUpdated(x: Lookup, msg: QueueUpdated): void {
  let all = [...x.state.queue];
  const place = new Map(all.map((item, i) => [item.id, i]));
  for (const item of list(msg.items).filter(isObj) as unknown as QueueItem[]) {
    const at = place.get(item.id);
    if (at === undefined) {
      place.set(item.id, all.length);
      all.push(item);
      continue;
    }
    const content = item.content ?? all[at]?.content;
    all[at] = content === undefined ? item : { ...item, content };
  }
  const removed = new Set(list(msg.removed));
  if (removed.size > 0) all = all.filter((item) => !removed.has(item.id));
  const order = new Map(list(msg.order).map((id, i, ids) => [id, i - ids.length])); // the others follow
  if (order.size > 0) all.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  x.state.queue = all;
}

/** Removes a prompt and records the answer at its tool. */
export function answered(
  x: Lookup,
  type: Prompt["type"],
  msg: { request_id: string; tool_use_id?: string; scope?: string; message?: string; by?: string },
  behavior: unknown,
): void {
  const prompt = x.answered(type, str(msg.request_id));
  const tool = x.tools.get(str(msg.tool_use_id) || str(prompt?.tool_use_id));
  if (tool === undefined) return;
  const d: Decision = { behavior: str(behavior) };
  setText(d, "scope", msg.scope);
  setText(d, "message", msg.message);
  setText(d, "by", msg.by);
  tool.decision = d;
}

/** Folds a state. In a state without a running agent, unfinished parts have ended. */
export function sessionState(x: Lookup, state: unknown): void {
  replace(x.state, "state", state);
  if (state !== "starting" && state !== "interrupted" && state !== "failed" && state !== "ended") return;
  for (const t of x.state.turns) t.done = true;
  for (const t of x.calls) if (t.status === "in_progress") t.status = "interrupted";
  for (const t of x.state.tasks) if (t.status === "running") t.status = "killed";
  x.calls = [];
  x.forgetBlock();
  delete x.state.status;
  delete x.state.retry;
  if (state === "starting" && (x.turn !== undefined || (x.state.threads[0]?.items.length ?? 0) > 0)) {
    x.state.restarts = x.restarts + 1;
  }
}

export function taskStarted(x: Lookup, msg: TaskStarted): void {
  const old = x.tasks.get(str(msg.task_id));
  // Another one, of a restarted agent.
  if (old !== undefined && (old.restart ?? 0) !== x.restarts) x.tasks.delete(old.id);
  const t = x.task(str(msg.task_id));
  t.started = over(t.started, msg);
  setText(t, "description", msg.description);
  t.isBackgrounded = msg.is_backgrounded === true;
}

export function taskProgress(x: Lookup, msg: TaskProgress): void {
  const t = x.task(str(msg.task_id));
  t.progress = over(t.progress, msg);
  setText(t, "description", msg.description);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}

export function taskUpdated(x: Lookup, msg: TaskUpdated): void {
  const t = x.task(str(msg.task_id));
  t.updated = over(t.updated, msg);
  setText(t, "status", msg.status);
  setText(t, "description", msg.description);
  if (typeof msg.is_backgrounded === "boolean") t.isBackgrounded = msg.is_backgrounded;
}

export function taskNotification(x: Lookup, msg: TaskNotification): void {
  const t = x.task(str(msg.task_id));
  t.ended = over(t.ended, msg);
  setText(t, "status", msg.status);
  setText(t, "summary", msg.summary);
  setValue(t, "usage", msg.usage);
}
