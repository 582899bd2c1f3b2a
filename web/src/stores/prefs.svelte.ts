/** What this browser remembers: language, theme, folded panels. Nothing about the data. */
import type { Dictionary, Key } from "$lib/i18n/zh";

export type Language = "zh" | "en";
export type Theme = "light" | "dark";
type Choice<T> = T | "auto";

/** The words of a language come on their own: nobody reads both. */
const WORDS: Record<Language, () => Promise<Dictionary>> = {
  zh: () => import("$lib/i18n/zh").then((module) => module.zh),
  en: () => import("$lib/i18n/en").then((module) => module.en),
};

const STORE = "ba.prefs";

interface Saved {
  language?: Choice<Language>;
  theme?: Choice<Theme>;
  left?: boolean;
  right?: boolean;
  offlineTold?: boolean;
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
  /** Whether it was said that the offline analyst answers. */
  offlineTold = $state(false);
  #words = $state.raw<Partial<Record<Language, Dictionary>>>({});
  #systemDark = $state(media("(prefers-color-scheme: dark)")?.matches ?? false);
  #systemLanguage = $state<Language>(browserLanguage());

  constructor() {
    const saved = load();
    if (saved.language === "zh" || saved.language === "en") this.language = saved.language;
    if (saved.theme === "light" || saved.theme === "dark") this.theme = saved.theme;
    this.left = saved.left ?? true;
    this.right = saved.right ?? false;
    this.offlineTold = saved.offlineTold ?? false;
    media("(prefers-color-scheme: dark)")?.addEventListener("change", (event) => (this.#systemDark = event.matches));
    globalThis.addEventListener?.("languagechange", () => (this.#systemLanguage = browserLanguage()));
  }

  get lang(): Language {
    return this.language === "auto" ? this.#systemLanguage : this.language;
  }

  /** Fetches the words of the language in use; one that cannot be fetched leaves those that are there. */
  async learn(language: Language = this.lang): Promise<void> {
    if (this.#words[language]) return;
    const words = await WORDS[language]().catch(() => null);
    if (words) this.#words = { ...this.#words, [language]: words };
  }

  get words(): Partial<Dictionary> {
    return this.#words[this.lang] ?? this.#words.en ?? this.#words.zh ?? {};
  }

  /** BCP 47, for `lang` attributes and number formats. */
  get locale(): string {
    return this.lang === "zh" ? "zh-CN" : "en";
  }

  get effectiveTheme(): Theme {
    return this.theme === "auto" ? (this.#systemDark ? "dark" : "light") : this.theme;
  }

  tellOffline(): void {
    this.offlineTold = true;
    this.save();
  }

  save(): void {
    const { language, theme, left, right, offlineTold } = this;
    try {
      localStorage.setItem(STORE, JSON.stringify({ language, theme, left, right, offlineTold }));
    } catch {
      // Private mode: the choice lasts as long as the page.
    }
  }
}

export const prefs = new Prefs();

/** The text for a key in the reader's language, with `{name}` filled in. Reactive when read in a component. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  const text = prefs.words[key] ?? key;
  // `{count|row|rows}`: English says one and many apart.
  return text.replace(/\{(\w+)(?:\|(\w+)\|(\w+))?\}/g, (mark, name: string, one?: string, many?: string) => (one && many ? (String(values[name]) === "1" ? one : many) : String(values[name] ?? mark)));
}
