// Calls functions of the official SDK: one call a line on standard input,
// {"fn": name, "args": [...]}, one answer a line on standard output, {"value": ...} or
// {"error": message}. The first argument is the path of the SDK's module.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = await import(pathToFileURL(process.argv[2]));
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { fn, args } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await sdk[fn](...(args ?? []))) ?? null };
  } catch (err) {
    answer = { error: String(err?.message ?? err) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
