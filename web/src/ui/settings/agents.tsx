// Defaults of new sessions, and the agents of the server.

import { offerOf } from "../../state/agents";
import { settings, w } from "../../state/app";
import { choiceFor, choose, everyProject } from "../../state/choices";
import { agentName, capabilitiesOfAgent, providers } from "../../state/providers";
import { plain } from "../../state/safe";
import { startModes } from "../new/switches";
import { Row, Select, Switch } from "./row";

export function AgentSettings() {
  const t = w.value;
  const s = t.set_;
  const all = providers.value;
  const choice = choiceFor(everyProject);
  const agent = all.find((p) => p.name === choice.agent)?.name ?? all.find((p) => p.default)?.name ?? "";
  const offer = offerOf(agent);
  const efforts = capabilitiesOfAgent(agent)?.supported_efforts ?? offer.efforts;
  const asked = choice.mode || settings.value?.default_permission_mode || "default";
  const set = (c: Parameters<typeof choose>[1]) => choose(everyProject, c);
  return (
    <>
      <div class="set-card">
        <Row name={t.agent}>
          <Select
            label={t.agent}
            value={agent}
            options={all.filter((p) => p.available).map((p) => [p.name, plain(agentName(p.name))])}
            set={(v) => set({ agent: v })}
          />
        </Row>
        {offer.models.length > 0 && (
          <Row name={t.model}>
            <Select
              label={t.model}
              value={choice.model}
              options={[["", t.defaultModel], ...offer.models.map((m) => [m.value, plain(m.label)] as const)]}
              set={(v) => set({ model: v })}
            />
          </Row>
        )}
        {efforts.length > 0 && (
          <Row name={t.effort}>
            <Select
              label={t.effort}
              value={choice.effort}
              options={[["", s.agentDecides], ...efforts.map((e) => [e, plain(e)] as const)]}
              set={(v) => set({ effort: v })}
            />
          </Row>
        )}
        <Row name={t.mode} note={s.modeNote}>
          <Select
            label={t.mode}
            value={asked}
            options={startModes(agent, asked, choice.sandbox).map((m) => [m.value, m.label])}
            set={(v) => set({ mode: v })}
          />
        </Row>
        <Row name={s.worktree} note={s.worktreeNote}>
          <Switch label={s.worktree} on={choice.worktree} set={(worktree) => set({ worktree })} />
        </Row>
      </div>
      <div class="set-card">
        {all.map((p) => (
          <Row
            key={p.name}
            name={
              <>
                <span class={`dot ${p.available ? "ok" : "end"}`} /> {plain(agentName(p.name))}
              </>
            }
            note={p.simulated ? t.simulated : p.available ? s.installed : s.notInstalled}
          />
        ))}
      </div>
    </>
  );
}
