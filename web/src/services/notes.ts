/** Small readings of what the server says about data that need no dictionary. */
import type { Note } from "$lib/api/types";

/** Doubts first, each part in its own order. */
export const byLevel = (notes: Note[] = []): { doubts: Note[]; steps: Note[] } => ({
  doubts: notes.filter((note) => note.level === "warn"),
  steps: notes.filter((note) => note.level !== "warn"),
});

/** The result a tool gave the model, without the tag that keeps it apart in the prompt. */
export const withoutTag = (observation: string): string => observation.replace(/^<tool_result\b[^>\n]*>\n?/, "").replace(/\n?<\/tool_result>\s*$/, "");

/** As the server said it, with the column it is about. */
export const inItsOwnWords = (note: Note): string => (!note.column || note.text.includes(note.column) ? note.text : `${note.column}: ${note.text}`);
