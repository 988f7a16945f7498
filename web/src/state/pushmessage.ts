// What a push message says. Nothing here knows of a window: the service worker uses it.

import { oneLine, plain } from "./safe";

export interface Shown {
  title: string;
  body: string;
  /** Notifications of one tag replace each other. */
  tag: string;
  session: string;
}

const bodies: Record<"en" | "zh", Record<string, string>> = {
  en: {
    needs_answer: "The agent waits for an answer.",
    turn_done: "A turn has ended.",
    failed: "A turn, or the agent, has failed.",
    budget_reached: "A budget is used up.",
    test: "Messages to this browser work.",
    "": "Something happened.",
  },
  zh: {
    needs_answer: "代理在等待回答。",
    turn_done: "一轮已结束。",
    failed: "一轮或代理失败了。",
    budget_reached: "预算已用完。",
    test: "发往此浏览器的消息正常。",
    "": "有新的动静。",
  },
};

/** The notification of a message. What cannot be read is one too: a browser wants to see one. */
export function notificationOf(data: string, lang: "en" | "zh"): Shown {
  let m: unknown;
  try {
    m = JSON.parse(data);
  } catch {
    m = undefined;
  }
  const text = (name: string) => {
    const v: unknown = typeof m === "object" && m !== null ? (m as Record<string, unknown>)[name] : undefined;
    return typeof v === "string" ? v : "";
  };
  const words = bodies[lang];
  const session = text("session_id");
  return {
    title: oneLine(plain(text("title"))) || "Parley",
    body: words[text("kind")] ?? words[""] ?? "",
    tag: session || "parley",
    session,
  };
}

/** Where a click leads: to the session, in the page that the worker belongs to. */
export function clickTarget(session: string, scope: string): string {
  return session === "" ? scope : new URL(`#/s/${encodeURIComponent(session)}`, scope).href;
}
