/**
 * Pictures of this conversation inside model-made HTML: the frame has no network, so the page puts them in as data.
 * Only names that exist here, only raster images, only up to a size.
 */
import { urls } from "$lib/api/client";
import { localFile, type LinkScope } from "./sanitize";

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
const MAX_BYTES = 5_000_000;

async function asData(name: string, conversation: string): Promise<string | null> {
  const response = await fetch(urls.download(name, conversation), { credentials: "same-origin" });
  const blob = await response.blob();
  if (!response.ok || blob.size > MAX_BYTES || !/^image\/(?:png|jpeg|gif|webp)$/.test(blob.type)) return null;
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(blob);
  });
}

export async function inlineImages(html: string, scope: LinkScope): Promise<string> {
  const wanted = new Map<string, string>();
  for (const [, source = ""] of html.matchAll(/<img\b[^>]*?\ssrc\s*=\s*["']([^"']+)["']/gi)) {
    const name = localFile(source, scope);
    if (name && IMAGE.test(name)) wanted.set(source, name);
  }
  let result = html;
  for (const [source, name] of wanted) {
    const data = await asData(name, scope.conversation).catch(() => null);
    if (data) result = result.replaceAll(`"${source}"`, `"${data}"`).replaceAll(`'${source}'`, `'${data}'`);
  }
  return result;
}
