import { expect, test } from "vitest";
import type { FoldedConversation } from "../fold/conversation";
import type { SessionSummary } from "../rpc/service";
import { carry, carryLimit } from "./carry";
import { hunksOf, ofTool } from "./diff";
import { currentModel, readModel } from "./models";
import { messageBefore, metadataOf, originOf, promptIndex, transcriptVersions, versionsOf } from "./versions";

function session(id: string, of?: string, prompt = 0, version = 0): SessionSummary {
  const metadata = of ? { metadata: metadataOf({ of, prompt, version }) } : {};
  return { session_id: id, state: "idle", seq: 1, viewers: 0, queued: 0, prompts: 0, ...metadata };
}

function conversation(...said: [role: string, uuid: string, text: string][]): FoldedConversation {
  const items = said.map(([role, uuid, text]) => ({
    kind: "message",
    message: {
      role,
      ...(role === "user" ? { uuid } : {}),
      state: "complete",
      blocks: [{ index: 0, type: "text", state: "complete", uuid, text }],
    },
  }));
  return { threads: [{ parentToolUseId: "", items }] } as unknown as FoldedConversation;
}

const c = conversation(
  ["user", "u1", "one"],
  ["assistant", "a1", "first"],
  ["user", "u2", "two"],
  ["assistant", "a2", "second"],
);

test("only a session that names both the session and the prompt has an origin", () => {
  const of = (metadata: Record<string, string>) => originOf({ ...session("x"), metadata });
  expect(of({ version_of: "a", version_prompt: "0" })).toEqual({ of: "a", prompt: 0, version: 0 });
  expect(of({ version_of: "a", version_prompt: "2", version: "3" })).toEqual({ of: "a", prompt: 2, version: 3 });
  for (const odd of [
    {},
    { version_prompt: "1" },
    { version_of: "", version_prompt: "1" },
    { version_of: "a" },
    { version_of: "a", version_prompt: "-1" },
    { version_of: "a", version_prompt: "1.5" },
  ])
    expect(of(odd as Record<string, string>), JSON.stringify(odd)).toBeUndefined();
  expect(originOf(undefined)).toBeUndefined();
});

test("versions are found from each of them, and before the edited prompt from the origin", () => {
  const all = [session("b", "a", 1, 2), session("a"), session("c", "a", 1, 3), session("d", "b", 2, 2), session("x")];
  expect(versionsOf(all, "a", 1)).toEqual({ ids: ["a", "b", "c"], at: 0 });
  expect(versionsOf(all, "c", 1)).toEqual({ ids: ["a", "b", "c"], at: 2 });
  expect(versionsOf(all, "b", 2)).toEqual({ ids: ["b", "d"], at: 0 });
  expect(versionsOf(all, "d", 1)).toEqual({ ids: ["a", "b", "c"], at: 1 });
  expect(versionsOf(all, "b", 0)).toEqual({ ids: ["a"], at: 0 });
  expect(versionsOf(all, "x", 0)).toEqual({ ids: ["x"], at: 0 });
});

test("metadata that another client wrote is not trusted to be whole, nor to end", () => {
  expect(originOf({ ...session("a"), metadata: { version_of: "b", version_prompt: "x" } })).toBeUndefined();
  expect(originOf({ ...session("a"), metadata: { version_prompt: "1" } })).toBeUndefined();
  const loop = [session("a", "b", 5, 2), session("b", "a", 5, 2)];
  expect(versionsOf(loop, "a", 0).ids.length).toBeGreaterThan(0);
});

test("a prompt is counted, and the message before it is found", () => {
  expect(promptIndex(c, "u2")).toBe(1);
  expect(promptIndex(c, "a1")).toBe(-1);
  expect(messageBefore(c, "u2")).toBe("a1");
  expect(messageBefore(c, "u1")).toBeUndefined();
});

test("the versions of a transcript stand by their parent", () => {
  const all = [
    { uuid: "p", parent: "m", leaf: "l1" },
    { uuid: "q", parent: "m", leaf: "l2" },
    { uuid: "r", parent: "n", leaf: "l3" },
  ];
  expect(transcriptVersions(all, "q")).toEqual({ leaves: ["l1", "l2"], at: 1 });
  expect(transcriptVersions(all, "z")).toBeUndefined();
});

test("a conversation goes to another agent, its oldest part left out where it is long", () => {
  const { text, left } = carry(c, "claude");
  expect(left).toBe(0);
  expect(text).toContain("Person:\none\n\nAgent:\nfirst\n\nPerson:\ntwo");
  const long = conversation(["user", "u1", "x".repeat(carryLimit)], ["assistant", "a1", "the end"]);
  expect(carry(long, "claude").left).toBe(1);
  expect(carry(long, "claude").text).toContain("the end");
  expect(carry(long, "claude").text.length).toBeLessThan(carryLimit);
  const one = conversation(["user", "u1", "y".repeat(2 * carryLimit)]);
  expect(carry(one, "claude").text.length).toBeLessThan(carryLimit + 1000);
});

test("models of several agents are read, with the efforts that they know", () => {
  const opus = readModel({
    value: "default",
    resolvedModel: "claude-opus-5-5",
    displayName: "Default",
    supportedEffortLevels: ["low", "high"],
  });
  const codex = readModel({ id: "gpt-5", displayName: "GPT-5" });
  expect(opus).toMatchObject({ value: "default", label: "Default", efforts: ["low", "high"] });
  expect(codex).toMatchObject({ value: "gpt-5", label: "GPT-5" });
  expect(codex.efforts).toBeUndefined();
  expect(readModel({ name: "claude-scene-1" })).toMatchObject({ value: "claude-scene-1", label: "scene-1" });
  expect(readModel({ value: "haiku", supportsEffort: false }).efforts).toEqual([]);
  expect(currentModel([opus, codex], "claude-opus-5-5")).toBe(opus);
});

test("a change of Codex is a diff", () => {
  const diff = ofTool(
    "CODEX_FILE_CHANGE",
    {
      changes: [
        { path: "a.go", kind: { type: "update" }, diff: "@@ -1,2 +1,2 @@\n keep\n-old\n+new\n" },
        { path: "b.go", kind: { type: "add" }, diff: "x\ny\n" },
      ],
    },
    undefined,
  );
  expect(diff).toMatchObject({ added: 3, removed: 1, path: "a.go, b.go" });
  expect(hunksOf("--- a\n+++ b\n@@ -3 +4 @@\n-x\n+y\n")).toEqual([{ oldStart: 3, newStart: 4, lines: ["-x", "+y"] }]);
});
