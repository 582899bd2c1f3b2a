/** A look inside a file that was made: pictures as they are, texts by their beginning. */
import { failure } from "$lib/api/client";

const PICTURES = new Set(["png", "jpg", "jpeg", "gif", "webp"]);
const TEXTS = new Set(["csv", "tsv", "txt", "md", "json", "jsonl", "py", "sql", "html", "ipynb", "log", "xml"]);
const FIRST_CHARS = 20_000;

const ending = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";

export const isPicture = (name: string): boolean => PICTURES.has(ending(name));
export const canPreview = (name: string): boolean => isPicture(name) || TEXTS.has(ending(name));

/** The first part is fetched; the rest is what the download is for. */
export async function previewText(url: string): Promise<string> {
  const response = await fetch(url, { credentials: "same-origin", headers: { Range: `bytes=0-${FIRST_CHARS * 3}` } });
  if (!response.ok) throw await failure(response);
  const text = new TextDecoder().decode(await response.arrayBuffer()).replace(/\uFFFD$/, "");
  return text.length > FIRST_CHARS ? `${text.slice(0, FIRST_CHARS)}\n…` : text;
}
