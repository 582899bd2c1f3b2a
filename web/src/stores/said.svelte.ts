/** What the server says about files and calls, in the reader's language. The Chinese words are fetched when they are first wanted; until then the server's own stand. */
import type { Note, Said as Sentence, UploadedFile } from "$lib/api/types";
import { inItsOwnWords } from "$lib/services/notes";
import { prefs } from "./prefs.svelte";

type Words = typeof import("$lib/services/said-words");

class Said {
  #words = $state.raw<Words | null>(null);
  #asked = false;

  async load(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    try {
      this.#words = await import("$lib/services/said-words");
    } catch {
      this.#asked = false;
    }
  }

  #inChinese(): Words | null {
    if (prefs.lang !== "zh") return null;
    if (!this.#words) void this.load();
    return this.#words;
  }

  note(note: Note): string {
    return this.#inChinese()?.noteWords(note) ?? inItsOwnWords(note);
  }

  /** Why a file was not read; empty when nobody said. */
  unread(file: Pick<UploadedFile, "error" | "problem">): string {
    return (file.problem && this.#inChinese()?.problemWords(file.problem)) || (file.error ?? "");
  }

  /** What a call came to. */
  summary(step: { summary?: string; said?: Sentence }): string {
    return (step.said && this.#inChinese()?.summaryWords(step.said)) || (step.summary ?? "");
  }
}

export const said = new Said();
