import { expect, test } from "vitest";
import { joinCommand, sessionsOf, shellWord } from "./machines";

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
