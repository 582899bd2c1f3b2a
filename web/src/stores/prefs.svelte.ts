/** What this browser remembers: language, theme, folded panels. Nothing about the data. */
import { en } from "$lib/i18n/en";
import { zh, type Key } from "$lib/i18n/zh";

export type Language = "zh" | "en";
export type Theme = "light" | "dark";
type Choice<T> = T | "auto";

const STORE = "ba.prefs";

interface Saved {
  language?: Choice<Language>;
  theme?: Choice<Theme>;
  left?: boolean;
  right?: boolean;
}

function load(): Saved {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "{}") as Saved;
  } catch {
    return {};
  }
}

const media = (query: string) => (typeof matchMedia === "function" ? matchMedia(query) : null);
const browserLanguage = (): Language => ((navigator.languages?.[0] ?? navigator.language ?? "en").toLowerCase().startsWith("zh") ? "zh" : "en");

class Prefs {
  language = $state<Choice<Language>>("auto");
  theme = $state<Choice<Theme>>("auto");
  left = $state(true);
  right = $state(false);
  #systemDark = $state(media("(prefers-color-scheme: dark)")?.matches ?? false);
  #systemLanguage = $state<Language>(browserLanguage());

  constructor() {
    const saved = load();
    if (saved.language === "zh" || saved.language === "en") this.language = saved.language;
    if (saved.theme === "light" || saved.theme === "dark") this.theme = saved.theme;
    this.left = saved.left ?? true;
    this.right = saved.right ?? false;
    media("(prefers-color-scheme: dark)")?.addEventListener("change", (event) => (this.#systemDark = event.matches));
    globalThis.addEventListener?.("languagechange", () => (this.#systemLanguage = browserLanguage()));
  }

  get lang(): Language {
    return this.language === "auto" ? this.#systemLanguage : this.language;
  }

  /** BCP 47, for `lang` attributes and number formats. */
  get locale(): string {
    return this.lang === "zh" ? "zh-CN" : "en";
  }

  get effectiveTheme(): Theme {
    return this.theme === "auto" ? (this.#systemDark ? "dark" : "light") : this.theme;
  }

  save(): void {
    const { language, theme, left, right } = this;
    try {
      localStorage.setItem(STORE, JSON.stringify({ language, theme, left, right }));
    } catch {
      // Private mode: the choice lasts as long as the page.
    }
  }
}

export const prefs = new Prefs();

/** The text for a key in the reader's language, with `{name}` filled in. Reactive when read in a component. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  const text = (prefs.lang === "zh" ? zh : en)[key];
  return text.replace(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark));
}
