// An MCP server asks for details: a form from its schema, or an address to visit.

import { useState } from "preact/hooks";
import type { QuestionRequest } from "../../rpc/messages";
import { answerQuestion } from "../../state/actions";
import { w } from "../../state/app";
import { check, content, type Fault, type Field, fields, type Value } from "../../state/form";
import { requestName, useKept } from "../../state/kept";
import { plain, safeLink } from "../../state/safe";
import { untag } from "../../state/tidy";
import { Button } from "../button";
import { Icon } from "../icon";
import { AskFrame } from "./frame";
import type { AskProps } from "./request";

export function Elicitation({ prompt, keys }: AskProps<QuestionRequest>) {
  const p = prompt.prompt;
  const t = w.value;
  const all = fields(p.requested_schema);
  const [values, setValues] = useKept<ReadonlyMap<string, Value>>(`${requestName(prompt)}values`, new Map());
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const server = plain(p.mcp_server_name ?? "MCP");
  const current = (f: Field) => values.get(f.name) ?? f.initial;
  const faults = new Map(
    all.map((f) => [f.name, check(f, current(f))] as const).filter(([, fault]) => fault !== undefined),
  );
  const shown = [...faults.keys()].filter((n) => left.has(n)).length;
  const answer = (action: "accept" | "decline" | "cancel", answers?: unknown) => {
    setBusy(true);
    void answerQuestion(prompt, action, answers).then(() => setBusy(false));
  };
  const accept = () => {
    setLeft(new Set(all.map((f) => f.name)));
    if (faults.size === 0) answer("accept", content(all, values));
  };
  keys.current = busy ? {} : { d: () => answer("decline") };
  const url = p.mode === "url" ? safeLink(p.url ?? "") : undefined;
  return (
    <AskFrame
      prompt={prompt}
      icon="plug"
      title={t.ask.needs(server)}
      note={t.ask.mcpNote(server)}
      body={
        <>
          {p.message && <p dir="auto">{plain(untag(p.message))}</p>}
          {p.mode === "url" &&
            (url ? (
              <p>
                <a href={url} target="_blank" rel="noopener noreferrer nofollow">
                  {plain(url)}
                </a>
              </p>
            ) : (
              <p class="notice bad">{plain(p.url ?? "")}</p>
            ))}
          <div class="formgrid">
            {all.map((f) => (
              <FieldInput
                key={f.name}
                id={`${p.request_id}-${f.name}`}
                field={f}
                value={current(f)}
                fault={left.has(f.name) ? faults.get(f.name) : undefined}
                set={(v) => setValues(new Map(values).set(f.name, v))}
                leave={() => setLeft(new Set(left).add(f.name))}
              />
            ))}
          </div>
        </>
      }
      answers={
        <>
          <Button kind="primary" busy={busy} onClick={accept}>
            {p.mode === "url" ? t.ask.doneThere : t.ask.sendTo(server)}
          </Button>
          <Button hint="D" disabled={busy} onClick={() => answer("decline")}>
            {t.ask.decline}
          </Button>
          <span class="sp" />
          {shown > 0 && (
            <span class="badc" role="status">
              {t.ask.toCorrect(shown)}
            </span>
          )}
          <Button kind="ghost" disabled={busy} onClick={() => answer("cancel")}>
            {t.cancel}
          </Button>
        </>
      }
    />
  );
}

interface FieldProps {
  id: string;
  field: Field;
  value: Value;
  fault: Fault | undefined;
  set: (v: Value) => void;
  leave: () => void;
}

const inputTypes: Partial<Record<Field["kind"], "email" | "url" | "date" | "datetime-local">> = {
  email: "email",
  url: "url",
  date: "date",
  datetime: "datetime-local",
};

function FieldInput({ id, field: f, value, fault, set, leave }: FieldProps) {
  const t = w.value;
  const common = {
    id,
    class: "inp",
    onBlur: leave,
    "aria-invalid": fault !== undefined,
    "aria-describedby": `${id}-d`,
  };
  return (
    <div class={`field${f.kind === "text" ? " all" : ""}`}>
      {f.kind !== "flag" && (
        <label for={id} dir="auto">
          {plain(f.title)} {!f.required && <span class="dim">{t.optional}</span>}
        </label>
      )}
      {f.kind === "flag" ? (
        <label class="pick">
          <input type="checkbox" id={id} checked={value === true} onChange={(e) => set(e.currentTarget.checked)} />
          <span>{plain(f.title)}</span>
        </label>
      ) : f.kind === "choice" ? (
        <select {...common} value={String(value)} onChange={(e) => set(e.currentTarget.value)}>
          <option value="">–</option>
          {f.options.map((o) => (
            <option key={o.value} value={o.value}>
              {plain(o.label)}
            </option>
          ))}
        </select>
      ) : f.kind === "choices" ? (
        f.options.map((o) => {
          const list = Array.isArray(value) ? value : [];
          return (
            <label class="pick" key={o.value}>
              <input
                type="checkbox"
                checked={list.includes(o.value)}
                onChange={(e) => set(e.currentTarget.checked ? [...list, o.value] : list.filter((v) => v !== o.value))}
              />
              <span>{plain(o.label)}</span>
            </label>
          );
        })
      ) : (
        <input
          {...common}
          type={(inputTypes[f.kind] ?? "text") as "text"}
          inputMode={f.kind === "number" || f.kind === "integer" ? "decimal" : "text"}
          value={String(value)}
          onInput={(e) => set(e.currentTarget.value)}
        />
      )}
      <span id={`${id}-d`} class={fault ? "err" : "hint"}>
        {fault ? (
          <>
            <Icon name="alert" /> {t.faults[fault.key](fault.n ?? 0)}
          </>
        ) : (
          plain(f.description)
        )}
      </span>
    </div>
  );
}
