import type { RpcMessage } from "./messages";

/** Every type of message. It does not compile if one is missing. */
const known: Record<RpcMessage["type"], true> = {
  assistant: true,
  compact_boundary: true,
  error: true,
  hook: true,
  notice: true,
  permission_request: true,
  permission_resolved: true,
  plan: true,
  question_request: true,
  question_resolved: true,
  queue_changed: true,
  queue_updated: true,
  rate_limit: true,
  result: true,
  retry: true,
  session_info: true,
  session_state: true,
  status_system: true,
  stream_event: true,
  system_init: true,
  task_notification: true,
  task_progress: true,
  task_started: true,
  task_updated: true,
  tool_progress: true,
  truncate: true,
  turn_diff: true,
  turn_start: true,
  unknown: true,
  usage: true,
  user: true,
};

/** How deep a message nests at most. */
const maxDepth = 2000;

/** Whether a JSON text nests deeper than a number of levels. */
function deeper(text: string, levels: number): boolean {
  if (text.length <= 2 * levels) return false; // each level needs two brackets
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x5b || c === 0x7b) {
      if (++depth > levels) return true;
    } else if (c === 0x5d || c === 0x7d) {
      depth--;
    } else if (c === 0x22) {
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
    }
  }
  return false;
}

/**
 * Decodes a JSON text to a message. It never throws: a message of a newer server, or an invalid
 * text, is returned as an unknown message.
 */
export function decode(text: string): RpcMessage {
  if (deeper(text, maxDepth)) return { type: "unknown", originalType: "", data: text };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { type: "unknown", originalType: "", data: text };
  }
  return decodeValue(data);
}

/** The message of a JSON value, with the same promise. */
export function decodeValue(data: unknown): RpcMessage {
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  if (typeof type === "string" && Object.hasOwn(known, type)) return data as RpcMessage;
  return { type: "unknown", originalType: typeof type === "string" ? type : "", data };
}
