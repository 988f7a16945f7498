// Server-sent events of a response.

/** The maximum size of an event, in characters. The largest are snapshots of long sessions. */
export const maxEvent = 256 << 20;

export interface ServerEvent {
  /** The type of the event, "" for the default. */
  name: string;
  data: string;
}

/** Parses the body of a response. Each part that arrives feeds the watchdog. */
export async function* parse(response: Response, watchdog: { feed(): void }): AsyncGenerator<ServerEvent, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  const lines = new Lines();
  let name = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // an event without its end is not complete
      watchdog.feed();
      for (const line of lines.add(decoder.decode(value, { stream: true }))) {
        if (line === "") {
          if (data.length > 0) yield { name, data: data.join("\n") };
          name = "";
          data = [];
        } else if (line.startsWith("event:")) name = field(line, 6);
        else if (line.startsWith("data:")) data.push(field(line, 5));
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function field(line: string, from: number): string {
  return line.slice(line[from] === " " ? from + 1 : from);
}

/** Splits text that arrives in parts into lines. It reads each character once. */
class Lines {
  private parts: string[] = [];
  private size = 0;

  *add(text: string): Generator<string> {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.parts.push(text.slice(from, end));
      const line = this.parts.join("");
      this.parts = [];
      this.size = 0;
      from = end + 1;
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    if (from === text.length) return;
    this.parts.push(text.slice(from));
    this.size += text.length - from;
    if (this.size > maxEvent) throw new Error(`an event of the server has more than ${maxEvent} characters`);
  }
}
