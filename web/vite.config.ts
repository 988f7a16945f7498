import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

const tests = readdirSync(`${import.meta.dirname}/src`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `src/${name}`);
/** Whether a file puts other modules or globals in place of its modules' own, which the next file of the process would get. */
const alone = (name: string) => /\bvi\.(mock|doMock|resetModules|stubGlobal)\(/.test(readFileSync(`${import.meta.dirname}/${name}`, "utf8"));

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
  test: {
    environment: "node",
    // A process for each file is most of the time: only files that need one have it.
    projects: [
      { extends: true, test: { name: "alone", include: tests.filter(alone) } },
      { extends: true, test: { name: "together", include: tests.filter((name) => !alone(name)), isolate: false } },
    ],
  },
} as Parameters<typeof defineConfig>[0]);
