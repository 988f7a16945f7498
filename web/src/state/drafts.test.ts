import { expect, test } from "vitest";
import { clear, draft, fitting, rank, restore, trigger } from "./drafts";

const picture = { media: "image/png", data: "x", name: "p", bytes: 1 } as never;
const context = { type: "file", path: "a" };
const was = { text: "was", contexts: [context], images: [picture] };

test("what could not be sent is put back where nothing was written meanwhile", () => {
  const d = draft("empty");
  restore(d, was);
  expect([d.text.value, d.contexts.value, d.images.value]).toEqual(["was", [context], [picture]]);
  clear(d);
  expect([d.text.value, d.contexts.value, d.images.value]).toEqual(["", [], []]);
});

test("what was written meanwhile stays: a text, a context or a picture", () => {
  for (const part of ["text", "contexts", "images"] as const) {
    const d = draft(`meanwhile ${part}`);
    const own = {
      text: part === "text" ? "new" : "",
      contexts: part === "contexts" ? [context] : [],
      images: part === "images" ? [picture] : [],
    };
    d.text.value = own.text;
    d.contexts.value = own.contexts;
    d.images.value = own.images;
    restore(d, { ...was, contexts: [], images: [] });
    expect([d.text.value, d.contexts.value, d.images.value]).toEqual([own.text, own.contexts, own.images]);
  }
});

test("each session has a draft of its own, and always the same", () => {
  const a = draft("a");
  a.text.value = "for a";
  expect(draft("b").text.value).toBe("");
  expect(draft("a")).toBe(a);
});

test("a menu opens for the word before the caret alone", () => {
  for (const [text, caret, want] of [
    ["/", 1, { kind: "/", query: "", from: 0 }],
    ["/git:com.mit-x", 14, { kind: "/", query: "git:com.mit-x", from: 0 }],
    ["/re view", 3, { kind: "/", query: "re", from: 0 }],
    ["/re view", 8, undefined],
    ["@", 1, { kind: "@", query: "", from: 0 }],
    ["see (@src", 9, { kind: "@", query: "src", from: 5 }],
    ["see\n@src/a b", 10, { kind: "@", query: "src/a", from: 4 }],
    ["a@b", 3, undefined],
    ["@a`b", 4, undefined],
    ["@a@b", 4, undefined],
    [`${"x".repeat(400)} @ab`, 404, { kind: "@", query: "ab", from: 401 }],
    ["", 0, undefined],
  ] as const)
    expect(trigger(text, caret), `${text} ${caret}`).toEqual(want);
});

test("a name that has the query begins first, one that has its letters in order comes after, another not at all", () => {
  expect([rank("Review", "re"), rank("xre", "RE"), rank("a-b-c", "abc"), rank("acb", "abc"), rank("aab", "aba"), rank("x", ""), rank("", "a")]).toEqual([0, 1, 104, undefined, undefined, 0, undefined]);
  const names = ["xre", "r-e", "review", "red", "other"];
  expect(fitting(names, (n) => n, "re", 9)).toEqual(["review", "red", "xre", "r-e"]);
  expect(fitting(names, (n) => n, "re", 2)).toEqual(["review", "red"]);
});
