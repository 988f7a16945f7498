// Contexts as tags: above a message, and in the input with a button to remove each.

import type { ContextKind, Tag } from "../../state/contexts";
import { w } from "../../state/app";
import { plain } from "../../state/safe";
import { Icon, type IconName } from "../icon";

const icons: Record<ContextKind | "unknown", IconName> = {
  file: "file",
  web: "globe",
  folder: "folder",
  symbol: "symbol",
  terminal: "terminal",
  problems: "alert",
  git: "branch",
  selection: "selection",
  workspace: "home",
  image: "image",
  unknown: "tag",
};

const coded = new Set<string>(["file", "folder", "symbol", "image"]);

export function kindIcon(kind: ContextKind | "unknown"): IconName {
  return icons[kind];
}

export function ContextTag({ tag, remove }: { tag: Tag; remove?: () => void }) {
  const t = w.value;
  const label = tag.label || t.contexts[tag.kind];
  return (
    <span class="tag" data-kind={tag.kind} title={plain(`${t.contexts[tag.kind]}: ${label}`)}>
      <Icon name={icons[tag.kind]} />
      <span class={`cut${coded.has(tag.kind) ? " mono" : ""}`} dir="auto">
        {plain(label)}
      </span>
      {tag.note !== "" && <span class="dim">{plain(tag.note)}</span>}
      {remove && (
        <button type="button" class="x" aria-label={t.removeContext(plain(label))} onClick={remove}>
          <Icon name="x" />
        </button>
      )}
    </span>
  );
}
