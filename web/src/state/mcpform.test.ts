import { expect, test } from "vitest";
import { pairsOf, wordsOf } from "./mcpform";

test("a command line is words, with quotes and without a shell", () => {
  expect(wordsOf(`  npx -y "my server" --at='a b' $HOME `)).toEqual(["npx", "-y", "my server", "--at=a b", "$HOME"]);
  expect(wordsOf("")).toEqual([]);
});

test("lines are names with values; one without a value keeps it", () => {
  expect(pairsOf("KEY=a=b\n\nOLD=\n ALSO \n")).toEqual({ KEY: "a=b", OLD: "", ALSO: "" });
});
