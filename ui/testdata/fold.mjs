// Folds cases with web/dist/fold.mjs. A line in is {"name", "messages": [RPC message],
// "cut": n, "snapshot"}; the line out is {"name", "state"} with the canonical JSON of the
// state. With cut the state is encoded behind n messages and the fold goes on from the
// text; with snapshot it begins from a state. Messages that are strings are decoded first.
import { createInterface } from "node:readline";
import { canonical, decode, Fold } from "../../web/dist/fold.mjs";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { name, messages, cut, snapshot } = JSON.parse(line);
  let out;
  try {
    let fold = new Fold(snapshot);
    const begin = performance.now();
    messages.forEach((message, i) => {
      if (i === cut) fold = new Fold(JSON.parse(JSON.stringify(fold.conversation)));
      fold.apply(typeof message === "string" ? decode(message) : message);
    });
    out = { name, ms: performance.now() - begin, state: canonical(fold.conversation) };
  } catch (err) {
    out = { name, error: String(err?.stack ?? err) };
  }
  process.stdout.write(JSON.stringify(out) + "\n");
}
