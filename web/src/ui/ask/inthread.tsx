// The requests of a session at the end of its conversation: each is the next step of the agent, whole and once.

import { type Signal, signal } from "@preact/signals";
import { inbox } from "../../state/inbox";
import type { SessionStore } from "../../state/session";
import { RequestCard } from "./request";

export function Requests({ store }: { store: SessionStore }) {
  const prompts = store.settled.prompts;
  return (
    <>
      {prompts.map((p, i) => {
        const pending = inbox.value.find((x) => x.session_id === store.id && x.prompt.request_id === p.request_id);
        const prompt = {
          session_id: store.id,
          ...(pending?.asked_at ? { asked_at: pending.asked_at } : {}),
          prompt: p,
        };
        return (
          <div class="step last asks" key={p.request_id}>
            <span class="g">
              <span class="dot ask" />
            </span>
            <div>
              <RequestCard prompt={prompt} active={i === 0} />
            </div>
          </div>
        );
      })}
    </>
  );
}

/** The directions of the requests out of view; empty while one is in view. */
export type Away = "" | "above" | "below";

const places = new WeakMap<SessionStore, Signal<Away>>();

export function awayOf(store: SessionStore): Signal<Away> {
  const known = places.get(store) ?? signal<Away>("");
  places.set(store, known);
  return known;
}

/** Records whether a request is in view: a third of it, or of the view if the request is taller. */
export function lookForRequests(store: SessionStore, box: HTMLElement): void {
  const view = box.getBoundingClientRect();
  const dock = box.parentElement?.querySelector(".dock")?.getBoundingClientRect().top ?? view.bottom;
  const bottom = Math.min(view.bottom, dock);
  let away: Away = "";
  for (const card of box.querySelectorAll<HTMLElement>("[data-request]")) {
    const r = card.getBoundingClientRect();
    const seen = Math.min(r.bottom, bottom) - Math.max(r.top, view.top);
    if (seen >= Math.min(r.height, bottom - view.top) / 3) {
      away = "";
      break;
    }
    away = r.top < view.top ? "above" : "below";
  }
  awayOf(store).value = away;
}

/** Brings the first request that is not in view there. The focus stays where it is. */
export function showRequest(): void {
  document.querySelector(".thread [data-request]")?.scrollIntoView({ block: "center" });
}
