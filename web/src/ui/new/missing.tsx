// Reasons why a session cannot start, with remedies. It is empty if a session can start.

import { copyText } from "../../state/actions";
import { w } from "../../state/app";
import {
  agentName,
  chosenProvider,
  isSimulated,
  nextProvider,
  providers,
  refreshProviders,
} from "../../state/providers";
import { plain } from "../../state/safe";
import { Button, IconButton } from "../button";
import { Guide } from "../guide";
import { Icon } from "../icon";

const install: Readonly<Record<string, string>> = {
  claude: "npm install -g @anthropic-ai/claude-code",
  codex: "npm install -g @openai/codex",
};

export interface Missing {
  title: string;
  note: string;
  command: string;
  /** Another agent that can start. */
  instead?: string;
  /** No session can start as things are. */
  stops: boolean;
}

/** Returns the missing requirement of an agent's session; undefined if it can start. */
export function missing(wanted: string): Missing | undefined {
  const t = w.value;
  const all = providers.value;
  if (all.length === 0) return undefined;
  const asked = all.find((p) => p.name === wanted);
  if (asked && !asked.available) {
    const next = nextProvider();
    return {
      title: t.agentMissing(agentName(asked.name)),
      note: plain(asked.error ?? t.notFound),
      command: install[asked.name] ?? "",
      stops: true,
      ...(next ? { instead: next.name } : {}),
    };
  }
  if (all.every((p) => isSimulated(p.name)))
    return { title: t.noRealAgent, note: t.noRealNote, command: install["claude"] ?? "", stops: false };
  return undefined;
}

export function MissingBox({ of, use }: { of: Missing; use: (agent: string) => void }) {
  const t = w.value;
  return (
    <section class="missing" aria-label={of.title}>
      <Icon name="alert" class="warnc" />
      <div class="grow">
        <p class="strong">{of.title}</p>
        <p class="dim">
          {of.note} <Guide page="guide/start" />
        </p>
      </div>
      <span class="acts">
        {of.instead && (
          <Button
            onClick={() => {
              chosenProvider.value = of.instead ?? "";
              use(of.instead ?? "");
            }}
          >
            {t.useAgent(agentName(of.instead))}
          </Button>
        )}
        <Button icon="refresh" onClick={() => void refreshProviders()}>
          {t.checkAgain}
        </Button>
      </span>
      {of.command !== "" && (
        <div class="copyline">
          <code>{of.command}</code>
          <IconButton small icon="copy" label={t.copy} onClick={() => void copyText(of.command)} />
        </div>
      )}
    </section>
  );
}
