import { defineConfig } from "vite";

// The page lies anywhere: its addresses are relative, so it works under a path prefix.
export default defineConfig({
  base: "./",
  publicDir: "public",
  build: {
    outDir: "dist/page",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    modulePreload: { polyfill: false },
    // A data: address in a style would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
