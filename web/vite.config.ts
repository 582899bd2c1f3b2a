/** Builds the page (index.html) and the sandboxed frame document (frame.html) into dist/. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { firstPaintPlugin } from "./scripts/first-paint-plugin.ts";
import { framePlugin } from "./scripts/frame-plugin.ts";

/** Every browser that runs this page reads woff2; KaTeX's older font formats would only swell the binary. */
const onlyWoff2 = {
  name: "ba-only-woff2",
  enforce: "pre" as const,
  transform: (code: string, id: string) =>
    id.endsWith("katex.min.css") ? code.replace(/,url\([^)]+\.(?:woff|ttf)\) format\("[a-z]+"\)/g, "") : undefined,
};

/** What every visit loads comes as one file: modules that later parts use as well would each be one of their own. */
const base = (id: string) => (/\/node_modules\/svelte\/|\/src\/(?:api|stores)\/|\/src\/components\/ui\/(?:Icon|CopyButton)\.svelte|\/src\/services\/(?:save|format|storage)\.ts/.test(id) ? "base" : undefined);

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(({ mode }) => ({
  plugins: [onlyWoff2, svelte(), framePlugin(here("./src/frame/bootstrap.ts"), here("./src/frame/worker/main.ts")), firstPaintPlugin()],
  resolve: {
    alias: { $lib: here("./src") },
    conditions: mode === "test" ? ["browser"] : undefined,
  },
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1200, modulePreload: { polyfill: false }, rollupOptions: { output: { manualChunks: base } } },
  server: { proxy: { "/api": "http://127.0.0.1:8000" } },
  test: { environment: "jsdom", include: ["tests/unit/**/*.test.ts"], setupFiles: ["tests/unit/setup.ts"], testTimeout: 30_000 },
}));
