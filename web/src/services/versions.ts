/** Versions of a turn: a question asked again or edited. One of them is shown and counts; the others are a step away. Pure. */
import type { Turn } from "./turn";

const groupOf = (turn: Turn): string => turn.turnId ?? turn.runId ?? turn.key;

export const versionsOf = (all: Turn[], turn: Turn): Turn[] => all.filter((other) => groupOf(other) === groupOf(turn));

/** One of each turn, in the place of its first version. */
export function shownTurns(all: Turn[]): Turn[] {
  const groups = new Map<string, Turn[]>();
  for (const turn of all) groups.set(groupOf(turn), [...(groups.get(groupOf(turn)) ?? []), turn]);
  return [...groups.values()].flatMap((versions) => versions.filter((version) => version.chosen).at(-1) ?? versions.at(-1) ?? []);
}

/** This version counts, the others of its turn do not. */
export function choose(all: Turn[], chosen: Turn): Turn[] {
  const group = groupOf(chosen);
  return all.map((turn) => (groupOf(turn) === group && turn.chosen !== (turn.key === chosen.key) ? { ...turn, chosen: turn.key === chosen.key } : turn));
}
