import { expect, test } from "vitest";
import { parts } from "./command";

/** The parts of a command in /w, each as "join text @dir". */
const of = (command: string): string[] => parts(command, "/w").map((p) => `${p.join} ${p.text} @${p.dir}`.trim());

test("a command is cut at its operators and nowhere else", () => {
  for (const [command, want] of [
    ["a", ["a @/w"]],
    ["", []],
    ["a && b || c; d | e & f", ["a @/w", "&& b @/w", "|| c @/w", "; d @/w", "| e @/w", "& f @/w"]],
    ["a&&b||c", ["a @/w", "&& b @/w", "|| c @/w"]],
    ["a\nb", ["a @/w", "; b @/w"]],
    ["a 2>&1 &> f", ["a 2>&1 &> f @/w"]],
    ["(a; b) && c", ["(a; b) @/w", "&& c @/w"]],
    ["f() { a; b; }; c", ["f() { a; b; } @/w", "; c @/w"]],
    ["echo 'a && b' \"c; d\" `e | f`", ["echo 'a && b' \"c; d\" `e | f` @/w"]],
    ['echo "a\\"; b"; c', ['echo "a\\"; b" @/w', "; c @/w"]],
    ["echo a\\;b", ["echo a\\;b @/w"]],
    ["echo 'open; a", ["echo 'open; a @/w"]],
    ['echo "open; a', ['echo "open; a @/w']],
    [";; a", ["; a @/w"]],
  ] as const)
    expect(of(command), command).toEqual(want);
});

test("cd changes the directory of what follows, but not from a pipe or the background", () => {
  for (const [command, want] of [
    ["cd x && a", ["cd x @/w", "&& a @/w/x"]],
    ["cd /x; a", ["cd /x @/w", "; a @/x"]],
    ["cd ~/x; a", ["cd ~/x @/w", "; a @~/x"]],
    ["cd -- 'a b'; a", ["cd -- 'a b' @/w", "; a @/w/a b"]],
    ['cd "a b"; a', ['cd "a b" @/w', "; a @/w/a b"]],
    ["cd ..; a", ["cd .. @/w", "; a @/"]],
    ["cd ./x/../y; a", ["cd ./x/../y @/w", "; a @/w/y"]],
    ["cd x | a", ["cd x @/w", "| a @/w"]],
    ["cd x & a", ["cd x @/w", "& a @/w"]],
    ["cd $x; a", ["cd $x @/w", "; a @/w"]],
    ["cd x y; a", ["cd x y @/w", "; a @/w"]],
    ["echo cd x; a", ["echo cd x @/w", "; a @/w"]],
  ] as const)
    expect(of(command), command).toEqual(want);
});
