import { expect, test } from "vitest";
import { decode } from "./decode";

test("a message that is known comes as it is", () => {
  expect(decode('{"type":"notice","text":"x"}')).toEqual({ type: "notice", text: "x" });
});

test.each([
  ["{", "", "{"],
  ["", "", ""],
  ["null", "", null],
  ["7", "", 7],
  ["[]", "", []],
  ["{}", "", {}],
  ['{"type":7}', "", { type: 7 }],
  ['{"type":"future","a":1}', "future", { type: "future", a: 1 }],
  ['{"type":"toString"}', "toString", { type: "toString" }],
])("%s is unknown", (text, originalType, data) => {
  expect(decode(text)).toEqual({ type: "unknown", originalType, data });
});

// How deep a text may nest, with brackets of both kinds, in a row, and in strings, where they do not count.
test.each([
  ["lists", "[", "]"],
  ["objects", '{"a":', "}"],
])("%s nest 2000 levels deep and no deeper", (_, open, end) => {
  const nested = (n: number) => `{"type":"future","d":${open.repeat(n - 1)}1${end.repeat(n - 1)}}`;
  expect(decode(nested(2000))).toMatchObject({ originalType: "future" });
  expect(decode(nested(2001))).toEqual({ type: "unknown", originalType: "", data: nested(2001) });
});

test("what follows each other and what is in a string is not deep", () => {
  const row = `{"type":"future","d":[${"[],{},".repeat(3000)}1]}`;
  expect(decode(row)).toMatchObject({ originalType: "future" });
  for (const text of ["[".repeat(5000), `${"\\\\".repeat(5)}${'\\"['.repeat(3000)}`]) {
    expect(decode(`{"type":"future","d":"${text}"}`)).toMatchObject({ originalType: "future" });
  }
  const after = `{"type":"future","s":"\\\\","d":${"[".repeat(2001)}${"]".repeat(2001)}}`;
  expect(decode(after)).toMatchObject({ originalType: "" });
});
