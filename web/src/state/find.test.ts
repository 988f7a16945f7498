import { expect, test } from "vitest";
import { findRows } from "./find";
import type { Row } from "./rows";

const row = (key: string, part: Partial<Row>): Row => ({ key, kind: "text", item: { kind: "message" }, more: false, ...part });

test("rows are found by what they show: answers, messages, tools", () => {
  const rows = [
    row("a", { block: { index: 0, type: "text", state: "complete", text: "The Berth ledger" } as Row["block"] & object }),
    row("b", { message: { role: "user", state: "complete", blocks: [{ text: "nothing" }] } as unknown as Row["message"] & object }),
    row("c", {
      block: { tool: { title: "", input: { command: "cat berth.go" }, result: [{ text: "x" }] } } as unknown as Row["block"] & object,
    }),
    row("d", { block: { tool: { title: "", input: {}, result: "no BERTH here" } } as unknown as Row["block"] & object }),
  ];
  expect(findRows(rows, " berth ")).toEqual(["a", "c", "d"]);
  expect(findRows(rows, "")).toEqual([]);
  expect(findRows(rows, "noth")).toEqual(["b"]);
});
