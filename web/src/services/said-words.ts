/** What the server says by code, in Chinese: notes on tables, why a file was not read, what a call came to. Never makes markup, never reads a sentence. */
import type { Note, Said } from "$lib/api/types";
import { NOTES_ZH, PROBLEMS_ZH, STEPS_ZH, SUMMARIES_ZH } from "$lib/i18n/said";

type Values = Record<string, unknown>;
type Forms = Record<string, string[]>;

/** `null` where a code is not known, or a value that its words need is not there. */
export function noteWords(note: Note): string | null {
  const values: Values = { ...note.values, ...(note.column ? { column: note.column } : {}) };
  const found = formed(NOTES_ZH, note.code, values);
  if (!found) return null;
  // A form says itself where its columns go; a name may also be a word of the form (`日期`, `单位`).
  const about = /\{columns?\}/.test(found.form) ? "" : note.column || shown(values.columns);
  return about ? `${about}：${found.words}` : found.words;
}

/** Why, and what to do about it. */
export function problemWords(problem: Said): string | null {
  const why = formed(PROBLEMS_ZH, problem.code, problem.values ?? {})?.words;
  const step = own(STEPS_ZH, problem.step ?? "");
  return why ? [why, step].filter(Boolean).join("；") : null;
}

export const summaryWords = (summary: Said): string | null => formed(SUMMARIES_ZH, summary.code, summary.values ?? {})?.words ?? null;

const own = <T>(dictionary: Record<string, T>, key: string): T | undefined => (Object.hasOwn(dictionary, key) ? dictionary[key] : undefined);

function formed(dictionary: Forms, code: string, values: Values): { form: string; words: string } | null {
  const special = typeof values.case === "string" ? own(dictionary, `${code}.${values.case}`) : undefined;
  for (const form of [...(special ?? []), ...(own(dictionary, code) ?? [])]) {
    const words = filled(form, values);
    if (words !== null) return { form, words };
  }
  return null;
}

/** The form with its values in place; `null` when one is missing. */
function filled(form: string, values: Values): string | null {
  let whole = true;
  const words = form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = shown(values[name]);
    whole &&= value !== "";
    return value;
  });
  return whole ? words : null;
}

const MANY = 8;
/** Years and line numbers stay as they are. */
const GROUPED_FROM = 10_000;

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.slice(0, MANY).map(shown).join("、") + (value.length > MANY ? " 等" : "");
  if (typeof value === "object" && value !== null) return isSentence(value) ? sentence(value) : shown(Object.entries(value).map(([name, words]) => `${name} = ${shown(words)}`));
  if (typeof value === "number" && Math.abs(value) >= GROUPED_FROM) return value.toLocaleString("zh-CN");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

type Sentence = { code: string; text: string; values?: Values };
const isSentence = (value: object): value is Sentence => "code" in value && "text" in value && typeof value.code === "string" && typeof value.text === "string";

/** A reason inside a reason: a note on what was left out, or why it was. */
const sentence = ({ code, text, values = {} }: Sentence): string => (formed(PROBLEMS_ZH, code, values) ?? formed(NOTES_ZH, code, values))?.words ?? text;
