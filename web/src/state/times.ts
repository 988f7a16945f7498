// When tools began, waited for a person and ended, by the times of their envelopes.

import { get, list, str } from "../fold/json";
import type { RpcMessage } from "../rpc/messages";

export interface ToolTimes {
  start: number;
  end?: number;
  /** When the open question was asked. */
  asked?: number;
  /** How long a person took so far, in milliseconds. */
  waited: number;
}

export class Times {
  private readonly tools = new Map<string, ToolTimes>();
  private readonly requests = new Map<string, string>();
  private readonly thoughts = new Map<string, { start: number; end?: number }>();
  private message = "";
  /** When the turn that runs began, later by the time that its requests have waited. */
  turn: number | undefined;
  /** The open requests, and since when at least one is open. */
  private readonly open = new Set<string>();
  private openSince = 0;
  /** When the last event came. */
  last = 0;

  note(msg: RpcMessage, ts: string): void {
    const t = Date.parse(ts);
    if (Number.isNaN(t)) return;
    this.last = t;
    switch (msg.type) {
      case "stream_event":
        return this.stream(msg.event, msg.parent_tool_use_id ?? "", t);
      case "assistant":
        for (const b of list(get(msg.message, "content"))) this.begin(str(get(b, "id")), t);
        return;
      case "permission_request":
      case "question_request": {
        const id = msg.tool_use_id ?? "";
        this.requests.set(msg.request_id, id);
        if (this.open.size === 0) this.openSince = t;
        this.open.add(msg.request_id);
        const tool = this.begin(id, t);
        if (tool) tool.asked = t;
        return;
      }
      case "permission_resolved":
      case "question_resolved": {
        if (this.open.delete(msg.request_id) && this.open.size === 0 && this.turn !== undefined)
          this.turn += t - this.openSince;
        const tool = this.tools.get(this.requests.get(msg.request_id) ?? msg.tool_use_id ?? "");
        if (tool?.asked === undefined) return;
        tool.waited += t - tool.asked;
        delete tool.asked;
        return;
      }
      case "user":
        for (const b of list(get(msg.message, "content"))) {
          const tool = this.tools.get(str(get(b, "tool_use_id")));
          if (tool && tool.end === undefined) tool.end = t;
        }
        if (msg.isPrompt) this.turn = t;
        return;
      case "result":
        this.open.clear();
        this.turn = undefined;
        return;
    }
  }

  private stream(event: unknown, parent: string, t: number): void {
    const type = str(get(event, "type"));
    if (type === "message_start") this.message = parent + str(get(get(event, "message"), "id"));
    const key = `${this.message}/${String(get(event, "index"))}`;
    if (type === "content_block_start") {
      const block = get(event, "content_block");
      this.begin(str(get(block, "id")), t);
      if (get(block, "type") === "thinking") this.thoughts.set(key, { start: t });
    } else if (type === "content_block_stop") {
      const thought = this.thoughts.get(key);
      if (thought) thought.end = t;
    }
  }

  private begin(id: string, t: number): ToolTimes | undefined {
    if (id === "") return undefined;
    let tool = this.tools.get(id);
    if (tool === undefined) {
      tool = { start: t, waited: 0 };
      this.tools.set(id, tool);
    }
    return tool;
  }

  tool(id: string): ToolTimes | undefined {
    return this.tools.get(id);
  }

  /** How long a thought took, in milliseconds. */
  thought(message: string, index: number): number | undefined {
    const t = this.thoughts.get(`${message}/${index}`);
    return t?.end === undefined ? undefined : t.end - t.start;
  }

  /** How long a tool ran without the time that a person took. */
  ran(id: string, now: number): number | undefined {
    const t = this.tools.get(id);
    if (t === undefined) return undefined;
    return Math.max(0, (t.end ?? t.asked ?? now) - t.start - t.waited);
  }
}
