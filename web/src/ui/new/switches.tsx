// The settings of a new session. Settings that its agent does not have are left out.

import type { Machine } from "../../rpc/service";
import { offerOf } from "../../state/agents";
import { settings, w } from "../../state/app";
import { boxChosen, boxOffered, isSealed, sayBox } from "../../state/box";
import { type Choice, choose, chooseMachine } from "../../state/choices";
import { allowsMode, machines } from "../../state/machines";
import { lang } from "../../state/prefs";
import { agentName, capabilitiesOfAgent, chosenProvider, isSimulated, providers } from "../../state/providers";
import { plain } from "../../state/safe";
import { clockTime } from "../../state/time";
import { mw } from "../../state/words.machines";
import { Choose, levels, modeOptions } from "../composer/switches";
import { Icon } from "../icon";

/** The modes that a new session of an agent can begin with; on another machine those that it allows. */
export function startModes(agent: string, current: string, sandbox: boolean, on?: Machine) {
  const can = capabilitiesOfAgent(agent);
  const told = offerOf(agent).modes;
  const name = "bypassPermissions";
  const bypass = on
    ? allowsMode(on, name)
    : settings.value?.allow_bypass_permissions === true || isSealed(boxChosen(agent, sandbox));
  const all = modeOptions(
    current === name && !bypass ? undefined : current,
    can ?? (told ? { ...noCapabilities, supported_permission_modes: [...told] } : undefined),
  ).filter((m) => (m.value !== name || bypass) && (!on || allowsMode(on, m.value)));
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
  /** The name under which the choice is kept. */
  place: string;
  /** The machine, where it is another one. */
  on: Machine | undefined;
  machine: string;
  agent: string;
  choice: Choice;
  mode: string;
}

export function StartSwitches({ place, on, machine, agent, choice, mode }: SwitchProps) {
  const t = w.value;
  const can = capabilitiesOfAgent(agent);
  const offer = offerOf(agent);
  const set = (c: Partial<Choice>) => choose(place, c);
  const model = offer.models.find((m) => m.value === choice.model);
  const efforts = (can?.supported_efforts ?? offer.efforts).filter(
    (e) => model?.efforts === undefined || model.efforts.includes(e),
  );
  const modes = startModes(agent, mode, choice.sandbox, on);
  const unnamed = isSimulated(agent) ? t.simulatedModel : t.defaultModel;
  return (
    <>
      <AgentSwitch current={agent} on={on} set={(name) => set({ agent: name })} />
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
      <MachineSwitch current={machine} />
      {machine === "" ? (
        <BoxSwitch agent={agent} chosen={choice.sandbox} set={(sandbox) => set({ sandbox })} />
      ) : (
        on?.box && (
          <span class="sw still" title={mw.value.boxOf(plain(on.box))}>
            <Icon name="box" />
            <span>{plain(on.box)}</span>
          </span>
        )
      )}
    </>
  );
}

/** The box of the session: a choice, or a label if the server runs every agent in one. */
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

/** The machine of the session, if there are others than the server's. */
function MachineSwitch({ current }: { current: string }) {
  const t = mw.value;
  const all = machines.value ?? [];
  if (all.length === 0) return null;
  const reason = (m: Machine) => t.away(clockTime(Date.parse(m.since), lang.value));
  const others = all.map((m) => ({
    value: m.name,
    label: plain(m.name),
    ...(m.state === "reachable" ? {} : { off: reason(m) }),
  }));
  return (
    <Choose
      icon="server"
      label={t.machine}
      value={current}
      options={[{ value: "", label: t.thisMachine }, ...others]}
      set={chooseMachine}
    />
  );
}

/** The agent of the session, if the server offers several. Agents that cannot start show the reason. */
function AgentSwitch({ current, on, set }: { current: string; on: Machine | undefined; set: (name: string) => void }) {
  const all: readonly { name: string; available: boolean; error?: string }[] = on
    ? on.agents.map((name) => ({ name, available: true }))
    : providers.value;
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
