// A link to a page of the documentation, where the server has it.

import { hello, w } from "../state/app";

export function Guide({ page }: { page: string }) {
  if (!hello.value?.capabilities.includes("docs")) return null;
  return (
    <a class="linkish" href={`docs/${page}.html`} target="_blank" rel="noopener">
      {w.value.guide}
    </a>
  );
}
