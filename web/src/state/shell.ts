// The offline shell: the requests that the service worker answers, and the files that it caches.

/** Maximum number of cached assets. Those of older pages are dropped first. */
export const mostKept = 80;

/**
 * The page itself is requested, and cached for use without the server. A file in assets/ has a hash in its name, so the
 * cached one is current. Everything else goes only to the server: methods, streams, and all that needs a token.
 */
export function kindOf(method: string, url: string, navigates: boolean, scope: string): "page" | "asset" | "" {
  const at = new URL(url);
  const base = new URL(scope);
  if (method !== "GET" || at.origin !== base.origin || !at.pathname.startsWith(base.pathname)) return "";
  const path = at.pathname.slice(base.pathname.length);
  if (navigates && (path === "" || path === "index.html")) return "page";
  return /^assets\/[\w.-]+$/.test(path) && at.search === "" ? "asset" : "";
}

/** The files that a page names. */
export function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="\.\/(assets\/[\w.-]+)"/g)].map((m) => m[1] ?? "");
}
