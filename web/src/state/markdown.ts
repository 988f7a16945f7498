// Markdown as tokens. The page draws elements from them and never makes HTML from text: HTML in a
// text is shown as text.

import { Lexer, type Token, type Tokens } from "marked";

export type { Token, Tokens };

/** A paragraph longer than this is shown without inline marks: it is data, not prose. */
export const longest = 20_000;

/** Copies a short text, because regular expressions are slow on a slice of a long one. */
function flat(text: string): string {
  return text.length < 4000 ? text.split("").join("") : text;
}

/** A piece of a document that can be drawn separately, with its source. */
export interface Piece {
  key: string;
  raw: string;
  token: Token;
}

function lex(source: string): Token[] {
  try {
    return new Lexer({ gfm: true }).blockTokens(source, []);
  } catch {
    // Nested too deeply to parse: it is shown as source.
    return [{ type: "raw", raw: source } as Tokens.Generic];
  }
}

/**
 * A document that grows. Only its last pieces are read again when text is added, so the
 * work for a delta does not grow with the text before it.
 */
export class Document {
  private source = "";
  private pieces: Piece[] = [];
  private tail = 0; // the offset in the source from which pieces may still change
  private settled = 0; // the number of final pieces

  /**
   * The pieces of a text. A growing text is known to extend the previous one, so only its end is read; a complete text
   * is compared as a whole.
   */
  update(text: string, grows = false): readonly Piece[] {
    if (text.length === this.source.length && (grows || text === this.source)) return this.pieces;
    if (!(grows ? this.goesOn(text) : text.length > this.source.length && text.startsWith(this.source))) this.reset();
    if (text.indexOf("\r", this.source.length) >= 0) {
      text = text.replace(/\r\n?/g, "\n");
      this.reset();
    }
    this.source = text;
    const tokens = lex(flat(this.source.slice(this.tail)));
    this.pieces.length = this.settled;
    for (const token of tokens) {
      if (token.type === "space") continue;
      this.pieces.push({ key: `${this.pieces.length}`, raw: token.raw, token });
    }
    this.settle(tokens);
    return this.pieces;
  }

  private goesOn(text: string): boolean {
    const n = this.source.length;
    const from = Math.max(0, n - 64);
    return n > 0 && text.length > n && text.slice(from, n) === this.source.slice(from);
  }

  private reset(): void {
    this.source = "";
    this.pieces = [];
    this.tail = 0;
    this.settled = 0;
  }

  /** All but the last two pieces are done: a list, a table or a heading may still grow. */
  private settle(tokens: Token[]): void {
    const solid = tokens.filter((t) => t.type !== "space").length - 2;
    if (solid <= 0) return;
    let n = 0;
    for (const token of tokens) {
      if (n === solid) break;
      this.tail += token.raw.length;
      if (token.type !== "space") n++;
    }
    this.settled += solid;
  }
}

/** The inline tokens of a text. */
export function inline(text: string): Token[] {
  if (text.length > longest) return [{ type: "text", raw: text, text } as Tokens.Text];
  try {
    return Lexer.lexInline(text, { gfm: true });
  } catch {
    return [{ type: "text", raw: text, text } as Tokens.Text];
  }
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** A text with its character references resolved, as Markdown requires. */
export function entitiesRead(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,6}));/g, (all, dec, hex, name) => {
    if (name !== undefined) return entities[name as string] ?? all;
    const code = dec !== undefined ? Number.parseInt(dec, 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : "\ufffd";
  });
}
