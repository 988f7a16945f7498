import { expect, test } from "vitest";
import { clear, draft, restore } from "./drafts";

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
