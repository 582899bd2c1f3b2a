/**
 * A model's turn while it is still being written: the JSON of SPEC P arrives in pieces, and what can be read of it is shown. Lenient by
 * design; the server's own parser has the last word when the turn is complete.
 */

export interface Partial {
  analysis: string;
  plan: string;
  /** The report so far; empty while the turn calls tools. */
  report: string;
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
const MAX_DEPTH = 60;

/** Reads JSON that may stop anywhere; what is not there yet is simply missing. */
class Reader {
  #text: string;
  #at: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  #space(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  value(depth = 0): unknown {
    this.#space();
    const char = this.#text[this.#at];
    if (char === undefined) return undefined;
    if (depth > MAX_DEPTH) {
      // Nothing a turn needs lies this deep: stop reading altogether.
      this.#at = this.#text.length;
      return undefined;
    }
    if (char === '"') return this.#string();
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#array(depth);
    const literal = /^[^\s,}\]]+/.exec(this.#text.slice(this.#at, this.#at + 40))?.[0] ?? "";
    this.#at += Math.max(1, literal.length);
    return literal;
  }

  #string(): string {
    let result = "";
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at];
      if (char === '"') {
        this.#at += 1;
        return result;
      }
      result += char === "\\" ? this.#escape() : char;
    }
    return result;
  }

  /** An escape that is cut off is not shown in halves. */
  #escape(): string {
    const next = this.#text[this.#at + 1];
    if (next === undefined) return "";
    this.#at += 1;
    if (next !== "u") return ESCAPES[next] ?? next;
    const code = this.#text.slice(this.#at + 1, this.#at + 5);
    if (!/^[0-9a-f]{4}$/i.test(code)) return "";
    this.#at += 4;
    return String.fromCharCode(parseInt(code, 16));
  }

  #object(depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    this.#at += 1;
    for (;;) {
      this.#space();
      const char = this.#text[this.#at];
      if (char === undefined) return result;
      if (char === "}") return (this.#at += 1), result;
      if (char !== '"') {
        this.#at += 1;
        continue;
      }
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ":") continue;
      this.#at += 1;
      result[key] = this.value(depth + 1);
    }
  }

  #array(depth: number): unknown[] {
    const result: unknown[] = [];
    this.#at += 1;
    for (;;) {
      this.#space();
      const char = this.#text[this.#at];
      if (char === undefined) return result;
      if (char === "]") return (this.#at += 1), result;
      if (char === ",") this.#at += 1;
      else result.push(this.value(depth + 1));
    }
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export function readPartial(raw: string): Partial {
  const start = raw.search(/\{\s*(?:"|$)/);
  const looksLikeJson = start >= 0 || /^\s*(?:```\w*\s*)?$/.test(raw);
  // Plain text without an object is itself the answer (SPEC P11).
  if (!looksLikeJson) return { analysis: "", plan: "", report: raw };
  if (start < 0) return { analysis: "", plan: "", report: "" };
  const turn = new Reader(raw, start).value() as Record<string, unknown>;
  const action = (typeof turn.action === "object" && turn.action !== null ? turn.action : {}) as Record<string, unknown>;
  return { analysis: text(turn.task_analysis), plan: text(turn.execution_plan), report: action.type === "tool_call" ? "" : text(action.content) };
}
