/** Share links over the wire: make, list, revoke. Loaded with the dialog. */
import { failure } from "$lib/api/client";
import type { components } from "$lib/api/schema";

export type Share = components["schemas"]["ShareInfo"];
export type MadeShare = components["schemas"]["MadeShare"];

async function call<T>(path: string, method: string, body?: unknown): Promise<T> {
  const headers = body === undefined ? undefined : { "Content-Type": "application/json" };
  const response = await fetch(`/api/v1${path}`, { method, headers, credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw await failure(response);
  return ((await response.json()) as { data: T }).data;
}

export const shares = {
  list: async (conversation: string) => (await call<{ shares: Share[] }>(`/shares?conversation_id=${encodeURIComponent(conversation)}`, "GET")).shares,
  make: (conversation: string, wanted: { run_id: string; days: number; sources: boolean; lang: string }) =>
    call<MadeShare>(`/conversations/${encodeURIComponent(conversation)}/shares`, "POST", wanted),
  revoke: (id: string) => call<unknown>(`/shares/${encodeURIComponent(id)}`, "DELETE"),
};
