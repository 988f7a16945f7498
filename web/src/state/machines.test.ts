import { expect, test } from "vitest";
import { choiceFor, choose, chooseProject, placeKey, projectOn } from "./choices";
import { agentOn, allowsMode, awayFrom, joinCommand, machines, sessionsOf, shellWord } from "./machines";
import { live } from "./sessions";

test("a word of a shell is quoted where it has to be", () => {
  for (const [text, want] of [
    ["src", "src"],
    ["~/src", "~/src"],
    ["~/my src", "~/'my src'"],
    ["a'b; rm", "'a'\\''b; rm'"],
    ["$(x)", "'$(x)'"],
    ["", "''"],
  ] as const)
    expect(shellWord(text)).toBe(want);
});

test("the command to join has what was asked for, and no secret of the address", () => {
  const o = { name: "crane", dirs: ["~/src", "/srv/a b"], slots: "8" };
  expect(joinCommand("https://parley.example/#token=x", o)).toBe(
    "parley host join --name crane --dir ~/src --dir '/srv/a b' --slots 8 https://parley.example",
  );
  expect(joinCommand("http://127.0.0.1:7717/sub/index.html?a=b", { name: "", dirs: [], slots: "x" })).toBe(
    "parley host join http://127.0.0.1:7717/sub",
  );
});

test("sessions of a machine are counted by what they do", () => {
  const s = (machine: string | undefined, state: string) => ({ machine, state }) as never;
  const all = [s("a", "running"), s("a", "requires_action"), s("a", "idle"), s("b", "running"), s(undefined, "running")];
  expect(sessionsOf("a", all)).toEqual({ run: 1, wait: 1 });
});

test("a machine allows the modes up to its own, and has the agent that is wanted or its first", () => {
  const m = (max_mode?: string) => ({ name: "a", agents: ["claude", "codex"], max_mode }) as never;
  const all = ["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions", "new"];
  const allowed = (max?: string) => all.filter((mode) => allowsMode(m(max), mode));
  expect(allowed()).toEqual(all.slice(0, 3));
  expect(allowed("unknown")).toEqual(all.slice(0, 3));
  expect(allowed("acceptEdits")).toEqual(all.slice(0, 4));
  expect(allowed("bypassPermissions")).toEqual(all.slice(0, 6));
  expect([agentOn(m(), "codex"), agentOn(m(), "gemini")]).toEqual(["codex", "claude"]);
});

test("a session is away while its machine is unreachable, or has not joined", () => {
  const since = "2026-01-02T03:04:05Z";
  live.value = [{ session_id: "here" }, { session_id: "s", machine: "a" }] as never;
  machines.value = undefined;
  expect(awayFrom("s")).toBeUndefined();
  machines.value = [{ name: "a", state: "reachable", since }] as never;
  expect([awayFrom("s"), awayFrom("here"), awayFrom("none")]).toEqual([undefined, undefined, undefined]);
  machines.value = [{ name: "a", state: "unreachable", since }] as never;
  expect(awayFrom("s")).toEqual({ machine: "a", since: Date.parse(since) });
  machines.value = [];
  expect(awayFrom("s")).toEqual({ machine: "a" });
});

test("a choice belongs to a machine and its project", () => {
  expect([placeKey("", "/w"), placeKey("a", "/w")]).toEqual(["/w", "@a:/w"]);
  chooseProject("/here");
  chooseProject("/there", "a");
  expect([projectOn(""), projectOn("a"), projectOn("b")]).toEqual(["/here", "/there", ""]);
  choose(placeKey("a", "/w"), { mode: "plan" });
  expect([choiceFor("/w").mode, choiceFor(placeKey("a", "/w")).mode]).toEqual(["", "plan"]);
});
