// Messages of an agent that are state and not part of the conversation. The fold keeps them as items that it
// does not know; the thread has no rows for any of those, and the events of the session have all of them.

import type { FoldedConversation, Item, Message, Task } from "../fold/conversation";
import { get, list, num, str } from "../fold/json";

/** Returns the number of thinking tokens, if the item has it. */
export function thoughtTokens(item: Item): number | undefined {
  if (item.unknown?.originalType !== "system/thinking_tokens") return undefined;
  const n = num(get(item.unknown.data, "estimated_tokens"));
  return n > 0 ? n : undefined;
}

/** The last message of the main thread, and how much the model has thought since it began. */
export function lastMessage(c: FoldedConversation): { message: Message | undefined; tokens: number | undefined } {
  const items = c.threads[0]?.items ?? [];
  let tokens: number | undefined;
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (item?.unknown === undefined) return { message: item?.message, tokens };
    tokens ??= thoughtTokens(item);
  }
  return { message: undefined, tokens };
}

/** Returns the description of a task: its own, or that of the call that started it. */
export function taskName(c: FoldedConversation, task: Task): string {
  // The text of a running task describes its current step.
  if (task.started?.description) return task.started.description;
  const id = task.started?.tool_use_id;
  for (const item of id ? (c.threads[0]?.items ?? []) : []) {
    const tool = item.message?.blocks.find((b) => b.tool?.id === id)?.tool;
    const own = str(get(tool?.input, "description")) || str(get(tool?.input, "command"));
    if (own !== "") return own;
  }
  return task.description ?? "";
}

/** The tasks of a session, with those that the agent lists as running in the background. */
export function tasksOf(c: FoldedConversation): readonly Task[] {
  const items = c.threads[0]?.items ?? [];
  for (let i = items.length - 1; i >= 0; i--) {
    const u = items[i]?.unknown;
    if (u?.originalType !== "system/background_tasks_changed") continue;
    const listed = list(get(u.data, "tasks")).filter((t) => get(t, "ambient") !== true);
    const ids = new Set(listed.map((t) => str(get(t, "task_id"))));
    const known = new Set(c.tasks.map((t) => t.id));
    const rest = listed
      .filter((t) => !known.has(str(get(t, "task_id"))))
      .map(
        (t): Task => ({
          id: str(get(t, "task_id")),
          status: "running",
          description: str(get(t, "description")),
          isBackgrounded: true,
        }),
      );
    return [...c.tasks.map((t) => (ids.has(t.id) ? { ...t, isBackgrounded: true } : t)), ...rest];
  }
  return c.tasks;
}
