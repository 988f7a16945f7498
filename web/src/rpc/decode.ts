import type { RpcMessage } from "./messages";

/** Every type of message. It does not compile where one is missing. */
const known: Record<RpcMessage["type"], true> = {
  assistant: true,
  compact_boundary: true,
  error: true,
  permission_request: true,
  permission_resolved: true,
  question_request: true,
  question_resolved: true,
  queue_changed: true,
  rate_limit: true,
  result: true,
  session_state: true,
  status_system: true,
  stream_event: true,
  system_init: true,
  task_notification: true,
  task_progress: true,
  task_started: true,
  task_updated: true,
  tool_progress: true,
  unknown: true,
  user: true,
};

/**
 * The message of a JSON text. It never throws: a message of a newer server, and a text
 * that is none, come in the shape of what is unknown.
 */
export function decode(text: string): RpcMessage {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { type: "unknown", originalType: "", data: text };
  }
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  if (typeof type === "string" && Object.hasOwn(known, type)) return data as RpcMessage;
  return { type: "unknown", originalType: typeof type === "string" ? type : "", data };
}
