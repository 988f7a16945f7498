export { decode } from "./decode";
export type * from "./messages";
export type { Service } from "./service";
