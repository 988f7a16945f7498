// The list of machines, reloaded while it is shown.

import { useEffect } from "preact/hooks";
import { status } from "../state/app";
import { refreshMachines } from "../state/machines";

/** Reloads the list of machines at an interval in milliseconds. */
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
