// Times the fold of the RPC messages in a file and says what state it comes to.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { canonical, Fold } from "../../web/dist/fold.mjs";

const messages = readFileSync(process.argv[2], "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const fold = new Fold();
const begin = performance.now();
for (const message of messages) fold.apply(message);
const ms = performance.now() - begin;
const state = createHash("sha256").update(canonical(fold.conversation)).digest("hex");
console.log(JSON.stringify({ ms, state }));
