import { expect, test } from "vitest";
import { arm, armed, disarm, gap, hold, mayAnswer, mayChoose, noteCharacter, ready, setShown } from "./arming";

/** Types a character and returns whether it may answer. */
function type(now: number): boolean {
  noteCharacter(now);
  return mayAnswer(true, now);
}

test("a key answers after 600 ms in view and a second of quiet", () => {
  expect(type(0)).toBe(false);
  arm("s/1");
  expect(type(5000), "nothing is shown yet").toBe(false);
  setShown(true, 6000);
  setShown(true, 6500);
  expect(mayAnswer(false, 6599)).toBe(false);
  expect(mayAnswer(false, 6600)).toBe(true);
  expect(type(6601)).toBe(true);
  expect(type(7600), "another character came 999 ms before").toBe(false);
  expect(gap()).toBe(999);
  expect(mayAnswer(false, 8599), "Enter comes too soon after it").toBe(false);
  expect(mayAnswer(false, 8600)).toBe(true);
  setShown(false, 9000);
  expect(type(20_000), "out of view").toBe(false);
});

test("what was typed while a request was armed is whole", () => {
  arm("s/1");
  hold("o");
  hold("k");
  expect(armed.value).toBe("s/1");
  expect(disarm()).toBe("ok");
  expect(armed.value).toBe("");
  arm("s/2");
  expect(disarm()).toBe("");
});

test("digits choose one after the other, and Enter waits for the last of them", () => {
  noteCharacter(100_000);
  arm("s/3");
  setShown(true, 100_500);
  expect(mayChoose(100_999)).toBe(false);
  noteCharacter(101_200, true);
  expect(mayChoose(101_200)).toBe(true);
  noteCharacter(101_300, true);
  expect(mayChoose(101_300)).toBe(true);
  expect(mayAnswer(false, 102_299)).toBe(false);
  expect(mayAnswer(false, 102_300)).toBe(true);
});

test("a request that is armed, ended or out of view begins its time anew", () => {
  noteCharacter(300_000);
  arm("s/1");
  setShown(true, 300_000);
  hold("x");
  expect(mayAnswer(false, 302_000)).toBe(true);
  arm("s/2");
  expect([mayAnswer(false, 302_000), mayChoose(302_000)]).toEqual([false, false]);
  expect(disarm()).toBe("");
  arm("s/3");
  setShown(true, 302_000);
  disarm();
  expect([armed.value, mayAnswer(false, 309_000)]).toEqual(["", false]);
  arm("s/5");
  setShown(true, 310_000);
  arm("s/5"); // a step that leads to itself
  expect(mayAnswer(false, 320_000)).toBe(true);
  arm("s/4");
  setShown(true, 310_000);
  expect([mayChoose(310_599), mayChoose(310_600)]).toEqual([false, true]);
  expect([ready(undefined, false, 400_000), ready(399_400, false, 400_000), ready(399_401, false, 400_000)]).toEqual([false, true, false]);
});
