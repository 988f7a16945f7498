import { beforeEach, expect, test, vi } from "vitest";

const call = vi.fn();
vi.mock("./app", () => ({ refreshers: [], call: (...args: unknown[]) => call(...args) }));

let kept: Map<string, string>;
beforeEach(() => {
  vi.resetModules();
  call.mockReset();
  kept = new Map();
  vi.stubGlobal("localStorage", { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => kept.set(k, v) });
});

const put = (name: string, value: unknown) => kept.set(`parley.${name}`, JSON.stringify(value));
const get = (name: string): unknown => JSON.parse(kept.get(`parley.${name}`) ?? "null");

test("what an agent offered is known before its next session, field by field", async () => {
  const offer = {
    models: [{ value: "v", label: "l", resolved: "r", efforts: ["low"] }, { value: "w", label: "m", resolved: "s" }],
    commands: [{ name: "n", note: "o" }],
    efforts: ["high"],
    thinks: true,
    modes: ["plan"],
  };
  put("offers", [["x", offer], ["y", { ...offer, thinks: "yes", modes: undefined }], ["odd"], [7, offer], "odd"]);
  const { offerOf } = await import("./agents");
  const { modes, ...withoutModes } = offer;
  expect(modes).toBeDefined();
  expect(offerOf("x")).toEqual(offer);
  expect(offerOf("y")).toEqual({ ...withoutModes, thinks: false });
  expect(offerOf("odd")).toEqual({ models: [], commands: [], efforts: [], thinks: false });
  expect(offerOf("none")).toEqual({ models: [], commands: [], efforts: [], thinks: false });
  expect(offerOf("claude")).toMatchObject({ thinks: true, efforts: ["low", "medium", "high", "xhigh", "max"] });
  expect(offerOf("claude").models.map((m) => [m.value, m.label])).toEqual([["opus", "Opus"], ["sonnet", "Sonnet"], ["haiku", "Haiku"]]);
});

test("kept offers that are no list are none", async () => {
  put("offers", { x: 1 });
  const { offerOf } = await import("./agents");
  expect(offerOf("x").models).toEqual([]);
});

test("what a session tells is added to what was told before, and kept for twelve agents", async () => {
  const { noteCapabilities, noteOffer, offerOf } = await import("./agents");
  noteOffer("claude", { commands: [{ name: "c", note: "" }] });
  expect(offerOf("claude")).toMatchObject({ commands: [{ name: "c" }], thinks: true, efforts: { length: 5 } });
  noteCapabilities("claude", { supported_efforts: ["low"], supported_permission_modes: ["plan"], can_think: false } as never);
  expect(offerOf("claude")).toMatchObject({ commands: [{ name: "c" }], efforts: ["low"], modes: ["plan"], thinks: false, models: { length: 3 } });
  noteCapabilities("bare", { can_think: true } as never);
  expect(offerOf("bare")).toEqual({ models: [], commands: [], efforts: [], modes: [], thinks: true });
  noteOffer("", { thinks: true });
  expect(offerOf("").thinks).toBe(false);
  for (let i = 0; i < 11; i++) noteOffer(`a${i}`, { thinks: true });
  expect(offerOf("claude").efforts.length, "it was the oldest, and has its first offer again").toBe(5);
  noteOffer("bare", { efforts: ["x"] });
  noteOffer("new", { thinks: true });
  const names = (get("offers") as [string][]).map(([name]) => name);
  expect([names.length, names[0], names.slice(-2)]).toEqual([12, "a1", ["bare", "new"]]);
  const before = kept.get("parley.offers");
  kept.clear();
  noteOffer("new", { thinks: true });
  expect([before === undefined, kept.size]).toEqual([false, 0]);
});

