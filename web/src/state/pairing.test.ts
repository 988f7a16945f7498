import { expect, test } from "vitest";
import { clock, isLoopback, pairingUrl, reachOf } from "./pairing";

test("a phone gets the address of the page, or one that the server knows, and none of loopback", () => {
  const p = { code: "c-1", addresses: ["https://box.example:8443/"] };
  expect(pairingUrl(p, "https://parley.example/tools/?session=x#/home")).toBe("https://parley.example/tools/#pair=c-1");
  expect(pairingUrl(p, "http://localhost:8080/")).toBe("https://box.example:8443/#pair=c-1");
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1"]) expect(isLoopback(host), host).toBe(true);
  for (const host of ["localhost.example", "128.0.0.1", "box", "127.0.0.1.example", "10.0.0.1"]) expect(isLoopback(host), host).toBe(false);
  expect(reachOf("127.0.0.1", { loopback: true })).toBe("loopback");
  expect(reachOf("127.0.0.1", { loopback: false, addresses: [] })).toBe("unknown");
  expect(reachOf("127.0.0.1", { loopback: false, addresses: ["http://box/"] })).toBe("open");
  expect(reachOf("box.example", { loopback: true, addresses: null })).toBe("open");
  expect(clock(119)).toBe("1:59");
});
