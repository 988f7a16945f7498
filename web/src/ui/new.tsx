// A new session; the first time it also says what there is and what to do next.

import { useState } from "preact/hooks";
import { type Draft, startSession } from "../state/actions";
import { settings, w } from "../state/app";
import {
  agentName,
  capabilitiesOfAgent,
  chosenProvider,
  isSimulated,
  nextProvider,
  providers,
} from "../state/providers";
import { plain } from "../state/safe";
import { basename } from "../state/tools";
import { Checks } from "./checks";
import { Choose, modeOptions } from "./composer/switches";
import { InputBox } from "./composer/input";
import { draft, restore } from "../state/drafts";
import { MenuButton } from "./frame";
import { Icon, type IconName } from "./icon";
import { makeTree, type Tree, Worktree } from "./worktree";

const tries: readonly { icon: IconName; key: "permission" | "change" | "question" }[] = [
  { icon: "lock", key: "permission" },
  { icon: "pencil", key: "change" },
  { icon: "help", key: "question" },
];

export function NewPage() {
  const t = w.value;
  const [mode, setMode] = useState(settings.value?.default_permission_mode || "default");
  const dirs = settings.value?.directories ?? [];
  const [cwd, setCwd] = useState("");
  const chosen = nextProvider();
  const modes = modeOptions(mode, chosen ? capabilitiesOfAgent(chosen.name) : undefined);
  const directory = cwd || (dirs[0] ?? "");
  const [tree, setTree] = useState<Tree>();
  const [making, setMaking] = useState(false);
  const start = async (d: Draft) => {
    let place: { cwd?: string; workspace_id?: string } = directory ? { cwd: directory } : {};
    if (tree) {
      setMaking(true);
      const made = await makeTree(directory, tree);
      setMaking(false);
      if (made === undefined) return restore(draft("new"), d);
      place = { workspace_id: made };
    }
    const id = await startSession(
      {
        ...(chosen ? { provider: chosen.name } : {}),
        ...place,
        ...(mode !== "default" && modes.some((m) => m.value === mode) ? { permission_mode: mode } : {}),
      },
      d,
    );
    if (id === undefined) restore(draft("new"), d); // what was written is not lost
  };
  const simulated = isSimulated(chosen?.name);
  return (
    <main class="centre" id="main">
      <header class="bar phone-bar">
        <MenuButton />
        <p class="bar-t cut">{t.newSession}</p>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label={t.newSession}>
        <div class="hero">
          <h1 class="big-title">{t.startTitle}</h1>
          <p class="lead">{t.startLead}</p>
          <InputBox
            id="new"
            commands={[]}
            placeholder={simulated ? t.askSimulated : t.placeholder}
            sendLabel={t.startSession}
            onSend={(d) => void start(d)}
            switches={
              <>
                <AgentSwitch current={chosen?.name ?? ""} />
                {modes.length > 0 && <Choose icon="shield" label={t.mode} value={mode} options={modes} set={setMode} />}
                {dirs.length > 0 && (
                  <Choose
                    icon="folder"
                    label={t.directory}
                    value={directory}
                    options={dirs.map((d) => ({ value: d, label: directoryName(d, dirs) }))}
                    set={setCwd}
                  />
                )}
              </>
            }
          />
          {directory !== "" && <Worktree tree={tree} set={setTree} making={making} />}
          {simulated && (
            <div class="try">
              {tries.map((x) => (
                <button
                  key={x.key}
                  type="button"
                  class="trybtn"
                  onClick={() => {
                    draft("new").text.value = "";
                    void start({ text: t.tries[x.key].prompt, contexts: [], images: [] });
                  }}
                >
                  <Icon name={x.icon} />
                  <b>{t.tries[x.key].title}</b>
                  <span>{t.tries[x.key].note}</span>
                </button>
              ))}
            </div>
          )}
          <Checks directory={directory} simulated={simulated} />
        </div>
      </div>
    </main>
  );
}

/** A directory by its last name, unless another one has the same. */
function directoryName(dir: string, all: readonly string[]): string {
  const name = basename(dir.replace(/(.)\/+$/, "$1"));
  return all.filter((d) => basename(d) === name).length > 1 ? dir : name;
}

/** The agent of the session, where the server offers more than one. Those that cannot start say why. */
function AgentSwitch({ current }: { current: string }) {
  const all = providers.value;
  if (all.length < 2) return null;
  return (
    <Choose
      icon="bot"
      label={w.value.agent}
      value={current}
      options={all.map((p) => ({
        value: p.name,
        label: agentName(p.name),
        ...(p.available ? {} : { off: plain(p.error ?? w.value.notFound) }),
      }))}
      set={(name) => {
        chosenProvider.value = name;
      }}
    />
  );
}
