// The settings of a new session, chosen before its first message and remembered for each project.

import { signal } from "@preact/signals";
import { get, str } from "../fold/json";
import type { Project } from "../rpc/service";
import { call } from "./app";
import { readKept, writeKept } from "./prefs";
import { beginning } from "./safe";

export interface Choice {
  agent: string;
  model: string;
  effort: string;
  thinking: string;
  mode: string;
  sandbox: boolean;
  worktree: boolean;
  setup: string;
}

export const noChoice: Choice = {
  agent: "",
  model: "",
  effort: "",
  thinking: "auto",
  mode: "",
  sandbox: false,
  worktree: false,
  setup: "",
};

const choices = signal<ReadonlyMap<string, Choice>>(readChoices());
/** The project of this machine that was chosen last. */
export const lastProject = signal(str(readKept("project")));
/** The machine that new sessions run on; empty is that of the server. */
export const chosenMachine = signal(str(readKept("machine")));
/** The projects of other machines that were chosen last, by the machine. */
const elsewhere = signal<ReadonlyMap<string, string>>(readElsewhere());

function readElsewhere(): Map<string, string> {
  const read = readKept("projects");
  const pairs = Array.isArray(read) ? (read as unknown[]).filter((e) => Array.isArray(e)) : [];
  return new Map(pairs.map((e) => [str((e as unknown[])[0]), str((e as unknown[])[1])]));
}

export function chooseMachine(name: string): void {
  chosenMachine.value = name;
  writeKept("machine", name);
}

/** Returns the project last chosen on a machine; empty if none was. */
export function projectOn(machine: string): string {
  return machine === "" ? lastProject.value : (elsewhere.value.get(machine) ?? "");
}

/** The name under which the choice for a project of a machine is kept. */
export function placeKey(machine: string, project: string): string {
  return machine === "" ? project : `@${machine}:${project}`;
}

function readChoices(): Map<string, Choice> {
  const all = new Map<string, Choice>();
  const read = readKept("choices");
  if (!Array.isArray(read)) return all;
  for (const e of read as unknown[]) {
    if (!Array.isArray(e) || typeof e[0] !== "string") continue;
    const text = (key: keyof Choice) => str(get(e[1], key));
    all.set(e[0], {
      agent: text("agent"),
      model: text("model"),
      effort: text("effort"),
      thinking: text("thinking") || "auto",
      mode: text("mode"),
      sandbox: get(e[1], "sandbox") === true,
      worktree: get(e[1], "worktree") === true,
      setup: text("setup"),
    });
  }
  return all;
}

/** The name under which the choice for projects without their own is kept. */
export const everyProject = "";

export function choiceFor(project: string): Choice {
  return choices.value.get(project) ?? choices.value.get(everyProject) ?? noChoice;
}

/** Remembers a choice for a project. Another agent begins with its own defaults. At most 50 projects are kept. */
export function choose(project: string, c: Partial<Choice>): void {
  const next = new Map(choices.peek());
  const was = choiceFor(project);
  const other = c.agent !== undefined && c.agent !== was.agent;
  const is = { ...was, ...(other ? { model: "", effort: "", thinking: "auto", mode: "" } : {}), ...c };
  next.delete(project);
  next.set(project, is);
  const every = next.get(everyProject);
  next.delete(everyProject);
  choices.value = new Map([...(every ? [[everyProject, every] as const] : []), ...[...next].slice(-50)]);
  writeKept("choices", [...choices.value]);
}

/** Remembers a project of a machine. At most 50 machines are kept. */
export function chooseProject(path: string, machine = ""): void {
  if (machine === "") {
    lastProject.value = path;
    writeKept("project", path);
    return;
  }
  const next = new Map(elsewhere.peek());
  next.delete(machine);
  next.set(machine, path);
  elsewhere.value = new Map([...next].slice(-50));
  writeKept("projects", [...elsewhere.value]);
}

/** Returns the parameter that names a machine; the server's own machine needs no parameter. */
export function onMachine(machine: string): { machine?: string } {
  return machine === "" ? {} : { machine };
}

export interface Projects {
  roots: readonly string[];
  recent: readonly Project[];
  folders: readonly Project[];
}

/** The folders that match a name; undefined if the server does not answer. */
export async function findProjects(query: string, machine = ""): Promise<Projects | undefined> {
  const r = await call("projects.list", { query, limit: 8, ...onMachine(machine) }).catch(() => undefined);
  return r && { roots: r.roots ?? [], recent: r.recent ?? [], folders: r.folders ?? [] };
}

/** One folder with its branches; undefined if a session cannot run there. */
export async function readProject(path: string, machine = ""): Promise<Project | undefined> {
  const r = await call("projects.list", { path, ...onMachine(machine) }).catch(() => undefined);
  return r?.folders?.[0];
}

/** Returns a branch name for a worktree, made of the first words of the prompt. */
export function branchName(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, " ")
    .split(/[\s-]+/)
    .filter((x) => x !== "")
    .slice(0, 5);
  return words.length === 0 ? "" : `wt/${beginning(words.join("-"), 40)}`;
}
