import { expect, test, vi } from "vitest";

const answers: ((d: unknown) => void)[] = [];
vi.mock("./workspace", () => ({ loadDiff: vi.fn(() => new Promise((resolve) => answers.push(resolve))) }));

const { SharedDiff, sharedDiff } = await import("./diffs");

/** Answers the oldest call, and waits until that has its effect. */
async function answer(d: string): Promise<void> {
  answers.shift()?.(d);
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

test("a diff is loaded once for a version, and once more for those that came meanwhile", async () => {
  const d = new SharedDiff("s", {} as never);
  d.load("1");
  d.load("1");
  expect(answers).toHaveLength(1);
  d.load("2");
  d.load("3");
  expect(answers).toHaveLength(1);
  await answer("one");
  expect(d.diff.value).toBe("one");
  expect(answers).toHaveLength(1);
  await answer("three");
  expect(d.diff.value).toBe("three");
  expect(answers).toHaveLength(0);
  d.load("4");
  expect(answers).toHaveLength(1);
  await answer("four");
  expect(d.diff.value).toBe("four");
});

test("what an action answers is newer than a diff that was asked for before", async () => {
  const d = new SharedDiff("s", {} as never);
  d.load("1");
  d.set("acted" as never);
  await answer("old");
  expect(d.diff.value).toBe("acted");
  d.load("2");
  await answer("new");
  expect(d.diff.value).toBe("new");
});

test("whoever shows a scope of a session shares its diff, and forty are kept", () => {
  const [a, b] = [{ id: "a" }, { id: "b" }] as never[];
  const d = sharedDiff(a as never, { turn: "t" });
  expect(sharedDiff(a as never, { turn: "t" })).toBe(d);
  for (const other of [sharedDiff(a as never, {}), sharedDiff(a as never, { turn: "t", against: "head" }), sharedDiff(a as never, { against: "head" }), sharedDiff(b as never, { turn: "t" })]) expect(other).not.toBe(d);
  for (let i = 0; i < 36; i++) sharedDiff(a as never, { turn: `${i}` });
  expect(sharedDiff(a as never, { turn: "t" }), "forty are kept").toBe(d);
  for (let i = 0; i < 39; i++) sharedDiff(a as never, { turn: `more ${i}` });
  expect(sharedDiff(a as never, { turn: "t" }), "it was asked for among the last forty").toBe(d);
  for (let i = 0; i < 40; i++) sharedDiff(a as never, { turn: `again ${i}` });
  expect(sharedDiff(a as never, { turn: "t" })).not.toBe(d);
});
