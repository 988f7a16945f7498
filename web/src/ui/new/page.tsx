// A new session: one form with everything that its first message depends on.

import { useEffect, useState } from "preact/hooks";
import type { Machine, Project } from "../../rpc/service";
import { type Draft, startSession } from "../../state/actions";
import { offerOf } from "../../state/agents";
import { settings, status, w } from "../../state/app";
import { boxChosen } from "../../state/box";
import {
  branchName,
  choiceFor,
  choose,
  chooseProject,
  chosenMachine,
  onMachine,
  placeKey,
  projectOn,
  readProject,
} from "../../state/choices";
import { draft, restore } from "../../state/drafts";
import { agentOn, machineCalled, machines } from "../../state/machines";
import { lang } from "../../state/prefs";
import { agentName, chosenProvider, isSimulated, nextProvider, providers } from "../../state/providers";
import { fromHere } from "../../state/route";
import { plain } from "../../state/safe";
import { clockTime } from "../../state/time";
import { mw } from "../../state/words.machines";
import { InputBox } from "../composer/input";
import { levels } from "../composer/switches";
import { MenuButton } from "../frame";
import { useMachines } from "../usemachines";
import { Icon, type IconName } from "../icon";
import { MissingBox, missing } from "./missing";
import { ProjectButton } from "./project";
import { RecentSessions } from "./recent";
import { StartSwitches, startModes } from "./switches";
import { makeTree, TreeFields } from "./tree";

const tries: readonly { icon: IconName; key: "permission" | "change" | "question" }[] = [
  { icon: "lock", key: "permission" },
  { icon: "pencil", key: "change" },
  { icon: "help", key: "question" },
];

/** The project of the chosen machine, by its path there: the last one, else the first that it offers. */
function useProject(machine: string, on: Machine | undefined): [Project, (p: Project) => void] {
  const first = (machine === "" ? settings.value?.directories?.[0] : on?.directories[0]) ?? "";
  const wanted = projectOn(machine) || first;
  const [known, setKnown] = useState<{ machine: string; project: Project }>();
  const reachable = status.value === "open" && (machine === "" || on?.state === "reachable");
  useEffect(() => {
    let gone = false;
    if (wanted === "" || !reachable) return;
    void readProject(wanted, machine).then(async (p) => {
      const is = p ?? (wanted === first ? undefined : await readProject(first, machine));
      if (!gone) setKnown({ machine, project: is ?? { path: first } });
    });
    return () => {
      gone = true;
    };
  }, [machine, wanted, first, reachable]);
  const project = known?.machine === machine && known.project.path !== "" ? known.project : { path: wanted };
  return [
    project,
    (p) => {
      chooseProject(p.path, machine);
      setKnown({ machine, project: p });
    },
  ];
}

/**
 * Returns the chosen machine. If it is gone, another one is chosen, and `gone` names the lost one.
 */
function useMachine(): { machine: string; on: Machine | undefined; gone: string } {
  useMachines(5000);
  const wanted = chosenMachine.value;
  const on = wanted === "" ? undefined : machineCalled(wanted);
  const gone = wanted !== "" && machines.value !== undefined && on === undefined;
  return gone ? { machine: "", on: undefined, gone: mw.value.notJoined(plain(wanted)) } : { machine: wanted, on, gone: "" };
}

