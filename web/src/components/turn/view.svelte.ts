/** How an answer is drawn (Markdown, tables, proofs) comes in a piece of its own: the first page of a visit shows none. */
import type { Component } from "svelte";
import type { Turn } from "$lib/services/turn";

export type TurnViewComponent = Component<{ turn: Turn; onpick: (question: string) => void }>;

const AGAIN_MS = 2000;
let component = $state.raw<TurnViewComponent | null>(null);
let asked = false;

/** Fetches it once; a lost connection is tried again. */
export function loadTurnView(): void {
  if (asked) return;
  asked = true;
  import("./TurnView.svelte").then(
    (loaded) => (component = loaded.default),
    () => setTimeout(() => ((asked = false), loadTurnView()), AGAIN_MS),
  );
}

export const turnView = (): TurnViewComponent | null => component;
