import { expect, test } from "vitest";
import { assetsOf, kindOf } from "./shell";

test("the worker answers for the page and its files alone", () => {
  const scope = "https://x/tools/";
  const kind = (url: string, navigates = false, method = "GET") => kindOf(method, url, navigates, scope);
  expect(kind("https://x/tools/", true)).toBe("page");
  expect(kind("https://x/tools/?session=s", true)).toBe("page");
  expect(kind("https://x/tools/index.html", true)).toBe("page");
  expect(kind("https://x/tools/assets/index-B1_x-2.js")).toBe("asset");
  for (const [url, navigates, method] of [
    ["https://x/tools/", false],
    ["https://x/tools/", true, "POST"],
    ["https://x/", true],
    ["https://x/tools/v1/health", true],
    ["https://x/tools/v1/session.list", false, "POST"],
    ["https://x/tools/v1/sessions/s/events", false],
    ["https://x/tools/assets/../v1/x", false],
    ["https://x/tools/assets/a/b.js", false],
    ["https://x/tools/assets/a.js?token=t", false],
    ["https://x/tools/sw.js", false],
    ["https://y/tools/assets/a.js", false],
    ["https://x/assets/a.js", false],
  ] as const)
    expect(kind(url, navigates, method), url).toBe("");
});

test("the files of a page are those that it names", () => {
  const html = '<link href="./app.webmanifest"><script src="./assets/a-1.js"></script><link href="./assets/b.css"><a href="./assets/../x">';
  expect(assetsOf(html)).toEqual(["assets/a-1.js", "assets/b.css"]);
});
