import type { RpcMessage } from "../rpc/messages";
import type { FoldedConversation } from "./conversation";
import { get, isObj, num, str } from "./json";
import { emptyConversation, Lookup } from "./lookup";
import {
  answered,
  queueChanged,
  queueUpdated,
  sessionState,
  status,
  systemInit,
  taskNotification,
  taskProgress,
  taskStarted,
  taskUpdated,
} from "./session";
import { hook, notice, sessionInfo } from "./notice";
import { streamEvent } from "./stream";
import { toolProgress } from "./tool";
import { truncate, turnDiff, turnStart, usage } from "./turn";
import { assistant, result, unknown, user } from "./whole";

/**
 * Folds RPC messages to the state that a screen shows. It equals Conversation in the Go package
 * agent/event: the same messages give the same state. No message makes it throw: unknown ones
 * become items of kind unknown.
 */
export class Fold {
  private readonly lookup: Lookup;

  /** Begins with an empty conversation, or continues from a snapshot. */
  constructor(snapshot?: FoldedConversation) {
    this.lookup = new Lookup(snapshot ?? emptyConversation());
  }

  /** The state. It is changed in place: copy it to keep an old state. */
  get conversation(): FoldedConversation {
    this.lookup.settle();
    return this.lookup.state;
  }

  /** The number of steps that grows with the conversation, for tests. */
  get steps(): number {
    return this.lookup.steps;
  }

  /** Folds a message in. */
  apply(msg: RpcMessage): void {
    if (!isObj(msg)) return;
    const x = this.lookup;
    const session = str(get(msg, "session_id"));
    if (session !== "") x.state.sessionId = session;
    const provider = str(get(msg, "provider"));
    if (provider !== "") x.state.provider = provider;
    this.applyMessage(msg);
    x.settleSmall();
  }

  private applyMessage(msg: RpcMessage): void {
    const x = this.lookup;
    switch (msg.type) {
      case "stream_event":
        return streamEvent(x, msg);
      case "assistant":
        return assistant(x, msg);
      case "user":
        return user(x, msg);
      case "result":
        return result(x, msg);
      case "error":
        x.add(str(msg.parent_tool_use_id), { kind: "error", error: msg });
        return;
      case "tool_progress":
        return toolProgress(x, str(msg.tool_use_id), num(msg.elapsed_time_seconds), msg.task_id, msg.output_delta);
      case "unknown":
        return unknown(x, msg);
      default:
        return this.applySession(msg);
    }
  }

  private applySession(msg: SessionMessage): void {
    const x = this.lookup;
    switch (msg.type) {
      case "system_init":
        return systemInit(x, msg);
      case "status_system":
        return status(x, msg);
      case "compact_boundary":
        x.add("", { kind: "compaction", compaction: msg });
        return;
      case "rate_limit":
        x.state.rateLimit = msg;
        return;
      case "session_state":
        return sessionState(x, msg.state);
      case "queue_changed":
        return queueChanged(x, msg.items);
      case "queue_updated":
        return queueUpdated(x, msg);
      case "permission_request":
      case "question_request":
        return x.ask(msg);
      case "permission_resolved":
        return answered(x, "permission_request", msg, msg.behavior);
      case "question_resolved":
        return answered(x, "question_request", msg, msg.action);
      case "task_started":
        return taskStarted(x, msg);
      case "task_progress":
        return taskProgress(x, msg);
      case "task_updated":
        return taskUpdated(x, msg);
      case "task_notification":
        return taskNotification(x, msg);
      default:
        return this.applyTurn(msg);
    }
  }

  private applyTurn(msg: TurnMessage): void {
    const x = this.lookup;
    switch (msg.type) {
      case "turn_start":
        return turnStart(x, msg);
      case "plan":
        x.thread(str(msg.parent_tool_use_id)).plan = msg;
        return;
      case "turn_diff":
        return turnDiff(x, msg);
      case "usage":
        return usage(x, msg);
      case "truncate":
        return truncate(x, msg);
      case "notice":
        return notice(x, msg);
      case "retry":
        x.state.retry = msg;
        return;
      case "hook":
        return hook(x, msg);
      case "session_info":
        return sessionInfo(x, msg);
      default:
        // A message of a newer server: kept, not understood.
        return unknown(x, { type: "unknown", originalType: str(get(msg, "type")), data: msg });
    }
  }
}

type Other = "stream_event" | "assistant" | "user" | "result" | "error" | "tool_progress" | "unknown";
type SessionMessage = Exclude<RpcMessage, { type: Other }>;
type Turns = "turn_start" | "plan" | "turn_diff" | "usage" | "truncate" | "notice" | "retry" | "hook" | "session_info";
type TurnMessage = Extract<RpcMessage, { type: Turns }>;
