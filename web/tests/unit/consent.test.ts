/** What waits for a person (SPEC H7): addresses that nobody gave, tools that change something elsewhere, each once. */
import { beforeEach, expect, it } from "vitest";
import { refuse, refused, waiting } from "../../src/services/consent";
import type { ToolStep } from "../../src/services/turn";

const step = (errorCode: string, name: string, args: Record<string, unknown> = {}): ToolStep => ({ id: "c", name, args, round: 1, state: "error", startedAt: 0, errorCode });
beforeEach(() => localStorage.clear());

it("lists addresses and tools once, and nothing that is no address", () => {
  const steps = [
    step("ADDRESS_NOT_GIVEN", "web_reader", { url: "https://a.test/x" }), step("ADDRESS_NOT_GIVEN", "web_reader", { url: "https://a.test/x" }),
    step("ADDRESS_NOT_GIVEN", "web_reader", { url: "javascript:alert(1)" }), step("ADDRESS_NOT_GIVEN", "web_reader", { url: 5 }), step("ADDRESS_HOLDS_DATA", "web_reader", { url: "https://b.test/" }),
    step("CONSENT_NEEDED", "crm.create_ticket"),
  ];
  expect(waiting(steps)).toEqual([
    { what: "https://a.test/x", known: ["https://a.test/x", "a.test"], body: { address: "https://a.test/x" }, host: "a.test" },
    { what: "crm.create_ticket", known: ["tool:crm.create_ticket"], body: { tool: "crm.create_ticket" } },
  ]);
});

it("remembers refusals of each conversation", () => {
  refuse("c1", "https://a.test/");
  expect([refused("c1"), refused("c2")]).toEqual([["https://a.test/"], []]);
});
