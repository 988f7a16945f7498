// What is ready on the server, and what to do about what is not.

import { copyText } from "../state/actions";
import { w } from "../state/app";
import { agentName, isSimulated, providers, refreshProviders } from "../state/providers";
import { plain } from "../state/safe";
import { Button, IconButton } from "./button";
import { Icon } from "./icon";

const install = "npm install -g @anthropic-ai/claude-code";

export function Checks({ directory, simulated }: { directory: string; simulated: boolean }) {
  const t = w.value;
  const real = providers.value.filter((p) => !isSimulated(p.name));
  return (
    <section class="checks" aria-labelledby="checks-h">
      <h2 id="checks-h">{simulated ? t.useReal : t.readyTitle}</h2>
      <div class="card">
        <Check ok title={t.server} note={location.host} state={t.ready} />
        {real.map((p) => (
          <Check
            key={p.name}
            ok={p.available}
            title={agentName(p.name)}
            note={p.available ? plain(p.version ?? "") : plain(p.error ?? t.notFoundNote)}
            state={p.available ? t.ready : t.notFound}
          >
            {!p.available && p.name === "claude" && <CopyLine text={install} />}
          </Check>
        ))}
        {providers.value.length > 0 && real.length === 0 && (
          <Check ok={false} title={t.agents["claude"] ?? ""} note={t.noRealAgent} state={t.notFound}>
            <CopyLine text={install} />
          </Check>
        )}
        {directory !== "" && <Check ok title={t.directory} note={plain(directory)} state="" mono />}
      </div>
      <p class="acts">
        <Button small icon="refresh" onClick={() => void refreshProviders()}>
          {t.checkAgain}
        </Button>
        <span class="dim">
          {t.sameAs} <code>parley doctor</code>
        </span>
      </p>
    </section>
  );
}

function CopyLine({ text }: { text: string }) {
  return (
    <div class="copyline">
      <code>{text}</code>
      <IconButton small icon="copy" label={w.value.copy} onClick={() => void copyText(text)} />
    </div>
  );
}

function Check({
  ok,
  title,
  note,
  state,
  mono,
  children,
}: {
  ok: boolean;
  title: string;
  note: string;
  state: string;
  mono?: boolean;
  children?: preact.ComponentChildren;
}) {
  return (
    <div class="chk">
      <Icon name={ok ? "check" : "alert"} class={ok ? "okc" : "warnc"} />
      <span class="strong">{title}</span>
      {state !== "" && <span class={`chip ${ok ? "ok" : "warn"}`}>{state}</span>}
      <p class={mono ? "mono" : ""}>{note}</p>
      {children}
    </div>
  );
}
