export { decode } from "../rpc/decode";
export { canonical } from "./canonical";
export type * from "./conversation";
export { Fold } from "./fold";
export { toolType } from "./tooltype";
