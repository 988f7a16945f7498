// The agent asks: one question at a time, options by number, a preview of the one in focus.

import { useState } from "preact/hooks";
import type { QuestionRequest } from "../../rpc/messages";
import { answerQuestion } from "../../state/actions";
import { w } from "../../state/app";
import { previewText } from "../../state/decided";
import { requestName, useKept } from "../../state/kept";
import { answers, type Chosen, isAnswered, pick, type Question as Q, questions } from "../../state/question";
import { plain } from "../../state/safe";
import { Button, Hint } from "../button";
import { takeFocus } from "../composer/focus";
import { AskFrame } from "./frame";
import type { AskProps } from "./request";

const none: Chosen = { labels: [] };

export function Question({ prompt, keys }: AskProps<QuestionRequest>) {
  const all = questions(prompt.prompt.questions);
  const name = requestName(prompt);
  const [at, setAt] = useKept(`${name}at`, 0);
  const [chosen, setChosen] = useKept<readonly (Chosen | undefined)[]>(`${name}chosen`, []);
  const [focus, setFocus] = useState(0);
  // A restored field does not take the focus.
  const [fresh, setFresh] = useState(false);
  const [busy, setBusy] = useState(false);
  const t = w.value;
  const q = all[at] ?? { question: prompt.prompt.message ?? "", header: "", multi: false, options: [] };
  const c = chosen[at] ?? none;
  const set = (next: Chosen) => setChosen(all.map((_, i) => (i === at ? next : chosen[i])));
  const last = at >= all.length - 1;

  const finish = (with_: readonly (Chosen | undefined)[]) => {
    setBusy(true);
    void answerQuestion(prompt, "accept", answers(all, with_)).then(() => setBusy(false));
  };
  const next = () => {
    if (!isAnswered(c)) return;
    if (last) finish(chosen);
    else move(at + 1);
  };
  const move = (to: number) => {
    setAt(to);
    setFocus(0);
  };
  const skip = () => {
    const without = all.map((_, i) => (i === at ? undefined : chosen[i]));
    setChosen(without);
    if (!last) move(at + 1);
    else if (without.some((x) => isAnswered(x))) finish(without);
    else void answerQuestion(prompt, "decline");
  };
  const choose = (i: number) => {
    const o = q.options[i];
    setFocus(i);
    if (o) set(pick(q, c, o.label));
    else if (i === q.options.length) {
      setFresh(true);
      set(q.multi ? { ...c, other: c.other ?? "" } : { labels: [], other: c.other ?? "" });
    }
  };
  const digits = Array.from({ length: Math.min(9, q.options.length + 1) }, (_, i) => [String(i + 1), () => choose(i)]);
  keys.current = busy ? {} : { ...Object.fromEntries(digits), Enter: next, s: skip };
  const preview = q.options[focus]?.preview ?? "";
  return (
    <AskFrame
      prompt={prompt}
      icon="help"
      title={plain(q.question)}
      note={[all.length > 1 ? t.questionOf(at + 1, all.length) : "", q.multi ? t.anyNumber : t.oneOnly]
        .filter((s) => s !== "")
        .join(" · ")}
      body={
        <div class={`q${preview === "" ? " plain" : ""}`}>
          <Options
            q={q}
            c={c}
            choose={choose}
            set={set}
            setFocus={setFocus}
            fresh={fresh}
            name={`${prompt.prompt.request_id}-${at}`}
          />
          {preview !== "" && (
            <div class="preview">
              <div class="label">{plain(q.options[focus]?.label ?? "")}</div>
              <pre tabIndex={0} dir="auto">
                {plain(previewText(preview))}
              </pre>
            </div>
          )}
        </div>
      }
      answers={
        <>
          <Button kind="primary" busy={busy} disabled={!isAnswered(c)} hint="↵" onClick={next}>
            {last ? t.sendAnswers : t.nextQuestion}
          </Button>
          <Button kind="ghost" onClick={skip} hint="S" disabled={busy}>
            {t.skip}
          </Button>
          {at > 0 && (
            <Button kind="ghost" onClick={() => move(at - 1)}>
              {t.back}
            </Button>
          )}
          <span class="sp" />
          <span class="dim">{q.multi && t.chosen(c.labels.length + (c.other?.trim() ? 1 : 0))}</span>
          {all.length > 1 && (
            <span class="pips" aria-hidden="true">
              {all.map((_, i) => (
                <i key={i} class={i === at ? "on" : isAnswered(chosen[i]) ? "done" : ""} />
              ))}
            </span>
          )}
        </>
      }
    />
  );
}

interface OptionsProps {
  q: Q;
  c: Chosen;
  choose: (i: number) => void;
  set: (c: Chosen) => void;
  setFocus: (i: number) => void;
  fresh: boolean;
  name: string;
}

function Options({ q, c, choose, set, setFocus, fresh, name }: OptionsProps) {
  const t = w.value;
  const other = c.other !== undefined;
  const type = q.multi ? "checkbox" : "radio";
  return (
    <div class="choices" role="group" aria-label={plain(q.header || q.question)}>
      {q.options.map((o, i) => {
        const on = c.labels.includes(o.label);
        return (
          <label key={o.label} class={`choice${on ? " on" : ""}`} onMouseEnter={() => setFocus(i)}>
            <input type={type} name={name} checked={on} onChange={() => choose(i)} onFocus={() => setFocus(i)} />
            <span class="t" dir="auto">
              {plain(o.label)}
            </span>
            <Hint of={String(i + 1)} />
            {o.description !== "" && (
              <span class="d" dir="auto">
                {plain(o.description)}
              </span>
            )}
          </label>
        );
      })}
      <label class={`choice${other ? " on" : ""}`}>
        <input
          type={type}
          name={name}
          checked={other}
          onChange={(e) => (e.currentTarget.checked ? choose(q.options.length) : set({ labels: c.labels }))}
        />
        <span class="t">{t.somethingElse}</span>
        <Hint of={String(q.options.length + 1)} />
        {other && (
          <input
            class="inp d"
            aria-label={t.somethingElse}
            value={c.other}
            enterkeyhint="next"
            ref={fresh ? takeFocus : null}
            onInput={(e) => set({ ...c, other: e.currentTarget.value })}
          />
        )}
      </label>
    </div>
  );
}
