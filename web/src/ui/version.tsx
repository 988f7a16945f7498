// Editing and resending a message, and switching between its versions.

import { resendAsVersion, send } from "../state/actions";
import { w } from "../state/app";
import { useKept } from "../state/kept";
import { capabilitiesOf } from "../state/providers";
import { go } from "../state/route";
import type { SessionStore } from "../state/session";
import { live } from "../state/sessions";
import { originOf, promptIndex, versionsOf } from "../state/versions";
import { Button, IconButton } from "./button";
import { composes, takeFocus } from "./composer/focus";

interface EditProps {
  /** The key of the kept text. */
  name: string;
  /** Whether a person begins now; a restored editor does not take the focus. */
  fresh: boolean;
  text: string;
  /** The text before and after it in the message. */
  around: readonly [string, string];
  images: readonly { type: string; data: string }[];
  uuid: string;
  store: SessionStore;
  done: () => void;
}

export function EditAndResend({ name, fresh, text, around, images, uuid, store, done }: EditProps) {
  const [value, setValue] = useKept(`${name}text`, text);
  const t = w.value;
  const canFork = uuid !== "" && capabilitiesOf(store.id)?.can_fork !== false;
  const draft = () => ({
    text: around[0] + value + around[1],
    contexts: [],
    images: images.map((i, n) => ({ ...i, name: t.picture(n + 1), size: Math.floor(i.data.length * 0.75) })),
  });
  const below = () => {
    if (value.trim() === "") return;
    send(store.id, draft());
    done();
  };
  const version = () => {
    if (value.trim() === "") return;
    void resendAsVersion(store, uuid, draft());
    done();
  };
  const first = canFork ? version : below;
  return (
    <div class="bubble editing">
      <label class="sr" for={`edit-${store.id}`}>
        {t.editResend}
      </label>
      <textarea
        id={`edit-${store.id}`}
        class="inp"
        rows={4}
        value={value}
        ref={fresh ? takeFocus : null}
        onInput={(e) => setValue(e.currentTarget.value)}
        onKeyDown={(e) => {
          e.stopPropagation();
          if (e.key === "Escape") done();
          if (e.key === "Enter" && !e.shiftKey && !composes(e)) {
            e.preventDefault();
            first();
          }
        }}
      />
      {canFork && <p class="hint">{t.versionNote}</p>}
      <div class="acts">
        <Button kind="primary" small onClick={first} hint="↵">
          {canFork ? t.resendVersion : t.sendBelow}
        </Button>
        {canFork && (
          <Button small onClick={below}>
            {t.sendBelow}
          </Button>
        )}
        <Button kind="ghost" small onClick={done} hint="Esc">
          {t.cancel}
        </Button>
      </div>
    </div>
  );
}

/** For a prompt with versions: which one this is, and links to the others. */
export function Versions({ uuid, store }: { uuid: string; store: SessionStore }) {
  void store.durable.value;
  const found = store.versions ? store.versions(uuid) : liveVersions(uuid, store);
  if (found === undefined || found.count < 2) return null;
  const { at, count, show } = found;
  const t = w.value;
  return (
    <div class="versions" role="group" aria-label={t.versions}>
      <IconButton small icon="chevronLeft" label={t.versionBefore} disabled={at <= 0} onClick={() => show(at - 1)} />
      <span class="num">{t.versionOf(at + 1, count)}</span>
      <IconButton small icon="chevron" label={t.versionAfter} disabled={at >= count - 1} onClick={() => show(at + 1)} />
    </div>
  );
}

function liveVersions(uuid: string, store: SessionStore) {
  if (uuid === "" || !live.value.some((s) => originOf(s) !== undefined)) return undefined;
  const { ids, at } = versionsOf(live.value, store.id, promptIndex(store.settled, uuid));
  const show = (n: number) => {
    const id = ids[n];
    if (id !== undefined) go({ page: "session", ids: [id] });
  };
  return { count: ids.length, at, show };
}
