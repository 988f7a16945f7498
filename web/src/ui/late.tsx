// A view whose code is fetched when it is first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sayError, w } from "../state/app";
import { Button } from "./button";
import { Skeleton } from "./small";

export function Late({ load }: { load: () => Promise<{ default: ComponentType }> }) {
  const [View, setView] = useState<ComponentType>();
  const [failed, setFailed] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let gone = false;
    load()
      .then((m) => !gone && setView(() => m.default))
      .catch((err) => !gone && setFailed(sayError(err)));
    return () => {
      gone = true;
    };
  }, [tries]);
  if (View) return <View />;
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
