// Actions of a person in a session.

import type { FoldedConversation } from "../fold/conversation";
import type { Obj } from "../fold/json";
import type { PendingPrompt } from "../rpc/service";
import { CallError, type Params } from "../rpc/connection";
import { afterOpen, call, refreshSoon, sayError, sessionStore, status, toast, tryCall, w, whenOpen } from "./app";
import { carry } from "./carry";
import { contents, withoutContents } from "./contexts";
import { forget, requestPrefix } from "./kept";
import { lang } from "./prefs";
import { formatRoute, fromHere, go, type Route } from "./route";
import { oneLine } from "./safe";
import { firstWords, live } from "./sessions";
import type { Picture, Sending, SessionStore } from "./session";
import { messageBefore, metadataOf, promptIndex, versionsOf } from "./versions";

/** An idempotency key, with which a request can be repeated. */
export function newKey(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = ((b[6] ?? 0) & 0x0f) | 0x40;
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...b].map((x) => x.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export interface Draft {
  text: string;
  contexts: Obj[];
  images: Picture[];
  priority?: string;
}

/** Sends a message. It is shown at once, and sent again after a lost connection. */
export function send(session: string, d: Draft): void {
  const s = sessionStore(session);
  const m: Sending = { id: newKey(), ...d, state: "sending" };
  s.sending.value = [...s.sending.peek(), m];
  void transmit(s, m);
}

/** Continues a turn that was cut off. */
export function goOn(session: string): void {
  send(session, { text: w.peek().goOnPrompt, contexts: [], images: [] });
}

async function transmit(s: SessionStore, m: Sending): Promise<void> {
  s.setSending(m.id, { state: status.peek() === "open" ? "sending" : "kept" });
  try {
    const r = await call(m.images.length > 0 ? "session.queryWithContent" : "session.query", request(s.id, m) as never);
    s.setSending(m.id, { state: "sending", seq: r.seq });
  } catch (err) {
    const lost = err instanceof CallError && (err.reason === "not_connected" || err.reason === "timeout");
    const reason = err instanceof CallError ? err.reason : "";
    s.setSending(m.id, lost ? { state: "kept" } : { state: "failed", error: sayError(err), reason });
  }
}

function request(session_id: string, m: Sending): Params<"session.query"> | Params<"session.queryWithContent"> {
  const common = {
    session_id,
    idempotency_key: m.id,
    ...(m.contexts.length > 0 ? { contexts: withoutContents(m.contexts), language: lang.peek() } : {}),
    ...(m.priority ? { priority: m.priority } : {}),
  };
  const text = m.text + contents(m.contexts);
  if (m.images.length === 0) return { ...common, text };
  const images = m.images.map((p) => ({ type: "image", source: { type: "base64", media_type: p.type, data: p.data } }));
  return { ...common, content: [...images, ...(text === "" ? [] : [{ type: "text", text }])] };
}

export function sendAgain(s: SessionStore, id: string): void {
  const m = s.sending.peek().find((x) => x.id === id);
  if (m) void transmit(s, m);
}

/** Sessions with messages that are sent when the connection is back. */
const keepers = new Set<SessionStore>();
export function keep(s: SessionStore): () => void {
  keepers.add(s);
  return () => keepers.delete(s);
}
afterOpen.push(() => {
  for (const s of keepers) for (const m of s.sending.peek()) if (m.state === "kept") void transmit(s, m);
});

export async function interrupt(session_id: string): Promise<void> {
  const r = await tryCall("session.interrupt", { session_id });
  if (r && r.dropped?.length > 0) toast(w.peek().dropped(r.dropped.length));
}

export interface PermissionAnswer {
  behavior: "allow" | "deny";
  updated_input?: unknown;
  updated_permissions?: unknown;
  reason?: string;
  interrupt?: boolean;
  /** An option that the agent offers. */
  choice?: string;
}

/** Answers a permission request and reports whose answer counted. */
export async function answerPermission(p: PendingPrompt, a: PermissionAnswer): Promise<boolean> {
  const r = await tryCall("permission.respond", {
    session_id: p.session_id,
    request_id: p.prompt.request_id,
    idempotency_key: newKey(),
    ...a,
  } as Params<"permission.respond">);
  return settle(p, r);
}

export async function answerQuestion(
  p: PendingPrompt,
  action: "accept" | "decline" | "cancel",
  answers?: unknown,
): Promise<boolean> {
  const r = await tryCall("question.respond", {
    session_id: p.session_id,
    request_id: p.prompt.request_id,
    idempotency_key: newKey(),
    action,
    ...(answers === undefined ? {} : { answers }),
  } as Params<"question.respond">);
  return settle(p, r);
}

/** Functions that run when a request was answered. */
export const afterAnswer: ((p: PendingPrompt) => void)[] = [];

function settle(p: PendingPrompt, r: { accepted: boolean; by?: string } | undefined): boolean {
  refreshSoon();
  if (r === undefined) return false;
  if (!r.accepted) toast(w.peek().answeredBy(r.by ?? ""));
  forget(requestPrefix(p));
  for (const f of afterAnswer) f(p);
  return r.accepted;
}

/** Opens a new session, unless the person has navigated elsewhere. */
function show(session: string, here: () => boolean): void {
  const open = () => go({ page: "session", ids: [session] });
  if (here()) return open();
  const t = w.peek();
  toast(t.started, false, { label: t.openIt, run: open });
}

/** Starts a session and opens it. */
export async function startSession(
  params: Params<"session.connect">,
  first?: Draft,
  here = fromHere(),
): Promise<string | undefined> {
  await whenOpen();
  const r = await tryCall("session.connect", { idempotency_key: newKey(), ...params });
  if (r === undefined) return undefined;
  if (first?.text) firstWords.value = new Map(firstWords.peek()).set(r.session_id, oneLine(first.text, 60));
  refreshSoon();
  show(r.session_id, here);
  if (first && (first.text !== "" || first.images.length > 0)) send(r.session_id, first);
  return r.session_id;
}

export async function fork(session_id: string, at?: string): Promise<void> {
  const here = fromHere();
  const r = await tryCall("session.fork", { session_id, ...(at ? { at } : {}), metadata: { fork_of: session_id } });
  if (r === undefined) return;
  refreshSoon();
  show(r.session_id, here);
}

/** Sends an edited prompt as another version: in a session that continues before the prompt. */
export async function resendAsVersion(s: SessionStore, uuid: string, d: Draft): Promise<void> {
  const c = s.fold.conversation;
  const prompt = promptIndex(c, uuid);
  const group = versionsOf(live.peek(), s.id, prompt);
  const metadata = metadataOf({ of: group.ids[0] ?? s.id, prompt, version: group.ids.length + 1 });
  const at = messageBefore(c, uuid);
  const me = live.peek().find((x) => x.session_id === s.id);
  if (prompt === 0 || at === undefined) {
    await startSession(
      {
        ...(me?.provider ? { provider: me.provider } : {}),
        ...(me?.cwd ? { cwd: me.cwd } : {}),
        ...(me?.permission_mode ? { permission_mode: me.permission_mode } : {}),
        metadata,
      },
      d,
    );
    return;
  }
  const here = fromHere();
  const r = await tryCall("session.fork", { session_id: s.id, at, metadata });
  if (r === undefined) return;
  refreshSoon();
  show(r.session_id, here);
  send(r.session_id, d);
}

/** Continues with another agent: starts a session whose first message contains the conversation. */
export async function continueWith(c: FoldedConversation, cwd: string, from: string, provider: string): Promise<void> {
  const { text } = carry(c, from);
  await startSession({ provider, ...(cwd ? { cwd } : {}) }, { text, contexts: [], images: [] });
}

/** Whether the agent offers to make its conversation shorter. */
export function canCompact(c: FoldedConversation): boolean {
  return (c.init?.slash_commands ?? []).includes("compact");
}

export function compact(session: string): void {
  send(session, { text: "/compact", contexts: [], images: [] });
}

/** Copies the address of a message. */
export async function copyLink(r: Route): Promise<void> {
  await copyText(new URL(formatRoute(r), document.baseURI).href);
}

/** Saves a session in another format. */
export async function exportSession(session: string, format: string): Promise<void> {
  const r = await tryCall("history.export", { session, format });
  if (r !== undefined) saveText(r.name, r.media_type, r.text);
}

/** Offers a text as a file to download. */
export function saveText(name: string, type: string, text: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(w.peek().copied);
  } catch {
    toast(w.peek().notCopied, true);
  }
}
