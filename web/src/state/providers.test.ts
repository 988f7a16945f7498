import { beforeEach, expect, test, vi } from "vitest";
import type { ProviderInfo } from "../rpc/service";

const call = vi.fn();
vi.mock("./app", async () => {
  const { signal } = await import("@preact/signals");
  const { en } = await import("./words.en");
  return { call: (...args: unknown[]) => call(...args), hello: signal({ simulated: false }), w: signal(en) };
});
vi.mock("./sessions", async () => ({ live: (await import("@preact/signals")).signal([]) }));
vi.mock("./route", async () => ({ route: (await import("@preact/signals")).signal({ page: "home" }) }));

const p = await import("./providers");
const { hello } = await import("./app");
const { live } = await import("./sessions");
const { route } = await import("./route");

const agent = (name: string, more: Partial<ProviderInfo> = {}): ProviderInfo =>
  ({ name, available: true, ...more }) as ProviderInfo;

beforeEach(() => {
  p.providers.value = [];
  p.chosenProvider.value = "";
  live.value = [];
  hello.value = { simulated: false } as never;
});

test("the next agent is the chosen one, else the default, else the first; always one that can run", () => {
  expect(p.nextProvider()).toBeUndefined();
  p.providers.value = [
    agent("a", { available: false, default: true }),
    agent("b"),
    agent("c", { default: true }),
    agent("d", { available: false }),
  ];
  expect(p.nextProvider()?.name).toBe("c");
  p.chosenProvider.value = "b";
  expect(p.nextProvider()?.name).toBe("b");
  p.chosenProvider.value = "d";
  expect(p.nextProvider()?.name).toBe("c");
  p.providers.value = [agent("a", { available: false }), agent("b"), agent("c")];
  expect(p.nextProvider()?.name).toBe("b");
});

test("the agents are those of the server, and stay where it does not answer", async () => {
  call.mockResolvedValueOnce({ providers: [agent("a")] });
  await p.refreshProviders();
  expect(p.providers.value.map((x) => x.name)).toEqual(["a"]);
  call.mockRejectedValueOnce(new Error("gone"));
  await p.refreshProviders();
  expect(p.providers.value.map((x) => x.name)).toEqual(["a"]);
  call.mockResolvedValueOnce({});
  await p.refreshProviders();
  expect(p.providers.value).toEqual([]);
});

test("an agent has its own name, else that of the page, else its id", () => {
  p.providers.value = [agent("x", { display_name: "Mine" }), agent("claude", { display_name: "claude" }), agent("y")];
  expect(p.agentName("x")).toBe("Mine");
  expect(p.agentName("claude")).toBe("Claude");
  expect(p.agentName("y")).toBe("y");
});

test("simulated is what the server or its agent names so", () => {
  p.providers.value = [agent("fake", { simulated: true } as never), agent("real")];
  expect([
    p.isSimulated("sim"),
    p.isSimulated("fake"),
    p.isSimulated("real"),
    p.isSimulated(""),
    p.isSimulated(undefined),
  ]).toEqual([true, true, false, false, false]);
  hello.value = { simulated: true } as never;
  expect([p.isSimulated(""), p.isSimulated(undefined), p.isSimulated("real")]).toEqual([true, true, false]);
});

test("a session has its own capabilities, else those of another session of its agent", () => {
  live.value = [
    { session_id: "a", provider: "x" },
    { session_id: "b", provider: "x", capabilities: { fork: true } },
    { session_id: "c", provider: "y" },
    { session_id: "d" },
  ] as never;
  expect(p.capabilitiesOf("b")).toEqual({ fork: true });
  expect(p.capabilitiesOf("a")).toEqual({ fork: true });
  expect(p.capabilitiesOf("c")).toBeUndefined();
  expect(p.capabilitiesOf("d")).toBeUndefined();
  expect(p.providerOf("c")).toBe("y");
  expect(p.providerOf("none")).toBeUndefined();
});

test("a simulation is shown where what is on the screen comes from one", () => {
  p.providers.value = [agent("real")];
  live.value = [
    { session_id: "a", provider: "sim" },
    { session_id: "b", provider: "real" },
  ] as never;
  const at = (r: unknown) => {
    route.value = r as never;
    return p.simulationShown();
  };
  expect(at({ page: "session", ids: ["b", "a"] })).toBe(true);
  expect(at({ page: "session", ids: ["b"] })).toBe(false);
  expect(at({ page: "new" })).toBe(false);
  expect(at({ page: "home" })).toBe(false);
  hello.value = { simulated: true } as never;
  expect(at({ page: "home" })).toBe(false);
  p.providers.value = [agent("sim")];
  expect(at({ page: "home" })).toBe(true);
  expect(at({ page: "new" })).toBe(true);
});
