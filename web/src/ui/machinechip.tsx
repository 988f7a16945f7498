// The machine of a session, unless it is the server's.

import { plain } from "../state/safe";
import { mw } from "../state/words.machines";
import { Icon } from "./icon";

export function MachineChip({ name }: { name: string }) {
  return (
    <span class="chip line" title={mw.value.machine}>
      <Icon name="server" /> {plain(name)}
    </span>
  );
}
