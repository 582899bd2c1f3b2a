/**
 * Makes the first paint need one answer only: the styles and the theme's script go into `index.html` (the server allows exactly these
 * by their hashes), and every text file gets its compressed copies at build time. Changes nothing in `npm run dev`.
 */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(html|js|css|svg)$/;
const SMALL = 1024;

function inline(html: string, name: string, css: string): string {
  if (/<\/style/i.test(css)) throw new Error(`${name} would close its own tag`);
  const link = new RegExp(`\\s*<link rel="stylesheet"[^>]*href="/${name}"[^>]*>`);
  if (!link.test(html)) throw new Error(`index.html does not link ${name}`);
  return html.replace(link, "").replace("</head>", () => `  <style>${css.trim()}</style>\n  </head>`);
}

/** Pieces fetched later must not ask for a sheet that is in the page already: the entry, which is loaded, stands in its place. */
function forget(bundle: Record<string, { type: string; code?: string; fileName: string; isEntry?: boolean }>, sheets: string[]): void {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const entry = chunks.find((chunk) => chunk.isEntry)?.fileName ?? "";
  for (const chunk of chunks) for (const sheet of sheets) chunk.code = chunk.code?.replaceAll(`"${sheet}"`, `"${entry}"`);
}

export function firstPaintPlugin(): Plugin {
  return {
    name: "ba-first-paint",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const page = bundle["index.html"];
        if (page?.type === "asset") {
          let html = String(page.source);
          const inlined: string[] = [];
          for (const [, name] of html.matchAll(/<link rel="stylesheet"[^>]*href="\/([^"]+)"/g)) {
            const sheet = name ? bundle[name] : undefined;
            if (!name || sheet?.type !== "asset") throw new Error(`no style sheet ${name}`);
            html = inline(html, name, String(sheet.source));
            delete bundle[name];
            inlined.push(name);
          }
          page.source = html;
          forget(bundle, inlined);
        }
        for (const [name, file] of Object.entries(bundle)) {
          const bytes = Buffer.from(file.type === "chunk" ? file.code : file.source);
          if (!TEXT.test(name) || bytes.length < SMALL) continue;
          this.emitFile({ type: "asset", fileName: `${name}.gz`, source: gzipSync(bytes, { level: 9 }) });
          const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
          this.emitFile({ type: "asset", fileName: `${name}.br`, source: brotliCompressSync(bytes, { params }) });
        }
      },
    },
  };
}
