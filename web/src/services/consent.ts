/** Addresses that a tool was refused because nobody gave them, and those a person has said no to in this browser. */
import type { ToolStep } from "./turn";

const NOT_GIVEN = "ADDRESS_NOT_GIVEN";
const STORE = "ba.refused";
const MOST = 200;

export interface Wanted {
  address: string;
  host: string;
}

/** What waits for consent, each address once. Whatever is no web address is not asked about. */
export function waiting(steps: ToolStep[]): Wanted[] {
  const found = new Map<string, Wanted>();
  for (const step of steps) {
    if (step.errorCode !== NOT_GIVEN || typeof step.args.url !== "string") continue;
    try {
      const url = new URL(step.args.url);
      if (url.protocol === "http:" || url.protocol === "https:") found.set(url.href, { address: url.href, host: url.hostname });
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
