/** Questions being written, one per conversation: they survive a reload, another conversation and an expired sign-in. */

const PREFIX = "draft:";
const MAX_CHARS = 50_000;
const key = (conversation: string | null) => `${PREFIX}${conversation ?? "new"}`;

export function loadDraft(conversation: string | null): string {
  try {
    return localStorage.getItem(key(conversation)) ?? "";
  } catch {
    return "";
  }
}

export function saveDraft(conversation: string | null, text: string): void {
  try {
    if (text.trim()) localStorage.setItem(key(conversation), text.slice(0, MAX_CHARS));
    else localStorage.removeItem(key(conversation));
  } catch {
    // Full or forbidden: the draft lives as long as the page.
  }
}
