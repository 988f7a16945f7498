// A new session: one box with all that its first message depends on.

import { useEffect, useState } from "preact/hooks";
import type { Project } from "../../rpc/service";
import { type Draft, startSession } from "../../state/actions";
import { offerOf } from "../../state/agents";
import { settings, status, w } from "../../state/app";
import { boxChosen } from "../../state/box";
import { branchName, choiceFor, choose, chooseProject, lastProject, readProject } from "../../state/choices";
import { draft, restore } from "../../state/drafts";
import { chosenProvider, isSimulated, nextProvider, providers } from "../../state/providers";
import { plain } from "../../state/safe";
import { InputBox } from "../composer/input";
import { levels } from "../composer/switches";
import { MenuButton } from "../frame";
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

/** The project that is chosen, as the server knows it: the last one, else the first that it offers. */
function useProject(): [Project, (p: Project) => void] {
  const first = settings.value?.directories?.[0] ?? "";
  const wanted = lastProject.value || first;
  const [known, setKnown] = useState<Project>({ path: wanted });
  useEffect(() => {
    let gone = false;
    if (wanted === "" || status.value !== "open") return;
    void readProject(wanted).then(async (p) => {
      const is = p ?? (wanted === first ? undefined : await readProject(first));
      if (!gone) setKnown(is ?? { path: first });
    });
    return () => {
      gone = true;
    };
  }, [wanted, first, status.value]);
  return [
    known.path === "" ? { path: wanted } : known,
    (p) => {
      chooseProject(p.path);
      setKnown(p);
    },
  ];
}

export function NewPage() {
  const t = w.value;
  const [project, setProject] = useProject();
  const choice = choiceFor(project.path);
  useEffect(() => {
    if (choice.agent !== "") chosenProvider.value = choice.agent;
  }, [choice.agent]);
  const all = providers.value;
  const wanted = all.find((p) => p.name === chosenProvider.value) ?? all.find((p) => p.default) ?? all[0];
  const agent = wanted?.name ?? "";
  const lacks = missing(agent);
  const asked = choice.mode || settings.value?.default_permission_mode || "default";
  const modes = startModes(agent, asked, choice.sandbox);
  const mode = modes.some((m) => m.value === asked) ? asked : (modes[0]?.value ?? "default");
  const [branch, setBranch] = useState<string>();
  const [base, setBase] = useState("");
  const [making, setMaking] = useState(false);
  const text = draft("new").text.value;
  const tree =
    project.git && choice.worktree ? { branch: branch ?? branchName(text), base, setup: choice.setup } : undefined;
  const start = async (d: Draft) => {
    let place: { cwd?: string; workspace_id?: string } = project.path ? { cwd: project.path } : {};
    if (tree) {
      setMaking(true);
      const made = await makeTree(project.path, { ...tree, branch: branch ?? branchName(d.text) });
      setMaking(false);
      if (made === undefined) return restore(draft("new"), d);
      place = { workspace_id: made };
    }
    const thinking = levels.find(([name]) => name === choice.thinking)?.[1] ?? -1;
    const model = offerOf(agent).models.some((m) => m.value === choice.model) ? choice.model : "";
    const id = await startSession(
      {
        ...(nextProvider() ? { provider: nextProvider()?.name ?? "" } : {}),
        ...place,
        ...(choice.mode !== "" ? { permission_mode: mode } : {}),
        ...(model ? { model } : {}),
        ...(choice.effort ? { effort: choice.effort } : {}),
        ...(thinking >= 0 ? { max_thinking_tokens: thinking } : {}),
        ...(boxChosen(agent, choice.sandbox) ? { sandbox: "bwrap" } : {}),
      },
      d,
    );
    if (id === undefined) restore(draft("new"), d); // what was written is not lost
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
            agent={agent}
            commands={offerOf(agent).commands.map((c) => c.name)}
            placeholder={simulated ? t.askSimulated : t.newPlaceholder}
            sendLabel={t.startSession}
            off={lacks?.stops ? lacks.title : undefined}
            onSend={(d) => void start(d)}
            head={
              <div class="box-head">
                <ProjectButton
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
                    set={(f) => {
                      if (f.branch !== undefined) setBranch(f.branch);
                      if (f.base !== undefined) setBase(f.base);
                      if (f.setup !== undefined) choose(project.path, { setup: f.setup });
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
                    onChange={(e) => choose(project.path, { worktree: e.currentTarget.checked })}
                  />
                </label>
              </div>
            }
            switches={<StartSwitches project={project.path} agent={agent} choice={choice} mode={mode} />}
          />
          {making && (
            <p role="status" class="making">
              <span class="spin" aria-hidden="true" /> {t.worktree.making}
            </p>
          )}
          {lacks && <MissingBox of={lacks} use={(name) => choose(project.path, { agent: name })} />}
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
          {text === "" && <RecentSessions project={project.path} />}
        </div>
      </div>
    </main>
  );
}
