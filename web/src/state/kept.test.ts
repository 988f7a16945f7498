import { describe, expect, it } from "vitest";
import type { PendingPrompt } from "../rpc/service";
import { forget, requestName, requestPrefix, useKept } from "./kept";

const request = (input: unknown, more: object = {}): PendingPrompt =>
  ({
    session_id: "s1",
    prompt: { type: "permission_request", kind: "permission", request_id: "r1", provider: "sim", input, ...more },
  }) as PendingPrompt;

describe("what is kept", () => {
  it("is the same wherever it is drawn, until it is forgotten", () => {
    const [before, set] = useKept("a\nreason", "");
    expect(before).toBe("");
    set("because");
    expect(useKept("a\nreason", "")[0]).toBe("because");
    useKept("ab", 1)[1](2);
    forget("a\n");
    expect(useKept("a\nreason", "none")[0]).toBe("none");
    expect(useKept("ab", 1)[0]).toBe(2);
  });

  it("is bounded, and the newest stay", () => {
    useKept("first", "")[1]("text");
    for (let i = 0; i < 400; i++) useKept(`n${i}`, "");
    expect(useKept("first", "")[0]).toBe("text"); // drawn again
    for (let i = 400; i < 800; i++) useKept(`n${i}`, "");
    expect(useKept("first", "")[0]).toBe("text");
    for (let i = 0; i < 600; i++) useKept(`m${i}`, "");
    expect(useKept("first", "gone")[0]).toBe("gone");
  });
});

describe("the name of a request", () => {
  it("is that of what is asked, not of the id alone", () => {
    const a = request({ command: "ls" });
    expect(requestName(a)).toBe(requestName(request({ command: "ls" })));
    expect(requestName(a)).not.toBe(requestName(request({ command: "rm -rf ." })));
    expect(requestName(a)).not.toBe(requestName(request({ command: "ls" }, { tool_use_id: "t2" })));
    expect(requestName({ ...a, session_id: "s2" })).not.toBe(requestName(a));
    expect(requestName(a).startsWith(requestPrefix(a))).toBe(true);
    expect(requestName(request({ text: "x".repeat(100_000) })).length).toBeLessThan(5000);
  });

  it("is that of the questions", () => {
    const ask = (questions: unknown, message?: string) =>
      ({ session_id: "s1", prompt: { type: "question_request", kind: "question", request_id: "r1", questions, message } }) as PendingPrompt;
    expect(requestName(ask([{ question: "a" }]))).not.toBe(requestName(ask([{ question: "b" }])));
    expect(requestName(ask(undefined, "a"))).not.toBe(requestName(ask(undefined, "b")));
  });
});
