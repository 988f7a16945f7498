// The foot of the sidebar: the connection, language, theme, settings, help.

import { status, w } from "../state/app";
import { lang, theme } from "../state/prefs";
import { go, route } from "../state/route";
import { IconButton } from "./button";
import { help } from "./open";

const nextTheme = { system: "light", light: "dark", dark: "system" } as const;

export function Foot() {
  const t = w.value;
  const s = status.value;
  return (
    <div class="side-foot">
      <span class="conn lbl" role="status">
        <span class={`dot ${s === "open" ? "ok" : "bad"}`} />
        {s === "open" ? t.connected : t.reconnecting}
      </span>
      <span class="sp" />
      <button
        type="button"
        class="ibtn txt"
        title={t.language}
        onClick={() => {
          lang.value = lang.peek() === "zh" ? "en" : "zh";
        }}
      >
        {t.otherLanguage}
      </button>
      <IconButton
        icon="theme"
        label={t.themeIs[theme.value]}
        onClick={() => {
          theme.value = nextTheme[theme.peek()];
        }}
      />
      <IconButton
        icon="settings"
        label={t.settings}
        pressed={route.value.page === "settings"}
        onClick={() => go({ page: "settings" })}
      />
      <IconButton
        icon="keyboard"
        class="lbl"
        label={t.keyboardHelp}
        onClick={() => {
          help.value = true;
        }}
      />
    </div>
  );
}
