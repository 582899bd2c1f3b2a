/** An error, in the reader's words and with what to do next. The server's own message is a detail, not the headline. */
import { ApiError } from "$lib/api/client";
import type { ApiErrorBody } from "$lib/api/types";
import { t } from "$lib/stores/prefs.svelte";

export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return t("error.generic", { message: error instanceof Error ? error.message : String(error) });
  if (error.status === 0) return t("error.network");
  if (error.status === 401) return t("error.auth");
  if (error.status === 413) return t("error.tooLarge");
  if (error.status === 415) return t("error.unsupported");
  if (error.status === 429 || error.status === 503) return t("error.busy");
  if (error.status === 400 || error.status === 422) return t("error.invalid", { message: error.message || error.code });
  if (error.status >= 500) return t("error.server");
  return t("error.generic", { message: error.message || error.code });
}

export const asBody = (error: unknown): ApiErrorBody =>
  error instanceof ApiError ? { code: error.code, message: explain(error) } : { code: "internal", message: explain(error) };
