// A front end written only from the message format: it has no fold, handles the five kinds of messages, the events of a
// stream and the results of tools, and must compile as it is.
import { expect, test } from "vitest";
import type {
  RpcAssistantMessage,
  RpcDelta,
  RpcErrorMessage,
  RpcMessage,
  RpcResultMessage,
  RpcStreamEventData,
  RpcUserMessage,
} from "./index";

class FrontEnd {
  text = "";
  thinking = "";
  input = "";
  streaming = false;
  usage: unknown;
  blocks: string[] = [];
  tools: Record<string, { status: string; result?: unknown }> = {};
  answers: string[] = [];
  ended: { failed: boolean; turns: number } | undefined;
  error = "";

  handleMessage(msg: RpcMessage): void {
    switch (msg.type) {
      case "user":
        this.handleUserMessage(msg);
        break;
      case "assistant":
        this.handleAssistantMessage(msg);
        break;
      case "result":
        this.handleResultMessage(msg);
        break;
      case "stream_event":
        this.handleStreamEvent(msg.event);
        break;
      case "error":
        this.handleErrorMessage(msg);
        break;
    }
  }

  handleStreamEvent(event: RpcStreamEventData): void {
    switch (event.type) {
      case "message_start":
        this.streaming = true;
        break;
      case "content_block_start":
        this.blocks[event.index] = event.content_block.type;
        break;
      case "content_block_delta":
        this.handleDelta(event.delta);
        break;
      case "content_block_stop":
        break;
      case "message_delta":
        this.usage = event.usage;
        break;
      case "message_stop":
        this.streaming = false;
        break;
    }
  }

  handleDelta(delta: RpcDelta): void {
    switch (delta.type) {
      case "text_delta":
        this.text += delta.text;
        break;
      case "thinking_delta":
        this.thinking += delta.thinking;
        break;
      case "input_json_delta":
        this.input += delta.partial_json;
        break;
    }
  }

  handleUserMessage(msg: RpcUserMessage): void {
    for (const block of msg.message.content) {
      if (block.type === "tool_result") {
        this.tools[block.tool_use_id] = { status: block.is_error ? "failed" : "success", result: block.content };
      }
    }
  }

  handleAssistantMessage(msg: RpcAssistantMessage): void {
    for (const block of msg.message.content) {
      if (block.type === "text") this.answers.push(block.text);
    }
  }

  handleResultMessage(msg: RpcResultMessage): void {
    this.ended = { failed: msg.is_error, turns: msg.num_turns };
  }

  handleErrorMessage(msg: RpcErrorMessage): void {
    this.error = msg.message;
  }
}

test("a front end written by the message format reads a turn", () => {
  const stream = (event: string) =>
    `{"type":"stream_event","uuid":"evt-00000000-1","session_id":"s","event":${event},"provider":"claude"}`;
  const lines = [
    stream(`{"type":"message_start","message":{"id":"m","content":[]}}`),
    stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
    stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`),
    stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`),
    stream(`{"type":"content_block_stop","index":0}`),
    stream(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`),
    stream(`{"type":"message_stop"}`),
    `{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]},"provider":"claude"}`,
    `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out","is_error":false}]},"provider":"claude"}`,
    `{"type":"notice","severity":"info","text":"newer","provider":"claude"}`,
    `{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"num_turns":1,"provider":"claude"}`,
  ];
  const page = new FrontEnd();
  for (const line of lines) page.handleMessage(JSON.parse(line) as RpcMessage);
  expect(page).toMatchObject({
    text: "Hello",
    streaming: false,
    usage: { output_tokens: 2 },
    blocks: ["text"],
    tools: { t: { status: "success", result: "out" } },
    answers: ["Hello"],
    ended: { failed: false, turns: 1 },
    error: "",
  });
});
