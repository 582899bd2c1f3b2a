/** Syntax colours for the languages of SPEC C2, loaded on first use. Falls back to plain, escaped text. */
import { escapeHtml } from "./markdown";

const ALIASES: Record<string, string> = {
  py: "python", js: "javascript", ts: "typescript", html: "xml", shell: "bash", sh: "bash", md: "markdown", yml: "yaml", rs: "rust", rb: "ruby", "c++": "cpp",
};
/** Colouring is for reading; past this size it only costs. */
const LIMIT = 60_000;

export async function highlight(code: string, language: string): Promise<string> {
  if (code.length > LIMIT) return escapeHtml(code);
  const { default: hljs } = await import("./highlight-languages");
  const name = ALIASES[language.toLowerCase()] ?? language.toLowerCase();
  return hljs.getLanguage(name) ? hljs.highlight(code, { language: name, ignoreIllegals: true }).value : escapeHtml(code);
}
