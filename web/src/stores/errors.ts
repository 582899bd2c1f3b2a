/** An error, in the reader's words and with what to do next. The server's own message is a detail, not the headline. */
import { ApiError } from "$lib/api/client";
import type { ApiErrorBody } from "$lib/api/types";
import type { Key } from "$lib/i18n/zh";
import { prefs, t } from "./prefs.svelte";

const known = (key: string): Key | null => (key in prefs.words ? (key as Key) : null);

/** The server's stable code in the reader's words, where there are some. */
export function explainCode(code: string, message: string): string {
  const key = known(`fault.${code}`);
  return key ? t(key) : message;
}

export function explainStop(reason: string): string {
  const key = known(`stop.${reason}`);
  return key ? t(key) : reason;
}

export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return t("error.generic", { message: error instanceof Error ? error.message : String(error) });
  const words = explainCode(error.code, "");
  if (words) return words;
  if (error.status === 0) return t("error.network");
  if (error.status === 401) return t("error.auth");
  // What a proxy in between answered has no code of ours.
  if (error.status === 413) return t("fault.too_large");
  if (error.status === 429 || error.status === 503) return t("fault.rate_limited");
  if (error.status === 400 || error.status === 422) return t("error.invalid", { message: error.message || error.code });
  if (error.status >= 500) return t("fault.internal");
  return t("error.generic", { message: error.message || error.code });
}

export const asBody = (error: unknown): ApiErrorBody => ({ code: error instanceof ApiError ? error.code : "internal", message: explain(error) });
