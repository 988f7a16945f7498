// The list of machines, asked for again while it is shown.

import { useEffect } from "preact/hooks";
import { status } from "../state/app";
import { refreshMachines } from "../state/machines";

/** Keeps the list of machines current, in steps of so many milliseconds. */
export function useMachines(every: number): void {
  const open = status.value === "open";
  useEffect(() => {
    if (!open) return;
    const load = () => void refreshMachines().catch(() => {});
    load();
    const id = setInterval(() => document.hidden || load(), every);
    return () => clearInterval(id);
  }, [open, every]);
}
