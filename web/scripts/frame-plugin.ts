/**
 * Emits `frame.html`: the document model-made HTML runs in. Its only script is inlined, because the frame's
 * policy allows no URL at all. Never part of the page's own bundle.
 */
import { build, type Plugin } from "vite";

async function bundle(entry: string, define: Record<string, string> = {}): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    publicDir: false,
    define,
    build: { write: false, target: "es2020", lib: { entry, formats: ["iife"], name: "frame" } },
  });
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !("output" in first)) throw new Error("the frame did not build");
  const code = first.output[0].code;
  if (/<\/script/i.test(code)) throw new Error("the frame's script would close its own tag");
  return code;
}

/** The frame's script carries that of its worker as text: neither has an address to load from. */
const frameScript = async (entry: string, worker: string) => bundle(entry, { WORKER_SOURCE: JSON.stringify(await bundle(worker)) });

const document = (code: string) =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>BA-Agent frame</title></head>\n` +
  `<body><script>${code}</script></body>\n</html>\n`;

export function framePlugin(entry: string, worker: string): Plugin {
  return {
    name: "ba-frame",
    async generateBundle() {
      this.addWatchFile(entry);
      this.addWatchFile(worker);
      this.emitFile({ type: "asset", fileName: "frame.html", source: document(await frameScript(entry, worker)) });
    },
    configureServer(server) {
      server.middlewares.use("/frame", (_request, response, next) => {
        frameScript(entry, worker).then((code) => response.setHeader("Content-Type", "text/html").end(document(code)), next);
      });
    },
  };
}
