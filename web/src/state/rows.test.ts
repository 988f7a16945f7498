import { expect, test } from "vitest";
import { Fold } from "../fold";
import type { RpcMessage } from "../rpc/messages";
import { Rows, rowsOf } from "./rows";

function assistant(id: string, text: string): RpcMessage {
  return { type: "assistant", id, message: { content: [{ type: "text", text }] }, uuid: `u-${id}`, provider: "claude" };
}

function delta(index: number, text: string): RpcMessage {
  return {
    type: "stream_event",
    uuid: "e",
    session_id: "s",
    event: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
    provider: "claude",
  };
}

function start(id: string): RpcMessage[] {
  return [
    {
      type: "stream_event",
      uuid: "e",
      session_id: "s",
      event: { type: "message_start", message: { id, content: [] } },
      provider: "claude",
    },
    {
      type: "stream_event",
      uuid: "e",
      session_id: "s",
      event: { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      provider: "claude",
    },
  ];
}

test("rows after deltas are the rows of everything", () => {
  const fold = new Fold();
  const rows = new Rows();
  for (let i = 0; i < 20; i++) fold.apply(assistant(`m${i}`, `text ${i}`));
  rows.rebuild(fold.conversation);
  for (const m of start("last")) fold.apply(m);
  for (let i = 0; i < 5; i++) {
    fold.apply(delta(0, "more "));
    rows.extend(fold.conversation);
    expect(rows.get().map((r) => [r.key, r.more])).toEqual(
      rowsOf(fold.conversation.threads[0]).map((r) => [r.key, r.more]),
    );
  }
  expect(rows.get().at(-1)?.block?.text).toBe("more more more more more ");
  expect(rows.same).toBeGreaterThan(15);
});

test("keys differ where names repeat", () => {
  const items = [
    { kind: "error", error: { type: "error" as const, message: "a", provider: "claude" } },
    { kind: "message", message: { role: "user", uuid: "x", state: "complete" as const, blocks: [] } },
    { kind: "message", message: { role: "user", uuid: "x", state: "complete" as const, blocks: [] } },
  ];
  const keys = rowsOf({ parentToolUseId: "", items }).map((r) => r.key);
  expect(new Set(keys).size).toBe(keys.length);
});

test("a shorter conversation is built again", () => {
  const fold = new Fold();
  const rows = new Rows();
  for (let i = 0; i < 8; i++) fold.apply(assistant(`m${i}`, "x"));
  rows.rebuild(fold.conversation);
  fold.conversation.threads[0]?.items.splice(2);
  expect(rows.extend(fold.conversation)).toHaveLength(2);
});

function tokens(n: number): RpcMessage {
  return { type: "unknown", originalType: "system/thinking_tokens", data: { estimated_tokens: n }, provider: "claude" };
}

test("what is thought is counted at its row, and no message of the protocol is a row", () => {
  const fold = new Fold();
  const rows = new Rows();
  fold.apply(start("m")[0] as RpcMessage);
  fold.apply({
    type: "stream_event",
    uuid: "e",
    session_id: "s",
    event: { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "hm" } },
    provider: "claude",
  });
  rows.rebuild(fold.conversation);
  for (let i = 1; i <= 20; i++) {
    fold.apply(tokens(i));
    rows.extend(fold.conversation);
  }
  expect(rows.get().map((r) => [r.kind, r.tokens])).toEqual([["thinking", 20]]);
  fold.apply({
    type: "stream_event",
    uuid: "e",
    session_id: "s",
    event: { type: "content_block_start", index: 1, content_block: { type: "text", text: "so" } },
    provider: "claude",
  });
  rows.extend(fold.conversation);
  expect(rows.get().map((r) => r.kind)).toEqual(["thinking", "text"]);
  fold.apply({
    type: "assistant",
    id: "m",
    message: { content: [{ type: "thinking", thinking: "hm" }] },
    uuid: "u",
    provider: "claude",
  });
  fold.apply({ type: "unknown", originalType: "system/newer", data: {}, provider: "claude" });
  rows.rebuild(fold.conversation);
  expect(rows.get().map((r) => [r.kind, r.tokens])).toEqual([
    ["thinking", 20],
    ["text", undefined],
  ]);
});

test("the end of a turn that was nothing is no row", () => {
  const fold = new Fold();
  const result = (uuid: string, more: object = {}): RpcMessage =>
    ({
      type: "result",
      uuid,
      subtype: "success",
      is_error: false,
      duration_ms: 100,
      num_turns: 1,
      provider: "claude",
      ...more,
    }) as RpcMessage;
  fold.apply(assistant("m", "x"));
  fold.apply(result("a"));
  fold.apply(result("b"));
  fold.apply(result("c", { is_error: true }));
  expect(rowsOf(fold.conversation.threads[0]).map((r) => r.key)).toEqual(["m/0", "a", "c"]);
});
