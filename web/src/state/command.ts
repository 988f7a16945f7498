// Splits a shell command for reading: each part of a compound command, with the directory in which
// it runs. It is for display only; no decision depends on it.

export interface Part {
  /** The operator before it: && || ; | & or a line break. */
  join: string;
  text: string;
  dir: string;
}

/** The parts of a command. Quotes, escapes, brackets and comments are respected. */
export function parts(command: string, cwd: string): Part[] {
  const out: Part[] = [];
  let join = "";
  let text = "";
  let dir = cwd;
  const end = (next: string) => {
    const t = text.trim();
    if (t !== "") {
      out.push({ join, text: t, dir });
      dir = after(t, dir, next);
      join = next;
    } else if (join === "") join = next;
    text = "";
  };
  let depth = 0;
  for (let i = 0; i < command.length; i++) {
    const c = command[i] ?? "";
    const to = quoted(command, i);
    if (to > i) {
      text += command.slice(i, to);
      i = to - 1;
      continue;
    }
    if (c === "(" || c === "{") depth++;
    if (c === ")" || c === "}") depth--;
    const op = depth > 0 ? "" : operator(command, i);
    if (op === "") {
      text += c;
      continue;
    }
    end(op === "\n" ? ";" : op);
    i += op.length - 1;
  }
  end("");
  return out;
}

/** Returns the end of the quoted or escaped piece that begins at i; i if no such piece begins there. */
function quoted(s: string, i: number): number {
  const c = s[i];
  if (c === "\\") return i + 2;
  if (c === "'") {
    const j = s.indexOf("'", i + 1);
    return j < 0 ? s.length : j + 1;
  }
  if (c === '"' || c === "`") {
    for (let j = i + 1; j < s.length; j++) {
      if (s[j] === "\\") j++;
      else if (s[j] === c) return j + 1;
    }
    return s.length;
  }
  return i;
}

function operator(s: string, i: number): string {
  const two = s.slice(i, i + 2);
  if (two === "&&" || two === "||") return two;
  const c = s[i] ?? "";
  // 2>&1 and &> are redirections, not operators.
  if (c === "&" && (s[i - 1] === ">" || s[i + 1] === ">")) return "";
  return c === ";" || c === "|" || c === "&" || c === "\n" ? c : "";
}

/** Returns the directory after a part. A cd before a pipe or & has no effect outside of it. */
function after(text: string, dir: string, next: string): string {
  const m = /^cd\s+(?:--\s+)?(?:"([^"$`]*)"|'([^']*)'|([^\s$`;]+))$/.exec(text);
  if (m === null || next === "|" || next === "&") return dir;
  const to = m[1] ?? m[2] ?? m[3] ?? "";
  if (to.startsWith("/") || to.startsWith("~")) return tidy(to);
  return tidy(`${dir}/${to}`);
}

function tidy(path: string): string {
  const out: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "." && part !== "") out.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + out.join("/");
}
