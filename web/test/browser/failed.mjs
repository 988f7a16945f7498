// A reporter that prints one line for each test that failed: a pattern for its name, or its file if that failed as a whole.

const special = /[.*+?^${}()|[\]\\/]/g;

export default async function* failed(source) {
  for await (const { type, data } of source) {
    if (type !== "test:fail" || data.nesting > 0) continue;
    const whole = data.name === data.file;
    yield whole ? `${data.file}\n` : `/^${data.name.replace(special, "\\$&")}$/\n`;
  }
}
