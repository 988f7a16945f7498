// Permission rules of a project and the user: their effect, and the file of each.

import { useEffect, useState } from "preact/hooks";
import type { Rule } from "../../rpc/service";
import { call, hello, sayError, toast, w } from "../../state/app";
import { plain } from "../../state/safe";
import { Button, IconButton } from "../button";
import { ProjectRow, settingsOf, Unread } from "./project";
import { Row, Select } from "./row";

const behaviors = ["allow", "ask", "deny"] as const;
const scopes = ["local", "project", "user"] as const;

export function RuleSettings() {
  const t = w.value.set_;
  const of = settingsOf();
  const [all, setAll] = useState<readonly Rule[]>();
  const [error, setError] = useState<unknown>();
  const [version, setVersion] = useState(0);
  const may = hello.value?.role === "admin";
  useEffect(() => {
    let gone = false;
    setError(undefined);
    call("rules.list", of)
      .then((r) => !gone && setAll(r.rules ?? []))
      .catch((err) => {
        if (gone) return;
        setAll(undefined);
        setError(err);
      });
    return () => {
      gone = true;
    };
  }, [of.cwd, of.provider, version]);
  const change = async (method: "rules.add" | "rules.remove", r: { rule: string; behavior: string; scope: string }) => {
    try {
      await call(method, { ...of, rule: r.rule, behavior: r.behavior, scope: r.scope });
    } catch (err) {
      toast(sayError(err), true);
      return false;
    } finally {
      setVersion((n) => n + 1);
    }
    return true;
  };
  const remove = async (r: Rule) => {
    if (await change("rules.remove", r))
      toast(t.ruleRemoved(plain(r.rule)), false, { label: w.peek().undo, run: () => void change("rules.add", r) });
  };
  return (
    <div class="set-card">
      <ProjectRow />
      <Unread error={error} />
      {all?.length === 0 && <Row name={t.noRules} note={t.noRulesNote} />}
      {all?.map((r) => (
        <Row
          key={`${r.scope} ${r.behavior} ${r.rule}`}
          class="perm"
          name={<code class="mono">{plain(r.rule)}</code>}
          note={
            <span title={plain(r.file ?? "")}>{t.keptIn[r.scope as (typeof scopes)[number]] ?? plain(r.scope)}</span>
          }
        >
          <span class={`chip ${r.behavior === "allow" ? "ok" : r.behavior === "ask" ? "warn" : "bad"}`}>
            {t.effects[r.behavior as (typeof behaviors)[number]] ?? plain(r.behavior)}
          </span>
          {may && <IconButton small icon="trash" label={t.removeRule(plain(r.rule))} onClick={() => void remove(r)} />}
        </Row>
      ))}
      {may && all && <NewRule add={(r) => change("rules.add", r)} />}
    </div>
  );
}

function NewRule({ add }: { add: (r: { rule: string; behavior: string; scope: string }) => Promise<boolean> }) {
  const t = w.value.set_;
  const [rule, setRule] = useState("");
  const [behavior, setBehavior] = useState<string>("allow");
  const [scope, setScope] = useState<string>("local");
  return (
    <Row class="tall" name={t.addRule} note={t.scopeNotes[scope as (typeof scopes)[number]]}>
      <input
        class="inp sm"
        aria-label={t.rule}
        placeholder="Bash(go test:*)"
        value={rule}
        onInput={(e) => setRule(e.currentTarget.value)}
      />
      <Select label={t.effect} value={behavior} options={behaviors.map((b) => [b, t.effects[b]])} set={setBehavior} />
      <Select label={t.where} value={scope} options={scopes.map((s) => [s, t.keptIn[s]])} set={setScope} />
      <Button
        small
        icon="plus"
        disabled={rule.trim() === ""}
        onClick={() => void add({ rule: rule.trim(), behavior, scope }).then((ok) => ok && setRule(""))}
      >
        {t.add}
      </Button>
    </Row>
  );
}
