import { expect, test } from "vitest";
import { hiddenHost, oneLine, plain, safeLink, turnsText } from "./safe";

test("only links that people expect can be followed", () => {
  for (const good of ["https://a.example/x?y=1#z", "http://a.example", "mailto:a@b.example"])
    expect(safeLink(good)).toBeDefined();
  for (const bad of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://a.example/x",
    "//a.example",
    "/relative",
    "https://user:pass@a.example/",
    "https:\\\\a.example",
    "about:blank",
    "",
  ])
    expect(safeLink(bad), bad).toBeUndefined();
});

test("a link that names another host says its own", () => {
  expect(hiddenHost("https://evil.example/", "bank.example")).toBe("evil.example");
  expect(hiddenHost("https://evil.example/", "https://bank.example/login")).toBe("evil.example");
  expect(hiddenHost("https://bank.example/x", "bank.example")).toBeUndefined();
  expect(hiddenHost("https://bank.example/x", "read more")).toBeUndefined();
});

test("characters that turn the text are shown", () => {
  expect(plain("a\u202eb\u2066c")).toBe("aU+202ebU+2066c");
  expect(plain("שלום 你好 a")).toBe("שלום 你好 a");
  expect(turnsText("a\u202eb")).toBe(true);
  expect(turnsText("abc")).toBe(false);
});

test("one line of a text", () => {
  expect(oneLine("  a\n\n b\t c ")).toBe("a b c");
  expect(oneLine("x".repeat(500), 10)).toHaveLength(10);
});