test("a choice is kept for its project, else for all, and another agent begins with its own defaults", async () => {
  const own = { agent: "x", model: "m", effort: "e", thinking: "on", mode: "plan", sandbox: true, worktree: true, setup: "npm ci" };
  put("choices", [["/p", own], ["/bare", {}], [7, own], "odd"]);
  put("project", "/p");
  const c = await import("./choices");
  expect([c.lastProject.value, c.choiceFor("/p")]).toEqual(["/p", own]);
  expect([c.choiceFor("/bare"), c.choiceFor("/none")]).toEqual([c.noChoice, c.noChoice]);
  c.choose("/p", { model: "n" });
  expect(c.choiceFor("/p")).toEqual({ ...own, model: "n" });
  c.choose("/p", { agent: "x", effort: "f" });
  expect(c.choiceFor("/p")).toEqual({ ...own, model: "n", effort: "f" });
  c.choose("/p", { agent: "y", mode: "ask" });
  expect(c.choiceFor("/p")).toEqual({ ...own, agent: "y", model: "", effort: "", thinking: "auto", mode: "ask" });
  c.choose(c.everyProject, { setup: "every" });
  expect(c.choiceFor("/none")).toEqual({ ...c.noChoice, setup: "every" });
  c.choose("/own", { model: "z" });
  expect(c.choiceFor("/own")).toEqual({ ...c.noChoice, setup: "every", model: "z" });
  c.chooseProject("/q");
  expect([c.lastProject.value, get("project")]).toEqual(["/q", "/q"]);
  for (let i = 0; i < 50; i++) c.choose(`/p${i}`, {});
  c.choose("/p0", { model: "again" });
  const names = (get("choices") as [string][]).map(([name]) => name);
  expect([names.length, names[0], names[1], names.at(-1)]).toEqual([51, "", "/p1", "/p0"]);
  expect(c.choiceFor("/none").setup).toBe("every");
});

test("choices that are no list are none", async () => {
  put("choices", { "/p": {} });
  put("project", 7);
  const c = await import("./choices");
  expect([c.choiceFor("/p"), c.lastProject.value]).toEqual([c.noChoice, ""]);
});

test("a name can mean folders, and one of them is read with its branches", async () => {
  const c = await import("./choices");
  call.mockResolvedValueOnce({ roots: ["/r"], recent: [{ path: "/a" }], folders: [{ path: "/b" }] });
  expect(await c.findProjects("q")).toEqual({ roots: ["/r"], recent: [{ path: "/a" }], folders: [{ path: "/b" }] });
  call.mockResolvedValueOnce({});
  expect(await c.findProjects("q")).toEqual({ roots: [], recent: [], folders: [] });
  call.mockResolvedValueOnce({ folders: [{ path: "/b" }] });
  expect(await c.readProject("/b")).toEqual({ path: "/b" });
  call.mockRejectedValue(new Error("x"));
  expect([await c.findProjects("q"), await c.readProject("/b")]).toEqual([undefined, undefined]);
  expect(call.mock.calls.slice(1, 3)).toEqual([["projects.list", { query: "q", limit: 8 }], ["projects.list", { path: "/b" }]]);
});

test("models are asked for once for a session, and again where there were none", async () => {
  const { currentModel, loadModels, readModel, shortModel } = await import("./models");
  call.mockRejectedValueOnce(new Error("x")).mockResolvedValueOnce({ items: [{}] }).mockResolvedValueOnce({ items: ["m", { name: "n" }] });
  expect([await loadModels("s"), await loadModels("s")]).toEqual([[], []]);
  expect((await loadModels("s")).map((m) => m.value)).toEqual(["m", "n"]);
  expect((await loadModels("s")).length).toBe(2);
  expect(call.mock.calls).toEqual(Array(3).fill(["models.list", { session_id: "s" }]));
  expect(readModel({ value: "v", id: "i", name: "n", displayName: "d", display_name: "e", resolvedModel: "r" })).toEqual({ value: "v", label: "d", resolved: "r" });
  expect(readModel({ id: "i", name: "n", display_name: "e" })).toEqual({ value: "i", label: "e", resolved: "i" });
  expect(readModel({ value: "v", supportsEffort: true })).not.toHaveProperty("efforts");
  expect(["claude-opus-4-7-20260101", "opus-2026", "my-claude-x"].map(shortModel)).toEqual(["opus-4-7", "opus-2026", "my-claude-x"]);
  const models = [readModel({ value: "a", resolvedModel: "b" }), readModel({ value: "b" })];
  expect([currentModel(models, "b")?.value, currentModel(models.slice(0, 1), "b")?.value, currentModel(models, "c")]).toEqual(["b", "a", undefined]);
});
