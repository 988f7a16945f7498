export { canonical } from "../../src/fold/canonical";
export type { FoldedConversation } from "../../src/fold/conversation";
/** The types of a folded conversation. */
export type * as conversation from "../../src/fold/conversation";
export { Fold } from "../../src/fold/fold";
export { CallError, type Envelope, type Method, type Params, type Result } from "../../src/rpc/connection";
export { decode, decodeValue } from "../../src/rpc/decode";
export type * from "../../src/rpc/messages";
export { type CallOptions, Client, type Options } from "./client";
export type { Cursor, EventsOptions, Update } from "./events";
export { Watch, type WatchOptions, type WatchStatus } from "./watch";
