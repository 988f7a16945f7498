// A block of code: its language, a button to copy it, and colours that come later.

import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../state/actions";
import { w } from "../state/app";
import { type Part, partsByLine } from "../state/colour";
import { plain } from "../state/safe";
import { IconButton } from "./button";
import type { Node } from "./highlight";

/** Code longer than this stays without colours. */
export const colourLimit = 20_000;

export function CodeBlock({ code, lang, live }: { code: string; lang: string; live: boolean }) {
  const name = /^[\w+#.-]{1,20}/.exec(lang.trim())?.[0] ?? "";
  return (
    <div class="code">
      <div class="code-h">
        <span>{name}</span>
        <IconButton small icon="copy" label={w.value.copyCode} onClick={() => void copyText(code)} />
      </div>
      <pre tabIndex={0} dir="ltr">
        <Coloured code={code} lang={name} off={live} />
      </pre>
    </div>
  );
}

/** Runs f when the page is idle: text is drawn before its colours. */
function idle(f: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(f, { timeout: 500 });
  else setTimeout(f, 50);
}

let loading: Promise<typeof import("./highlight")> | undefined;

/** Draws code with colours once the highlighter is loaded. */
export const Coloured = memo(function Coloured({ code, lang, off }: { code: string; lang: string; off?: boolean }) {
  const [nodes, setNodes] = useState<{ code: string; tree: readonly Node[] }>();
  useEffect(() => {
    if (off || lang === "" || code.length > colourLimit) return;
    let gone = false;
    loading ??= import("./highlight");
    void loading
      .then((m) => {
        idle(() => {
          const tree = gone ? undefined : m.highlight(code, lang);
          if (tree && !gone) setNodes({ code, tree });
        });
      })
      .catch(() => {
        loading = undefined; // The server may have been away; code without colours reads as well.
      });
    return () => {
      gone = true;
    };
  }, [code, lang, off]);
  return <code>{nodes?.code === code ? draw(nodes.tree) : plain(code)}</code>;
});

/**
 * Returns the coloured parts of lines of code; undefined until the highlighter is loaded, and for unknown
 * languages.
 */
export function useLineColours(code: string, lang: string): Part[][] | undefined {
  const [found, setFound] = useState<{ code: string; lines: Part[][] }>();
  useEffect(() => {
    if (lang === "" || code === "" || code.length > colourLimit) return;
    let gone = false;
    loading ??= import("./highlight");
    void loading
      .then((m) => {
        idle(() => {
          const tree = gone ? undefined : m.highlight(code, lang);
          if (tree && !gone) setFound({ code, lines: partsByLine(tree) });
        });
      })
      .catch(() => {
        loading = undefined;
      });
    return () => {
      gone = true;
    };
  }, [code, lang]);
  return found?.code === code ? found.lines : undefined;
}

function draw(nodes: readonly Node[]): ComponentChildren {
  return nodes.map((n, i) =>
    typeof n === "string" ? (
      plain(n)
    ) : (
      <i key={i} class={n.class}>
        {draw(n.children)}
      </i>
    ),
  );
}
