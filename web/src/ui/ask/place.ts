// A click answers the card that was under the pointer when the person aimed, so a card that has just appeared or moved
// ignores it.

/** How long a card must have been where it is. */
const restFor = 500;
/** The interval at which positions are checked while a request is drawn. */
const every = 100;
/** A card that moves this long after a click in it was moved by the person. */
const byHand = 200;
/** An element that moved by fewer pixels is still under the pointer. */
const near = 4;

interface Place {
  /** The bottom of the card, which has the buttons: on the screen, and in the scrolled content. */
  end: number;
  inside: number;
  left: number;
  since: number;
  /** When it was clicked last. */
  touched: number;
}

const places = new Map<HTMLElement, Place>();
let timer: ReturnType<typeof setInterval> | undefined;

function where(card: HTMLElement): Pick<Place, "end" | "inside" | "left"> {
  const { bottom: end, left } = card.getBoundingClientRect();
  return { end, inside: end + (card.closest(".scroll")?.scrollTop ?? 0), left };
}

/** Records since when a card has been at its position. Scrolling does not count. */
function look(card: HTMLElement, p: Place, now: number): void {
  const at = where(card);
  const shifted = Math.abs(at.end - p.end) > near && Math.abs(at.inside - p.inside) > near;
  if ((shifted || Math.abs(at.left - p.left) > near) && now - p.touched > byHand) p.since = now;
  Object.assign(p, at);
  card.toggleAttribute("data-moving", now - p.since < restFor);
}

/**
 * Reports whether a click was aimed at a card, by the time of the click: a busy page handles it later.
 */
export function takesClick(card: HTMLElement, clicked: number): boolean {
  const p = places.get(card);
  if (!p) return false;
  look(card, p, performance.now());
  if (clicked - p.since < restFor) return false;
  p.touched = performance.now();
  return true;
}

/** Follows the position of a card until the returned function is called. */
export function watchPlace(card: HTMLElement): () => void {
  places.set(card, { ...where(card), since: performance.now(), touched: Number.NEGATIVE_INFINITY });
  card.toggleAttribute("data-moving", true);
  timer ??= setInterval(() => {
    for (const [each, p] of places) look(each, p, performance.now());
  }, every);
  return () => {
    places.delete(card);
    if (places.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
