/**
 * Emits `frame.html`: the document model-made HTML runs in. Its only script is inlined, because the frame's
 * policy allows no URL at all. Never part of the page's own bundle.
 */
import { build, type Plugin } from "vite";

async function bundle(entry: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    publicDir: false,
    build: { write: false, target: "es2020", lib: { entry, formats: ["iife"], name: "frame" } },
  });
  const first = Array.isArray(result) ? result[0] : result;
  if (!first || !("output" in first)) throw new Error("the frame did not build");
  const code = first.output[0].code;
  if (/<\/script/i.test(code)) throw new Error("the frame's script would close its own tag");
  return code;
}

const document = (code: string) =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>BA-Agent frame</title></head>\n` +
  `<body><script>${code}</script></body>\n</html>\n`;

export function framePlugin(entry: string): Plugin {
  return {
    name: "ba-frame",
    async generateBundle() {
      this.addWatchFile(entry);
      this.emitFile({ type: "asset", fileName: "frame.html", source: document(await bundle(entry)) });
    },
    configureServer(server) {
      server.middlewares.use("/frame", (_request, response, next) => {
        bundle(entry).then((code) => response.setHeader("Content-Type", "text/html").end(document(code)), next);
      });
    },
  };
}
