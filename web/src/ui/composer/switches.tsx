// Model, permission mode, thinking and effort of a live session. Settings that its agent does not
// have are hidden, or disabled with a reason.

import { useEffect, useState } from "preact/hooks";
import type { Capabilities } from "../../rpc/service";
import { noteCapabilities, noteOffer, offerOf } from "../../state/agents";
import { refreshSoon, settings, status, tryCall, w } from "../../state/app";
import { currentModel, loadModels, type Model, shortModel } from "../../state/models";
import { capabilitiesOf, isSimulated, providerOf } from "../../state/providers";
import type { SessionStore } from "../../state/session";
import { live } from "../../state/sessions";
import { Icon, type IconName } from "../icon";

export const modes = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const;
/** The levels of thinking in tokens; -1 leaves the choice to the agent. */
export const levels: readonly [string, number][] = [
  ["auto", -1],
  ["off", 0],
  ["low", 4_000],
  ["medium", 10_000],
  ["high", 31_999],
];

export function Switches({ store }: { store: SessionStore }) {
  const [models, setModels] = useState<readonly Model[]>([]);
  const [level, setLevel] = useState("auto");
  const c = store.settled;
  const t = w.value;
  const can = capabilitiesOf(store.id);
  const provider = providerOf(store.id) ?? "";
  const started = c.state !== undefined && c.state !== "starting";
  // An agent that has not reported them is asked again when its state changes.
  useEffect(() => {
    if (started && models.length === 0) void loadModels(store.id).then(setModels);
  }, [store.id, started && c.state, status.value]);
  useEffect(() => {
    if (models.length > 0) noteOffer(provider, { models });
  }, [provider, models]);
  useEffect(() => {
    if (can) noteCapabilities(provider, can);
  }, [provider, can]);
  const commands = c.init?.slash_commands;
  useEffect(() => {
    if (commands && offerOf(provider).commands.length === 0)
      noteOffer(provider, { commands: commands.map((name) => ({ name, note: "" })) });
  }, [provider, commands]);
  const model = c.model ?? "";
  const current = currentModel(models, model);
  const unnamed = isSimulated(providerOf(store.id)) ? t.simulatedModel : t.defaultModel;
  const known = current ? models : [{ value: model, label: shortModel(model) || unnamed }, ...models];
  const modes = modeOptions(c.permissionMode, can);
  return (
    <>
      <Choose
        icon="bot"
        label={t.model}
        value={current?.value ?? model}
        options={known}
        off={can?.can_switch_model === false ? t.cannotSwitch : undefined}
        set={(m) => void tryCall("session.setModel", { session_id: store.id, model: m })}
      />
      {modes.length > 0 && (
        <Choose
          icon="shield"
          label={t.mode}
          value={c.permissionMode || "default"}
          options={modes}
          off={can?.can_switch_permission_mode === false ? t.cannotSwitch : undefined}
          set={(mode) => void tryCall("session.setPermissionMode", { session_id: store.id, mode })}
        />
      )}
      {can?.can_think !== false && (
        <Choose
          icon="think"
          label={t.thinkingLevel}
          value={level}
          options={levels.map(([value]) => ({ value, label: t.levels[value] ?? value }))}
          set={(v) => {
            setLevel(v);
            const n = levels.find(([name]) => name === v)?.[1] ?? -1;
            void tryCall("session.setMaxThinkingTokens", {
              session_id: store.id,
              ...(n < 0 ? {} : { max_thinking_tokens: n }),
            });
          }}
        />
      )}
      <Effort session={store.id} can={can} model={current} />
    </>
  );
}

/** The effort, among those that both the agent and the model support. */
function Effort({ session, can, model }: { session: string; can: Capabilities | undefined; model: Model | undefined }) {
  const t = w.value;
  const all = (can?.supported_efforts ?? []).filter((e) => model?.efforts === undefined || model.efforts.includes(e));
  if (all.length === 0) return null;
  const now = live.value.find((s) => s.session_id === session)?.effort ?? "";
  const options = ["", ...all, ...(now === "" || all.includes(now) ? [] : [now])];
  return (
    <Choose
      icon="gauge"
      label={t.effort}
      value={now}
      options={options.map((value) => ({ value, label: t.efforts[value || "auto"] ?? value }))}
      set={(effort) => void tryCall("session.setEffort", { session_id: session, effort }).then(refreshSoon)}
    />
  );
}

/** The modes to choose from: those of the agent if it is known, else all. */
export function modeOptions(current: string | undefined, can: Capabilities | undefined): Option[] {
  const t = w.value;
  const bypass = settings.value?.allow_bypass_permissions === true;
  const all: string[] =
    can?.supported_permission_modes ?? modes.filter((m) => m !== "bypassPermissions" || bypass).map((m) => m as string);
  const list = all.map((m) => ({ value: m, label: t.modes[m] ?? m }));
  if (current && list.length > 0 && !all.includes(current))
    list.push({ value: current, label: t.modes[current] ?? current });
  return list;
}

interface Option {
  value: string;
  label: string;
  /** Why it cannot be chosen. */
  off?: string;
}

interface ChooseProps {
  icon: IconName;
  label: string;
  value: string;
  options: readonly Option[];
  /** Why the choice is disabled. */
  off?: string | undefined;
  set: (value: string) => void;
}

/** A switch is the browser's own list: it works by touch, by keys and with a screen reader. */
export function Choose({ icon, label, value, options, off, set }: ChooseProps) {
  const shown = options.find((o) => o.value === value)?.label ?? value;
  return (
    <label class={`sw${off ? " off" : ""}`} title={`${label}: ${shown}${off ? `. ${off}` : ""}`}>
      <Icon name={icon} />
      <span aria-hidden="true">{shown}</span>
      <Icon name="chevronDown" class="chev" />
      <select
        aria-label={label}
        value={value}
        disabled={off !== undefined}
        onChange={(e) => set(e.currentTarget.value)}
      >
        {options.map((o) => (
          <option key={o.value} value={o.value} disabled={o.off !== undefined}>
            {o.off ? `${o.label} (${o.off})` : o.label}
          </option>
        ))}
      </select>
    </label>
  );
}
