// The project and agent of the shown settings.

import { signal } from "@preact/signals";
import { CallError } from "../../rpc/connection";
import { sayError, settings, w } from "../../state/app";
import { lastProject } from "../../state/choices";
import { providers } from "../../state/providers";
import { plain } from "../../state/safe";
import { live } from "../../state/sessions";
import { Row, Select } from "./row";

const chosen = signal("");

/** The folders with settings to read: the roots, the last chosen project, and those of sessions. */
function folders(): string[] {
  const all = [lastProject.value, ...(settings.value?.directories ?? []), ...live.value.map((s) => s.repo || (s.cwd ?? ""))];
  return [...new Set(all.filter((d) => d !== ""))].slice(0, 50);
}

/** The parameters that name the settings. Only Claude has such settings. */
export function settingsOf(): { cwd: string; provider: string } {
  const all = folders();
  const cwd = all.includes(chosen.value) ? chosen.value : (all[0] ?? "");
  return { cwd, provider: providers.value.find((p) => p.name === "claude")?.name ?? "" };
}

/** Why the settings of a project are missing. An agent without settings is not an error. */
export function Unread({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const none = error instanceof CallError && error.reason === "unsupported";
  return none ? <Row name={w.value.set_.noneKept} /> : <Row name={w.value.set_.unread} error={sayError(error)} />;
}

export function ProjectRow() {
  const t = w.value;
  const { cwd } = settingsOf();
  return (
    <Row name={t.project} note={t.set_.projectNote}>
      <Select
        label={t.set_.projectOf}
        value={cwd}
        options={folders().map((d) => [d, plain(d.split("/").pop() || d)])}
        set={(d) => {
          chosen.value = d;
        }}
      />
    </Row>
  );
}
