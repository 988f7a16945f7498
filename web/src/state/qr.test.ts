import { expect, test } from "vitest";
import { qrCode } from "./qr";

// An independent decoder (jsQR 1.4.0) has read each of these codes before its checksum was recorded.
test("codes of every length are those that a decoder has read", async () => {
  let all = "";
  for (let n = 1; n <= 213; n++) {
    const text = Array.from({ length: n }, (_, i) => String.fromCharCode(33 + ((i * 7 + n * 13) % 90))).join("");
    for (const row of qrCode(text) ?? []) all += row.map((d) => (d ? "1" : "0")).join("");
  }
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(all)));
  expect([...sum].map((b) => b.toString(16).padStart(2, "0")).join("")).toBe("168224570e784b06227df1633f740efadb1aa1a6b084fcee3ea1758147c87f4c");
}, 60_000);

test("a text that does not fit has no code", () => {
  expect(qrCode("x".repeat(213))?.length).toBe(57);
  expect(qrCode("x".repeat(214))).toBeUndefined();
  expect(qrCode("界".repeat(71))?.length).toBe(57);
  expect(qrCode("界".repeat(72))).toBeUndefined();
});
