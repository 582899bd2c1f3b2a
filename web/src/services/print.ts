/** Paper is light, and shows every turn: what is drawn lazily is drawn before the browser prints. */
import { flushSync } from "svelte";

/** Calls `prepare` before printing; `flushSync` has its changes in the document in time. */
export function beforePrint(prepare: () => void): () => void {
  const handler = () => flushSync(prepare);
  window.addEventListener("beforeprint", handler);
  return () => window.removeEventListener("beforeprint", handler);
}

/** The light theme while printing, the reader's own afterwards. */
export function printLight(): () => void {
  const root = document.documentElement;
  let before: string | undefined;
  const start = () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
  };
  const end = () => {
    if (before !== undefined) root.dataset.theme = before;
  };
  window.addEventListener("beforeprint", start);
  window.addEventListener("afterprint", end);
  return () => {
    window.removeEventListener("beforeprint", start);
    window.removeEventListener("afterprint", end);
  };
}
