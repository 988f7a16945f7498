import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The module in a browser that keeps these values. */
async function withKept(kept: Record<string, string>) {
  const store = new Map(Object.entries(kept).map(([k, v]) => [`parley.${k}`, v]));
  vi.stubGlobal("localStorage", {
    getItem: (k: string) => store.get(k) ?? null,
    setItem: (k: string, v: string) => store.set(k, v),
  });
  vi.resetModules();
  return { prefs: await import("./prefs"), store };
}

test("a choice is read as it was kept, and another value is the default", async () => {
  const chosen = {
    theme: "dark",
    lang: "zh",
    density: "compact",
    diff: "inline",
    start: "home",
    sidebar: "off",
    panel: "off",
    letters: "off",
    notify: "on",
    seen: '[["s",3],["broken"],7]',
  };
  const values = (p: typeof import("./prefs")) => ({
    theme: p.theme.value,
    lang: p.lang.value,
    density: p.density.value,
    diff: p.diffView.value,
    start: p.startPage.value,
    sidebar: p.sidebar.value,
    panel: p.panel.value,
    letters: p.letters.value,
    notify: p.notify.value,
    seen: [...p.seen.value],
  });
  expect(values((await withKept(chosen)).prefs)).toEqual({
    ...chosen,
    sidebar: false,
    panel: false,
    letters: false,
    notify: true,
    seen: [["s", 3]],
  });
  const initial = {
    theme: "system",
    lang: "en",
    density: "comfortable",
    diff: "split",
    start: "new",
    sidebar: true,
    panel: true,
    letters: true,
    notify: false,
    seen: [],
  };
  expect(values((await withKept({})).prefs)).toEqual(initial);
  const odd = Object.fromEntries(Object.keys(chosen).map((k) => [k, "{odd"]));
  expect(values((await withKept(odd)).prefs)).toEqual(initial);
});

test("every choice is kept, and the page shows theme, language and density", async () => {
  const { prefs: p, store } = await withKept({});
  const root = { dataset: {} as Record<string, string>, lang: "" };
  p.keepPrefs(root as unknown as HTMLElement);
  expect(root).toEqual({ dataset: { density: "comfortable" }, lang: "en" });
  p.theme.value = "dark";
  p.lang.value = "zh";
  p.density.value = "compact";
  p.diffView.value = "inline";
  p.startPage.value = "home";
  p.sidebar.value = false;
  p.panel.value = false;
  p.letters.value = false;
  p.notify.value = true;
  p.markSeen("s", 4);
  expect(root).toEqual({ dataset: { density: "compact", theme: "dark" }, lang: "zh-CN" });
  expect(Object.fromEntries(store)).toEqual({
    "parley.theme": "dark",
    "parley.lang": "zh",
    "parley.density": "compact",
    "parley.diff": "inline",
    "parley.start": "home",
    "parley.sidebar": "off",
    "parley.panel": "off",
    "parley.letters": "off",
    "parley.notify": "on",
    "parley.seen": '[["s",4]]',
  });
  p.theme.value = "system";
  expect(root.dataset).toEqual({ density: "compact" });
});

test("the newest 500 sessions that were read are kept", async () => {
  const { prefs: p } = await withKept({});
  for (let i = 0; i < 502; i++) p.markSeen(`s${i}`, i);
  p.markSeen("s2", 9);
  const before = p.seen.value;
  p.markSeen("s2", 9);
  expect(p.seen.value).toBe(before);
  expect(p.seen.value.size).toBe(500);
  expect([...p.seen.value.keys()].slice(0, 2)).toEqual(["s3", "s4"]);
  expect([...p.seen.value].at(-1)).toEqual(["s2", 9]);
});

test("a kept value is read back, and one that cannot be read is none", async () => {
  const { prefs: p } = await withKept({ broken: "{" });
  p.writeKept("x", { a: 1 });
  expect(p.readKept("x")).toEqual({ a: 1 });
  expect(p.readKept("none")).toBeUndefined();
  expect(p.readKept("broken")).toBeUndefined();
});

test("a browser that forbids to keep anything has the defaults", async () => {
  const no = () => {
    throw new Error("denied");
  };
  vi.stubGlobal("localStorage", { getItem: no, setItem: no });
  const p = await import("./prefs");
  p.writeKept("x", 1);
  expect(p.readKept("x")).toBeUndefined();
  expect(p.theme.value).toBe("system");
});
