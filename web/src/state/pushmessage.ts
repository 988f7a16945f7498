// Notices of push messages. This module uses no window, because the service worker imports it.

import { oneLine, plain } from "./safe";

export interface Notice {
  title: string;
  body: string;
  /** Notices of one tag replace each other. */
  tag: string;
  data: { session: string; nonce?: string };
  actions?: { action: "open" | "allow" | "deny"; title: string }[];
}

const words = {
  en: {
    bodies: {
      needs_answer: "The agent waits for an answer.",
      turn_done: "A turn has ended.",
      failed: "A turn, or the agent, has failed.",
      budget_reached: "A budget is used up.",
      test: "Messages to this browser work.",
      "": "Something happened.",
    } as Record<string, string>,
    run: "Run this command?",
    open: "Open",
    allow: "Allow once",
    deny: "Deny",
    failed: "Not answered",
    failedBody: "The request was answered elsewhere, or the server could not be reached. Open the session to see.",
  },
  zh: {
    bodies: {
      needs_answer: "代理在等待回答。",
      turn_done: "一轮已结束。",
      failed: "一轮或代理失败了。",
      budget_reached: "预算已用完。",
      test: "发往此浏览器的消息正常。",
      "": "有新的动静。",
    } as Record<string, string>,
    run: "运行此命令？",
    open: "打开",
    allow: "允许一次",
    deny: "拒绝",
    failed: "未能回答",
    failedBody: "该请求已在别处回答，或无法连接服务器。打开会话查看。",
  },
};

/**
 * Returns the notice of a message; an unreadable message gets a general notice, because browsers require one. Answers are offered
 * if the browser shows two actions (an iPhone shows none, and a tap opens the session), and Allow only if the notice has the whole
 * command.
 */
export function noticeOf(data: string, lang: "en" | "zh", mostActions: number): Notice {
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
  const t = words[lang];
  const session = text("session_id");
  const notice = {
    title: oneLine(plain(text("title"))) || "Parley",
    body: t.bodies[text("kind")] ?? t.bodies[""] ?? "",
    tag: session || "parley",
    data: { session },
  };
  const nonce = text("nonce");
  if (nonce === "" || mostActions < 2) return notice;
  const command = plain(text("command"));
  const whole = command !== "" && command === text("command");
  const first = whole ? ({ action: "allow", title: t.allow } as const) : ({ action: "open", title: t.open } as const);
  return {
    ...notice,
    ...(whole ? { body: `${t.run}\n${command}` } : {}),
    data: { session, nonce },
    actions: [first, { action: "deny", title: t.deny }],
  };
}

/** The notice of an answer that did not count. */
export function notAnswered(session: string, lang: "en" | "zh"): Notice {
  const t = words[lang];
  return { title: t.failed, body: t.failedBody, tag: session || "parley", data: { session } };
}

/** The target of a click: the session, in the worker's page. */
export function clickTarget(session: string, scope: string): string {
  return session === "" ? scope : new URL(`#/s/${encodeURIComponent(session)}`, scope).href;
}