export function NewPage() {
  const t = w.value;
  const { machine, on, gone } = useMachine();
  const [project, setProject] = useProject(machine, on);
  const place = placeKey(machine, project.path);
  const choice = choiceFor(place);
  useEffect(() => {
    if (choice.agent !== "") chosenProvider.value = choice.agent;
  }, [choice.agent]);
  const all = providers.value;
  const wanted = all.find((p) => p.name === chosenProvider.value) ?? all.find((p) => p.default) ?? all[0];
  const usual = wanted?.name ?? "";
  const agent = on ? agentOn(on, usual) : usual;
  const lacks = machine === "" ? missing(agent) : undefined;
  const asked = choice.mode || settings.value?.default_permission_mode || "default";
  const modes = startModes(agent, asked, choice.sandbox, on);
  const mode = modes.some((m) => m.value === asked) ? asked : (modes[0]?.value ?? "default");
  const [branch, setBranch] = useState<string>();
  const [base, setBase] = useState("");
  const [making, setMaking] = useState(false);
  const text = draft("new").text.value;
  const tree =
    project.git && choice.worktree
      ? { branch: branch ?? branchName(text), base, setup: machine === "" ? choice.setup : "" }
      : undefined;
  const away = machine !== "" && machines.value !== undefined && on?.state !== "reachable";
  const since = on ? clockTime(Date.parse(on.since), lang.value) : "";
  const off = away || (machine !== "" && !on) ? mw.value.outOfReach(plain(machine), since) : lacks?.stops ? lacks.title : undefined;
  const fallbacks = [
    gone,
    away ? off : "",
    on && usual !== "" && agent !== usual ? mw.value.noAgent(plain(machine), agentName(usual), agentName(agent)) : "",
    on && choice.mode !== "" && mode !== asked
      ? mw.value.noMode(plain(machine), t.modes[asked] ?? asked, t.modes[mode] ?? mode)
      : "",
  ].filter((x) => x !== "");
  const start = async (d: Draft) => {
    const here = fromHere();
    let where: { cwd?: string; workspace_id?: string } = project.path ? { cwd: project.path } : {};
    if (tree) {
      setMaking(true);
      const made = await makeTree(project.path, { ...tree, branch: branch ?? branchName(d.text) }, machine);
      setMaking(false);
      if (made === undefined) return restore(draft("new"), d);
      where = { workspace_id: made };
    }
    const box = machine === "" ? boxChosen(agent, choice.sandbox) : undefined;
    const thinking = levels.find(([name]) => name === choice.thinking)?.[1] ?? -1;
    const model = offerOf(agent).models.some((m) => m.value === choice.model) ? choice.model : "";
    const id = await startSession(
      {
        ...(on ? { provider: agent } : nextProvider() ? { provider: nextProvider()?.name ?? "" } : {}),
        ...onMachine(machine),
        ...where,
        ...(choice.mode !== "" || on ? { permission_mode: mode } : {}),
        ...(model ? { model } : {}),
        ...(choice.effort ? { effort: choice.effort } : {}),
        ...(thinking >= 0 ? { max_thinking_tokens: thinking } : {}),
        ...(box ? { sandbox: box.kind } : {}),
      },
      d,
      here,
    );
    if (id === undefined) restore(draft("new"), d); // the text is kept
  };
  const simulated = isSimulated(agent);
  return (
    <main class="centre" id="main">
      <header class="bar phone-bar">
        <MenuButton />
        <p class="bar-t cut">{t.newSession}</p>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label={t.newSession}>
        <div class="hero">
          <h1 class="big-title">{t.newSession}</h1>
          <InputBox
            id="new"
            cwd={project.path}
            machine={machine}
            agent={agent}
            commands={offerOf(agent).commands.map((c) => c.name)}
            placeholder={simulated ? t.askSimulated : t.newPlaceholder}
            sendLabel={t.startSession}
            off={off}
            onSend={(d) => void start(d)}
            head={
              <div class="box-head">
                <ProjectButton
                  key={machine}
                  machine={machine}
                  path={project.path}
                  set={(p) => {
                    setProject(p);
                    setBase("");
                  }}
                />
                {(project.git || project.branch) && !tree && (
                  <span class="sw still mono">
                    <Icon name="branch" />
                    <span>{plain(project.branch ?? "") || t.noBranch}</span>
                  </span>
                )}
                {tree && (
                  <TreeFields
                    tree={tree}
                    current={project.branch ?? ""}
                    branches={project.branches ?? []}
                    setup={machine === ""}
                    set={(f) => {
                      if (f.branch !== undefined) setBranch(f.branch);
                      if (f.base !== undefined) setBase(f.base);
                      if (f.setup !== undefined) choose(place, { setup: f.setup });
                    }}
                  />
                )}
                <span class="sp" />
                <label class="switch" title={project.git ? t.worktree.use : t.worktree.noGit}>
                  <span>{t.worktree.use}</span>
                  <input
                    type="checkbox"
                    role="switch"
                    aria-checked={tree !== undefined}
                    checked={tree !== undefined}
                    disabled={!project.git}
                    onChange={(e) => choose(place, { worktree: e.currentTarget.checked })}
                  />
                </label>
              </div>
            }
            switches={<StartSwitches place={place} on={on} machine={machine} agent={agent} choice={choice} mode={mode} />}
          />
          {fallbacks.map((text) => (
            <p key={text} role="status" class="fallback">
              {text}
            </p>
          ))}
          {making && (
            <p role="status" class="making">
              <span class="spin" aria-hidden="true" /> {t.worktree.making}
            </p>
          )}
          {lacks && <MissingBox of={lacks} use={(name) => choose(place, { agent: name })} />}
          {simulated && text === "" && (
            <div class="try">
              {tries.map((x) => (
                <button
                  key={x.key}
                  type="button"
                  class="trybtn"
                  onClick={() => void start({ text: t.tries[x.key].prompt, contexts: [], images: [] })}
                >
                  <Icon name={x.icon} />
                  <b>{t.tries[x.key].title}</b>
                  <span>{t.tries[x.key].note}</span>
                </button>
              ))}
            </div>
          )}
          {text === "" && <RecentSessions machine={machine} project={project.path} />}
        </div>
      </div>
    </main>
  );
}
