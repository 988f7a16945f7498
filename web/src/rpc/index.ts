export { decode } from "./decode";
export type * from "./messages";
export type * from "./names";
export type { Service } from "./service";
