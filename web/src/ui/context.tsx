// The fill of the context window, and the usage of the session.

import { canCompact, compact } from "../state/actions";
import { w } from "../state/app";
import { contextShare, costOf } from "../state/plan";
import { isBusy } from "../state/phase";
import { plain } from "../state/safe";
import type { SessionStore } from "../state/session";
import { money, tokens } from "../state/time";
import { Button } from "./button";
import { Ring } from "./ring";
import { Section } from "./section";

export function Context({ store }: { store: SessionStore }) {
  const c = store.settled;
  const t = w.value;
  const share = contextShare(c);
  const u = c.usage;
  const cost = costOf(c);
  const inTokens = c.totals.inputTokens + c.totals.cacheReadInputTokens + c.totals.cacheCreationInputTokens;
  return (
    <Section title={t.context}>
      {share !== undefined && (
        <div class="pad ctxw">
          <Ring share={share} size={64} />
          <div>
            <div class="big">{Math.round(share * 100)}%</div>
            <div class="two">{t.ofTokens(tokens(u?.context_tokens ?? 0), tokens(u?.context_window ?? 0))}</div>
          </div>
        </div>
      )}
      {canCompact(c) && (
        <div class="pad acts">
          <Button
            small
            icon="archive"
            disabled={isBusy(c)}
            title={isBusy(c) ? t.changes_.waitForTurn : t.compactNote}
            onClick={() => compact(store.id)}
          >
            {t.compact}
          </Button>
        </div>
      )}
      <dl class="pad kv">
        {cost !== undefined && (
          <>
            <dt>{t.cost}</dt>
            <dd>{money(cost)}</dd>
          </>
        )}
        {inTokens > 0 && (
          <>
            <dt>{t.tokensIn}</dt>
            <dd>
              {tokens(inTokens)}
              {c.totals.cacheReadInputTokens > 0 && (
                <span class="dim"> {t.cached(Math.round((100 * c.totals.cacheReadInputTokens) / inTokens))}</span>
              )}
            </dd>
          </>
        )}
        {c.totals.outputTokens > 0 && (
          <>
            <dt>{t.tokensOut}</dt>
            <dd>{tokens(c.totals.outputTokens)}</dd>
          </>
        )}
        {c.model && (
          <>
            <dt>{t.model}</dt>
            <dd class="cut">{plain(c.model)}</dd>
          </>
        )}
        {c.cwd && (
          <>
            <dt>{t.directory}</dt>
            <dd class="mono cut" title={plain(c.cwd)}>
              {plain(c.cwd)}
            </dd>
          </>
        )}
      </dl>
    </Section>
  );
}
