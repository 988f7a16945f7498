// Folds cases with web/dist/fold.mjs. A line in is {"name", "messages": [RPC message],
// "cut": n, "snapshot"}; the line out is {"name", "state"} with the canonical JSON of the
// state. With cut the state is encoded behind n messages and the fold goes on from the
// text; with snapshot it begins from a state. With every the fold goes on from the text of
// the state after each message as well, and all have to come to the same. Messages that are
// strings are decoded first.
import { readFileSync } from "node:fs";
import { canonical, decode, Fold } from "../../../web/dist/fold.mjs";

// Lines can be many megabytes, which readline takes apart in a time that grows with the square.
const input = readFileSync(0);
for (let begin = 0; begin < input.length; ) {
  const end = input.indexOf(10, begin);
  const { name, messages, cut, snapshot, every } = JSON.parse(input.toString("utf8", begin, end));
  begin = end + 1;
  let out;
  try {
    let fold = new Fold(snapshot);
    const started = performance.now();
    messages.forEach((message, i) => {
      if (i === cut) fold = new Fold(JSON.parse(JSON.stringify(fold.conversation)));
      fold.apply(typeof message === "string" ? decode(message) : every ? structuredClone(message) : message);
    });
    out = { name, ms: performance.now() - started, steps: fold.steps, state: canonical(fold.conversation) };
    if (every) {
      const growing = new Fold(snapshot);
      messages.forEach((message, i) => {
        const rest = new Fold(JSON.parse(JSON.stringify(growing.conversation)));
        for (const later of messages.slice(i)) rest.apply(structuredClone(later));
        if (canonical(rest.conversation) !== out.state) throw new Error(`from the snapshot after ${i} messages: ${canonical(rest.conversation)}`);
        growing.apply(structuredClone(message));
      });
    }
  } catch (err) {
    out = { name, error: String(err?.stack ?? err) };
  }
  process.stdout.write(JSON.stringify(out) + "\n");
}
