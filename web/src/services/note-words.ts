/** A note on a table in the reader's language: by its code where that is known, else as the server said it. Never makes markup. */
import type { Note } from "$lib/api/types";
import { NOTES_ZH } from "$lib/i18n/notes";
import { serverWords } from "./server-words";

export function noteWords(note: Note, language: "zh" | "en"): string {
  const known = language === "zh" ? inChinese(note) : null;
  if (known !== null) return known;
  const said = serverWords(note.text, language);
  const column = note.column ?? "";
  return !column || said.includes(column) ? said : language === "zh" ? `${column}：${said}` : `${column}: ${said}`;
}

function inChinese(note: Note): string | null {
  const values: Record<string, unknown> = { ...note.values, ...(note.column ? { column: note.column } : {}) };
  const special = [values.formats, values.delimiter].flatMap((value) => (typeof value === "string" ? [`${note.code}.${value}`] : []));
  const forms = [...special, note.code].flatMap((key) => (Object.hasOwn(NOTES_ZH, key) ? NOTES_ZH[key]! : []));
  for (const form of forms) {
    const words = typeof form === "string" ? filled(form, values) : matched(note.text, form, values);
    if (words === null) continue;
    // A form says itself where its columns go; a name may also be a word of the form (`日期`, `单位`).
    const about = /\{columns?\}/.test(typeof form === "string" ? form : form[1]) ? "" : note.column || shown(values.columns);
    return about ? `${about}：${words}` : words;
  }
  return null;
}

/** A form for one of the sentences of a code; what its pattern names in the sentence is put in as well. */
function matched(text: string, [said, form]: [RegExp, string], values: Record<string, unknown>): string | null {
  const found = said.exec(text);
  if (!found) return null;
  const named = Object.entries(found.groups ?? {}).map(([name, value]) => [name, serverWords(value, "zh")]);
  return filled(form, { ...values, ...Object.fromEntries(named) });
}

/** The form with its values in place; `null` when one is missing. */
function filled(form: string, values: Record<string, unknown>): string | null {
  let whole = true;
  const words = form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = shown(values[name]);
    whole &&= value !== "";
    return value;
  });
  return whole ? words : null;
}

const MANY = 8;

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.slice(0, MANY).map(shown).join("、") + (value.length > MANY ? " 等" : "");
  if (typeof value === "object" && value !== null) return shown(Object.entries(value).map(([name, words]) => `${name} = ${shown(words)}`));
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

export { byLevel } from "./notes";
