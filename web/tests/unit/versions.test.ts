/** Versions of a turn as the page groups them. */
import { expect, it } from "vitest";
import { newTurn, type Turn } from "../../src/services/turn";
import { choose, shownTurns, versionsOf } from "../../src/services/versions";

const turn = (runId: string, turnId = runId, chosen = true): Turn => ({ ...newTurn(runId), runId, turnId, chosen });

it("shows one version of each turn, in the place of the first", () => {
  const all = [turn("a", "a", false), turn("b"), turn("a2", "a")];
  expect(shownTurns(all).map((shown) => shown.runId)).toEqual(["a2", "b"]);
  expect(versionsOf(all, all[2]!).map((version) => version.runId)).toEqual(["a", "a2"]);
});

it("lets another version count, and leaves other turns as they are", () => {
  const all = [turn("a", "a", false), turn("b"), turn("a2", "a")];
  const chosen = choose(all, all[0]!);
  expect(shownTurns(chosen).map((shown) => shown.runId)).toEqual(["a", "b"]);
  expect(chosen[1]).toBe(all[1]);
});
