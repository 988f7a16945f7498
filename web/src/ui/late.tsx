// Views whose code is fetched at their first use or earlier.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sayError, w } from "../state/app";
import { Button } from "./button";
import { Skeleton } from "./small";

/** A view by how its code is fetched; once that is here, it is shown at once. */
export interface LateView {
  fetch: () => Promise<ComponentType>;
  view?: ComponentType;
}

export function late(load: () => Promise<ComponentType>): LateView {
  const v: LateView = {
    fetch: async () => {
      v.view ??= await load();
      return v.view;
    },
  };
  return v;
}

export function Late({ of }: { of: LateView }) {
  const [, draw] = useState(0);
  const [failed, setFailed] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let gone = false;
    of.fetch()
      .then(() => !gone && draw(1))
      .catch((err) => !gone && setFailed(sayError(err)));
    return () => {
      gone = true;
    };
  }, [tries]);
  if (of.view) return <of.view />;
  return (
    <main class="centre" id="main">
      {failed === "" ? (
        <Skeleton />
      ) : (
        <p class="empty-line" role="alert">
          {failed}{" "}
          <Button small onClick={() => setTries(tries + 1)}>
            {w.value.tryAgain}
          </Button>
        </p>
      )}
    </main>
  );
}
