// What a new session begins with. What its agent does not have is left out.

import { offerOf } from "../../state/agents";
import { settings, w } from "../../state/app";
import { boxChosen, boxOffered, isSealed, sayBox } from "../../state/box";
import { type Choice, choose } from "../../state/choices";
import { agentName, capabilitiesOfAgent, chosenProvider, isSimulated, providers } from "../../state/providers";
import { plain } from "../../state/safe";
import { Choose, levels, modeOptions } from "../composer/switches";
import { Icon } from "../icon";

/** The modes that a new session of an agent can begin with. */
export function startModes(agent: string, current: string, sandbox: boolean) {
  const can = capabilitiesOfAgent(agent);
  const told = offerOf(agent).modes;
  const bypass = settings.value?.allow_bypass_permissions === true || isSealed(boxChosen(agent, sandbox));
  const name = "bypassPermissions";
  const all = modeOptions(
    current === name && !bypass ? undefined : current,
    can ?? (told ? { ...noCapabilities, supported_permission_modes: [...told] } : undefined),
  ).filter((m) => m.value !== name || bypass);
  return bypass && !all.some((m) => m.value === name) ? [...all, { value: name, label: w.value.modes[name] ?? name }] : all;
}

const noCapabilities = {
  can_interrupt: true,
  can_switch_model: true,
  can_switch_permission_mode: true,
  can_skip_permissions: false,
  can_send_rich_content: true,
  can_think: true,
  can_resume_session: true,
  can_run_in_background: false,
  can_fork: true,
  can_rewind: false,
};

interface SwitchProps {
  project: string;
  agent: string;
  choice: Choice;
  mode: string;
}

export function StartSwitches({ project, agent, choice, mode }: SwitchProps) {
  const t = w.value;
  const can = capabilitiesOfAgent(agent);
  const offer = offerOf(agent);
  const set = (c: Partial<Choice>) => choose(project, c);
  const model = offer.models.find((m) => m.value === choice.model);
  const efforts = (can?.supported_efforts ?? offer.efforts).filter(
    (e) => model?.efforts === undefined || model.efforts.includes(e),
  );
  const modes = startModes(agent, mode, choice.sandbox);
  const unnamed = isSimulated(agent) ? t.simulatedModel : t.defaultModel;
  return (
    <>
      <AgentSwitch current={agent} set={(name) => set({ agent: name })} />
      {offer.models.length > 0 && (
        <Choose
          icon="zap"
          label={t.model}
          value={model?.value ?? ""}
          options={[{ value: "", label: unnamed }, ...offer.models.filter((m) => m.value !== "")]}
          set={(v) => set({ model: v })}
        />
      )}
      {efforts.length > 0 && (
        <Choose
          icon="gauge"
          label={t.effort}
          value={efforts.includes(choice.effort) ? choice.effort : ""}
          options={["", ...efforts].map((value) => ({ value, label: t.efforts[value || "auto"] ?? value }))}
          set={(v) => set({ effort: v })}
        />
      )}
      {(can?.can_think ?? offer.thinks) && (
        <Choose
          icon="think"
          label={t.thinkingLevel}
          value={choice.thinking}
          options={levels.map(([value]) => ({ value, label: t.levels[value] ?? value }))}
          set={(v) => set({ thinking: v })}
        />
      )}
      {modes.length > 0 && (
        <Choose icon="shield" label={t.mode} value={mode} options={modes} set={(v) => set({ mode: v })} />
      )}
      <BoxSwitch agent={agent} chosen={choice.sandbox} set={(sandbox) => set({ sandbox })} />
    </>
  );
}

/** The box of the session: a choice, or a word where the server puts every agent in one. */
function BoxSwitch({ agent, chosen, set }: { agent: string; chosen: boolean; set: (on: boolean) => void }) {
  const t = w.value.sandbox;
  const offered = boxOffered(agent);
  if (offered === undefined) return null;
  if (offered.always)
    return (
      <span class="sw still" title={t.always}>
        <Icon name="box" />
        <span>{sayBox(offered.box)}</span>
      </span>
    );
  const options = [
    { value: "none", label: t.none },
    { value: "bwrap", label: sayBox(offered.box) },
  ];
  return <Choose icon="box" label={t.title} value={chosen ? "bwrap" : "none"} options={options} set={(v) => set(v === "bwrap")} />;
}

/** The agent of the session, where the server offers more than one. Those that cannot start say why. */
function AgentSwitch({ current, set }: { current: string; set: (name: string) => void }) {
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
        set(name);
      }}
    />
  );
}
