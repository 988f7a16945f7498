// The sign-in page, for an address without a valid token.

import { useState } from "preact/hooks";
import { w } from "../state/app";
import { codeRefused, signIn } from "../state/login";
import { Button } from "./button";
import { Icon } from "./icon";

export function SignIn() {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const t = w.value;
  const submit = async () => {
    if (await signIn(token.trim())) location.reload();
    else setError(t.tokenRefused);
  };
  return (
    <main class="signin" id="main">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <h1>
          <Icon name="logo" class="logo" /> Parley
        </h1>
        {codeRefused.value && (
          <p class="err" role="alert">
            <Icon name="alert" /> {t.set_.codeRefused}
          </p>
        )}
        <p>{t.signInNote}</p>
        <div class="field">
          <label for="token">{t.token}</label>
          <input
            id="token"
            class="inp"
            type="password"
            autocomplete="off"
            value={token}
            aria-invalid={error !== ""}
            onInput={(e) => setToken(e.currentTarget.value)}
          />
          {error !== "" && (
            <span class="err" role="alert">
              <Icon name="alert" /> {error}
            </span>
          )}
        </div>
        <Button kind="primary" onClick={() => void submit()}>
          {t.signIn}
        </Button>
      </form>
    </main>
  );
}
