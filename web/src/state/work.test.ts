import { describe, expect, it } from "vitest";
import type { FoldedConversation } from "../fold/conversation";
import { reported } from "./changes";
import { fromPatch, pairs } from "./diff";
import { formatRoute, parseRoute, type Route } from "./route";
import { SessionStore } from "./session";
import { changedLines, linesOf } from "./workspace";

const hunk = (lines: string[], more = {}) => ({
  id: "h",
  oldStart: 10,
  oldLines: lines.filter((l) => !l.startsWith("+")).length,
  newStart: 20,
  newLines: lines.filter((l) => !l.startsWith("-")).length,
  lines,
  ...more,
});

describe("changes", () => {
  it("puts lines that replace each other side by side", () => {
    const lines = fromPatch("f", [hunk([" a", "-b", "-c", "+d", " e", "+f"])]).hunks[0]?.lines ?? [];
    expect(pairs(lines).map(([a, b]) => [a?.text, b?.text])).toEqual([
      ["a", "a"],
      ["b", "d"],
      ["c", undefined],
      ["e", "e"],
      [undefined, "f"],
    ]);
  });

  it("knows the lines of a hunk and those of them that have changed", () => {
    const h = hunk([" a", "+b", " c", "+d", " e"]);
    expect(linesOf(h)).toEqual({ side: "new", from: 20, to: 24 });
    expect(changedLines(h)).toEqual({ side: "new", from: 21, to: 23 });
    expect(changedLines(hunk([" a", "-b", "-c"]))).toEqual({ side: "old", from: 11, to: 12 });
    expect(linesOf(hunk(["-b"], { newLines: 0 }))).toEqual({ side: "old", from: 10, to: 10 });
  });

  it("has the diffs that the agent reports, of the session or of the last turn", () => {
    const tool = (path: string) => ({
      kind: "message",
      message: {
        role: "assistant",
        state: "complete",
        blocks: [
          {
            index: 0,
            type: "tool_use",
            state: "complete",
            tool: {
              id: path,
              name: "Edit",
              toolType: "CLAUDE_EDIT",
              status: "success",
              input: { file_path: path, old_string: "x", new_string: "y" },
            },
          },
        ],
      },
    });
    const result = { kind: "result", result: { subtype: "success", isError: false, numTurns: 1, durationMs: 1 } };
    const c = {
      threads: [{ parentToolUseId: "", items: [tool("a"), result, tool("b"), result] }],
      turns: [],
    } as unknown as FoldedConversation;
    expect(reported(c, false).map((d) => d.path)).toEqual(["a", "b"]);
    expect(reported(c, true).map((d) => d.path)).toEqual(["b"]);
  });
});

describe("routes", () => {
  it("come back as they went", () => {
    const all: Route[] = [
      { page: "usage" },
      { page: "changes", id: "s/1" },
      { page: "changes", id: "s", turn: "last" },
      { page: "session", ids: ["s"], message: "msg_1/0~1" },
      { page: "history", id: "h", message: "a b?&" },
    ];
    for (const r of all) expect(parseRoute(formatRoute(r))).toEqual(r);
    expect(parseRoute("#/c")).toEqual({ page: "sessions" });
  });
});

describe("notices and retries", () => {
  const store = (snapshot?: unknown) => {
    const s = new SessionStore("s", undefined, (f) => f());
    s.reset({ epoch: "e", seq: 0 }, snapshot);
    let seq = 0;
    const say = (msg: unknown) => s.receive({ seq: ++seq, epoch: "e", session_id: "s", ts: "", msg });
    return { s, say };
  };
  const user = (uuid: string) => ({
    type: "user",
    uuid,
    provider: "p",
    message: { role: "user", content: [{ type: "text", text: uuid }] },
  });

  it("are rows between the messages that they came between", () => {
    const { s, say } = store();
    say(user("one"));
    say({ type: "retry", attempt: 1, max_attempts: 10, provider: "p" });
    say({ type: "retry", attempt: 2, max_attempts: 10, provider: "p" });
    say(user("two"));
    say({ type: "notice", severity: "warning", text: "near", code: "rate_limited", resets_at: "2026", provider: "p" });
    const rows = s.rows.get();
    expect(rows.map((r) => r.kind)).toEqual(["user", "event", "user", "event"]);
    expect(rows[1]?.event?.retry?.attempt).toBe(2);
    expect(rows[3]?.event).toMatchObject({ notice: { text: "near" }, resetsAt: "2026" });
    expect(new Set(rows.map((r) => r.key)).size).toBe(4);
  });

  it("come from a snapshot too, before the end of their turn", () => {
    const first = store();
    first.say(user("one"));
    first.say({ type: "notice", severity: "info", text: "hear", provider: "p" });
    const again = store(JSON.parse(JSON.stringify(first.s.fold.conversation)));
    expect(again.s.rows.get().map((r) => r.kind)).toEqual(["user", "event"]);
  });

  it("tell that files or remarks have changed", () => {
    const { s, say } = store();
    const before = [s.files.peek(), s.reviews.peek()];
    say({ type: "session_info", workspace: { event: "turn_ended" }, provider: "p" });
    say({ type: "session_info", review: { comments: [] }, provider: "p" });
    say({ type: "session_info", title: "x", provider: "p" });
    expect([s.files.peek(), s.reviews.peek()]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
  });
});
