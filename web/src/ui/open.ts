// What lies over the page, by whether it is open.

import { signal } from "@preact/signals";

export const palette = signal(false);
export const help = signal(false);
