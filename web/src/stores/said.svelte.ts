/** What the server says about data, in the reader's language. The Chinese forms are fetched when they are first wanted; until then its own words stand. */
import type { Note } from "$lib/api/types";
import { inItsOwnWords } from "$lib/services/notes";
import { prefs } from "./prefs.svelte";

type Forms = Pick<typeof import("$lib/services/note-words"), "noteWords"> & Pick<typeof import("$lib/services/server-words"), "serverWords">;

class Said {
  #forms = $state.raw<Forms | null>(null);
  #asked = false;

  async load(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    try {
      const [{ noteWords }, { serverWords }] = await Promise.all([import("$lib/services/note-words"), import("$lib/services/server-words")]);
      this.#forms = { noteWords, serverWords };
    } catch {
      this.#asked = false;
    }
  }

  #inChinese(): Forms | null {
    if (prefs.lang !== "zh") return null;
    if (!this.#forms) void this.load();
    return this.#forms;
  }

  text(text: string): string {
    return this.#inChinese()?.serverWords(text, "zh") ?? text;
  }

  note(note: Note): string {
    return this.#inChinese()?.noteWords(note, "zh") ?? inItsOwnWords(note);
  }
}

export const said = new Said();
