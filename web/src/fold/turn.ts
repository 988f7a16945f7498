import type { Truncate, TurnDiff, TurnStart, Usage } from "../rpc/messages";
import type { FileChange, Turn } from "./conversation";
import { isObj, list, over, str, strings } from "./json";
import { began, type ItemRef, type Lookup } from "./lookup";

export function turnStart(x: Lookup, msg: TurnStart): void {
  let id = str(msg.turn_id);
  const known = x.findTurn(id);
  if (known !== undefined && (known.restart ?? 0) === x.restarts) return;
  if (known !== undefined) id = x.again(id); // the known one is of an agent that has ended
  const turn: Turn = { id, done: false, start: msg };
  began(turn, x.restarts);
  x.beginTurn(turn);
  const prompt = x.users.get(str(msg.prompt_id));
  // The prompt came before the turn that it began.
  if (prompt !== undefined && str(msg.prompt_id) !== "") x.inTurn(prompt.ref, turn);
  delete x.state.retry;
  const u = x.state.usage;
  if (u === undefined) return;
  // The context window is as full as before; the turn has used no tokens yet.
  delete u.turn_id;
  delete u.input_tokens;
  delete u.output_tokens;
  delete u.cache_creation_input_tokens;
  delete u.cache_read_input_tokens;
  delete u.reasoning_tokens;
  delete u.data;
}

export function turnDiff(x: Lookup, msg: TurnDiff): void {
  const id = str(msg.turn_id);
  let turn = (id === "" ? x.turn : undefined) ?? x.findTurn(id);
  if (turn === undefined) {
    turn = x.beginTurn({ id, done: false });
    began(turn, x.restarts);
  }
  if (msg.replace === true) delete turn.changes;
  for (const f of list(msg.files)) {
    if (isObj(f)) (turn.changes ??= []).push(f as unknown as FileChange);
  }
}

export function usage(x: Lookup, msg: Usage): void {
  x.state.usage = over(x.state.usage, msg);
}

/** Removes a part of the conversation. */
export function truncate(x: Lookup, msg: Truncate): void {
  const parent = str(msg.parent_tool_use_id);
  if (str(msg.from) !== "") cutFrom(x, parent, str(msg.from));
  else if (str(msg.turn_id) !== "") cutTurns(x, x.findTurn(str(msg.turn_id))?.id ?? "");
  else if (strings(msg.lines).length > 0) retract(x, parent, strings(msg.lines));
  else if (msg.all === true) {
    delete x.state.answer;
    delete x.state.usage;
    delete x.state.retry;
    x.clear();
  }
}

/** Removes the lines with the given uuids. */
export function retract(x: Lookup, parent: string, uuids: string[]): void {
  for (const uuid of uuids) {
    for (const { message, block } of x.confirmed(parent, uuid)) {
      x.drop(message, block);
      if (message.n === 0) x.remove(message);
    }
    x.forgetLine(parent, uuid);
  }
}

/** Removes the message of a uuid and all after it in its thread. */
function cutFrom(x: Lookup, parent: string, uuid: string): void {
  const ref: ItemRef | undefined = x.users.get(uuid)?.ref ?? x.confirmed(parent, uuid)[0]?.message;
  if (ref === undefined) return;
  const { thread, item } = ref;
  const at = thread.position(item);
  if (at === undefined) return;
  const turn = x.turns.get(item.turnId ?? "");
  for (const other of thread.thread.items.slice(at)) x.forget({ thread, item: other });
  if (turn === undefined || thread.thread.parentToolUseId !== "") return;
  if (turn.start?.prompt_id === uuid) return cutTurns(x, turn.id);
  const next = x.state.turns[x.state.turns.lastIndexOf(turn) + 1];
  if (next !== undefined) cutTurns(x, next.id);
}

/** Removes a turn and those after it. */
function cutTurns(x: Lookup, id: string): void {
  const turn = x.turns.get(id);
  if (turn === undefined) return;
  for (const gone of x.state.turns.splice(x.state.turns.lastIndexOf(turn))) {
    for (const ref of x.itemsOf(gone.id)) {
      // A prompt may belong to a later turn.
      if ((ref.item.turnId ?? "") === gone.id) x.forget(ref);
    }
    x.forgetTurn(gone.id);
  }
}
