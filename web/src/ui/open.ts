// Which overlays of the page are open.

import { signal } from "@preact/signals";

export const palette = signal(false);
export const help = signal(false);
