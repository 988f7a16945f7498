import { expect, test } from "vitest";
import type { RpcMessage } from "../rpc/messages";
import { taskName, tasksOf } from "./known";
import { phaseOf } from "./phase";
import { SessionStore } from "./session";
import { en } from "./words.en";

function store(...messages: RpcMessage[]): SessionStore {
  const s = new SessionStore("s");
  s.reset({ epoch: "e", seq: 0 }, undefined);
  for (const m of messages) s.fold.apply(m);
  return s;
}

const system = (subtype: string, data: object): RpcMessage => ({
  type: "unknown",
  originalType: `system/${subtype}`,
  data,
  provider: "claude",
});

test("thinking is a phase with its tokens", () => {
  const running: RpcMessage = { type: "session_state", state: "running", provider: "claude" };
  const prompt: RpcMessage = {
    type: "user",
    uuid: "u",
    message: { content: [{ type: "text", text: "go" }] },
    provider: "claude",
  };
  const s = store(running, prompt, system("thinking_tokens", { estimated_tokens: 412 }), system("other", {}));
  const phase = phaseOf(s, Date.now(), en);
  expect([phase.kind, phase.text, phase.detail]).toEqual(["thinking", "Thinking", "412 tokens"]);
  expect(phaseOf(store(running, prompt), Date.now(), en).kind).toBe("api");
});

test("the list of background tasks is state", () => {
  const s = store(
    { type: "task_started", task_id: "a", description: "Watch the tests", provider: "claude" },
    system("background_tasks_changed", {
      tasks: [
        { task_id: "a", description: "Watch the tests" },
        { task_id: "b", description: "Serve the page" },
        { task_id: "c", description: "hidden", ambient: true },
      ],
    }),
    system("other", {}),
  );
  expect(tasksOf(s.conversation).map((t) => [t.description, t.isBackgrounded])).toEqual([
    ["Watch the tests", true],
    ["Serve the page", true],
  ]);
});

test("a task without words is named after its command", () => {
  const s = store(
    {
      type: "assistant",
      id: "m",
      uuid: "u",
      message: { content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "npm run watch" } }] },
      provider: "claude",
    } as unknown as RpcMessage,
    { type: "task_started", task_id: "b1x", task_type: "local_bash", tool_use_id: "t1", provider: "claude" },
  );
  expect(s.conversation.tasks.map((t) => taskName(s.conversation, t))).toEqual(["npm run watch"]);
});

test("a task keeps its name while it says what it does now", () => {
  const s = store(
    { type: "task_started", task_id: "a1", description: "Find the callers", provider: "claude" },
    { type: "task_progress", task_id: "a1", description: "Searching for Reserve", provider: "claude" } as unknown as RpcMessage,
    { type: "task_progress", task_id: "a2", description: "Looking", provider: "claude" } as unknown as RpcMessage,
  );
  expect(s.conversation.tasks.map((t) => taskName(s.conversation, t))).toEqual(["Find the callers", "Looking"]);
});
