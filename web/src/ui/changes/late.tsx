// The page of changes as a view that is fetched when it is first shown.

import { route } from "../../state/route";
import { ChangesPage } from "./page";

export default function ChangesView() {
  const r = route.value;
  return r.page === "changes" ? <ChangesPage key={r.id} id={r.id} turn={r.turn} /> : null;
}
