// Draws Markdown as elements. HTML in a text is never interpreted.

import { type ComponentChildren, createContext } from "preact";
import { memo } from "preact/compat";
import { useContext, useRef } from "preact/hooks";
import { Document, inline, longest, type Token, type Tokens, entitiesRead } from "../state/markdown";
import { hiddenHost, plain, safeLink, turnsText } from "../state/safe";
import { mentionsIn } from "../state/said";
import { CodeBlock } from "./code";
import { Icon } from "./icon";

/** A text as Markdown. While it streams a caret follows it. */
export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming?: boolean }) {
  const doc = useRef<Document | undefined>(undefined);
  doc.current ??= new Document();
  const pieces = doc.current.update(text, streaming === true);
  return (
    <div class={`md${streaming ? " live" : ""}`} dir="auto">
      {pieces.map((p) => (
        <Piece key={p.key} raw={p.raw} token={p.token} live={streaming === true && p === pieces[pieces.length - 1]} />
      ))}
    </div>
  );
});

/** A piece is drawn again only when its source changed. */
const Piece = memo(
  function Piece({ token, live }: { raw: string; token: Token; live: boolean }) {
    return <Block token={token} live={live} />;
  },
  (a, b) => a.raw === b.raw && a.live === b.live,
);

const headings = ["h3", "h3", "h4", "h5", "h6", "h6"] as const;

function Block({ token, live }: { token: Token; live?: boolean }) {
  const t = token as Tokens.Generic;
  switch (t.type) {
    case "heading": {
      const H = headings[Math.min(6, Math.max(1, t["depth"] as number)) - 1] ?? "h6";
      return <H dir="auto">{spans(t["text"])}</H>;
    }
    case "paragraph":
      return <p dir="auto">{spans(t["text"])}</p>;
    case "text":
      return <>{spans(t["text"])}</>;
    case "code":
      return <CodeBlock code={t["text"]} lang={t["lang"] ?? ""} live={live === true} />;
    case "blockquote":
      return <blockquote dir="auto">{blocks(t.tokens)}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      return <p class="raw">{plain(t.raw)}</p>;
  }
}

function blocks(tokens: Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((t, i) => <Block key={i} token={t} />);
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, i) => (
    <li key={i} dir="auto" class={item.task ? "task" : undefined}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? "✓" : "–"} />
      )}
      {blocks(item.tokens.filter((t) => t.type !== "checkbox"))}
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={typeof list.start === "number" ? list.start : 1}>{items}</ol>;
}

/** Tables beyond this many cells show their first rows: more does not fit a screen. */
const maxCells = 4000;

function Table({ table }: { table: Tokens.Table }) {
  const rows = table.rows.slice(0, Math.max(1, Math.floor(maxCells / Math.max(1, table.header.length))));
  const cls = (i: number) => (table.align[i] === "right" ? "r" : undefined);
  return (
    <div class="tablewrap" tabIndex={0} role="group">
      <table>
        <thead>
          <tr>
            {table.header.map((c, i) => (
              <th key={i} class={cls(i)}>
                {spans(c.text)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((c, j) => (
                <td key={j} class={cls(j)}>
                  {spans(c.text)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length < table.rows.length && <p class="dim">{`… +${table.rows.length - rows.length}`}</p>}
    </div>
  );
}

function spans(text: string): ComponentChildren {
  if (text.length > longest) return bidi(text);
  return inlines(inline(text));
}

function inlines(tokens: Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((t, i) => <Inline key={i} token={t as Tokens.Generic} />);
}

function Inline({ token: t }: { token: Tokens.Generic }) {
  switch (t.type) {
    case "text":
      return t.tokens ? <>{inlines(t.tokens)}</> : <Text text={entitiesRead(t["text"])} />;
    case "escape":
      return <>{entitiesRead(t["text"])}</>;
    case "strong":
      return <strong>{inlines(t.tokens)}</strong>;
    case "em":
      return <em>{inlines(t.tokens)}</em>;
    case "del":
      return <del>{inlines(t.tokens)}</del>;
    case "codespan":
      return <code>{plain(t["text"])}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={entitiesRead(t["href"])} text={t["text"]}>
          {inlines(t.tokens)}
        </Link>
      );
    case "image":
      // Loading a foreign picture would tell its host who reads, so a link replaces it.
      return <Link href={entitiesRead(t["href"])} text={t["text"]}>{`🖼 ${t["text"] || t["href"]}`}</Link>;
    default:
      return <>{plain(t.raw)}</>;
  }
}

function Link({ href, text, children }: { href: string; text: string; children: ComponentChildren }) {
  const url = safeLink(href);
  if (url === undefined)
    return (
      <span class="badlink" title={plain(href)}>
        {children}
      </span>
    );
  const host = hiddenHost(url, text);
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={plain(url)}>
      <bdi>{children}</bdi>
      {host && <span class="dim">{` (${host})`}</span>}
    </a>
  );
}

/** The files that a text names with @, which are shown as such. */
export const Mentions = createContext<readonly string[]>([]);

function Text({ text }: { text: string }) {
  const paths = useContext(Mentions);
  if (paths.length === 0) return <>{bidi(text)}</>;
  return (
    <>
      {mentionsIn(text, paths).map((p, i) =>
        typeof p === "string" ? (
          bidi(p)
        ) : (
          <span key={i} class="mention mono" dir="ltr">
            <Icon name="file" />
            {plain(p.path)}
          </span>
        ),
      )}
    </>
  );
}

/** Text that turns the reading direction stays inside its own element. */
function bidi(text: string): ComponentChildren {
  return turnsText(text) ? <bdi>{plain(text)}</bdi> : text;
}
