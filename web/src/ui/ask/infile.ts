// The change of a request in its file: the numbers of its lines, and whether there is such a file.

import { useEffect, useState } from "preact/hooks";
import { get, str } from "../../fold/json";
import { CallError } from "../../rpc/connection";
import type { PermissionRequest } from "../../rpc/messages";
import { call } from "../../state/app";
import { type FileDiff, fromTexts } from "../../state/diff";
import { promptType } from "../../state/tools";

export interface InFile {
  /** The change with its line numbers; undefined if the file cannot be read. */
  diff?: FileDiff;
  /** Whether it creates the file; undefined if the page cannot tell. */
  makes: boolean | undefined;
}

/** A change of a text that is found in its file, or a file that is written as a whole. */
export function useInFile(p: PermissionRequest, session: string): InFile {
  const [found, setFound] = useState<InFile>({ makes: false });
  const path = str(get(p.input, "file_path"));
  const type = promptType(p);
  useEffect(() => {
    if (path === "" || (type !== "CLAUDE_EDIT" && type !== "CLAUDE_WRITE")) return;
    let gone = false;
    call("files.read", { session_id: session, path }).then(
      (r) => {
        const after = r.truncated ? undefined : changed(type, p.input, r.text);
        if (!gone && after !== undefined) setFound({ diff: { ...fromTexts(path, r.text, after), isNew: false }, makes: false });
      },
      (err) => {
        const none = err instanceof CallError && err.reason === "invalid_params";
        if (gone || (type !== "CLAUDE_WRITE" && str(get(p.input, "old_string")) !== "")) return;
        setFound({ makes: none || undefined });
      },
    );
    return () => {
      gone = true;
    };
  }, [session, path, p.request_id]);
  return found;
}

/** A text after the call; undefined if the call does not apply to it. */
function changed(type: string, input: unknown, text: string): string | undefined {
  if (type === "CLAUDE_WRITE") return str(get(input, "content"));
  const [before, after] = [str(get(input, "old_string")), str(get(input, "new_string"))];
  if (before === "" || !text.includes(before)) return undefined;
  return get(input, "replace_all") === true ? text.split(before).join(after) : text.replace(before, () => after);
}

/** A change without numbers, which would be those of a part of the file. */
export function unnumbered(d: FileDiff): FileDiff {
  return { ...d, hunks: d.hunks.map((h) => ({ lines: h.lines.map(({ old: _o, new: _n, ...l }) => l) })) };
}
