/** Addresses that nobody gave and tools that change something elsewhere: what waits for a person's consent, and what they said no to in this browser. */
import type { ToolStep } from "./turn";

const NOT_GIVEN = "ADDRESS_NOT_GIVEN";
const CONSENT_NEEDED = "CONSENT_NEEDED";
export const asksConsent = (step: ToolStep): boolean => step.errorCode === NOT_GIVEN || step.errorCode === CONSENT_NEEDED;
const STORE = "ba.refused";
const MOST = 200;

export interface Wanted {
  /** The address, or the tool's name. */
  what: string;
  /** What the server's list of consents calls it, and what covers it. */
  known: string[];
  body: { address: string } | { tool: string };
  /** All of an address's host can be allowed at once. */
  host?: string;
}

/** What waits for consent, each address once. Whatever is no web address is not asked about. */
export function waiting(steps: ToolStep[]): Wanted[] {
  const found = new Map<string, Wanted>();
  for (const step of steps) {
    if (step.errorCode === CONSENT_NEEDED) found.set(step.name, { what: step.name, known: [`tool:${step.name}`], body: { tool: step.name } });
    if (step.errorCode !== NOT_GIVEN || typeof step.args.url !== "string") continue;
    try {
      const url = new URL(step.args.url);
      if (url.protocol === "http:" || url.protocol === "https:") found.set(url.href, { what: url.href, known: [url.href, url.hostname], body: { address: url.href }, host: url.hostname });
    } catch {
      // Nothing to allow.
    }
  }
  return [...found.values()];
}

type Refusals = Record<string, string[]>;

function load(): Refusals {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "{}") as Refusals;
  } catch {
    return {};
  }
}

export const refused = (conversation: string): string[] => load()[conversation] ?? [];

export function refuse(conversation: string, address: string): string[] {
  const list = [...refused(conversation), address];
  const others = Object.entries(load()).filter(([id]) => id !== conversation).slice(-MOST);
  try {
    localStorage.setItem(STORE, JSON.stringify(Object.fromEntries([...others, [conversation, list.slice(-MOST)]])));
  } catch {
    // Private mode: the answer lasts as long as the page.
  }
  return list;
}
