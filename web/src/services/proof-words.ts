/** Where a figure comes from, in words (SPEC V). Pure. */
import type { Audit, Figure } from "$lib/api/types";
import type { ToolStep } from "./turn";

type Word = "line" | "comma" | "proven" | "derived" | "given" | "unproven" | "mismatch" | "row" | "lineOf" | "user" | "business" | "earlier" | `state.${Figure["state"]}`;
type Say = (key: `proof.${Word}`, values?: Record<string, string | number>) => string;

/** Lines of SQL or code shown with a proof. */
const MAX_CODE = 1200;

export interface ProofWords {
  state: string;
  /** Place of the value, or the formula and its operands. */
  lines: string[];
  /** The SQL or code of the call. */
  code: string;
}

/** `41 figures: 38 from results, 3 computed, 0 unproven`; empty without figures. */
export function auditLine(audit: Audit, say: Say): string {
  if (audit.figures.length === 0) return "";
  const parts = [
    say("proof.proven", { count: audit.proven }), say("proof.derived", { count: audit.derived }),
    ...(audit.given ? [say("proof.given", { count: audit.given })] : []),
    say("proof.unproven", { count: audit.unproven }),
    ...(audit.mismatch ? [say("proof.mismatch", { count: audit.mismatch })] : []),
  ];
  return say("proof.line", { count: audit.figures.length, parts: parts.join(say("proof.comma")) });
}

const codeOf = (step: ToolStep | undefined): string => {
  const text = [step?.args.query, step?.args.code, step?.args.path].find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, MAX_CODE) : "";
};

export function proofWords(figure: Figure, steps: ToolStep[], say: Say): ProofWords {
  const state = say(`proof.state.${figure.state}`);
  const proof = figure.proof;
  if (!proof) return { state, lines: [], code: "" };
  const named = (id: string) => {
    if (id === "user") return say("proof.user");
    if (id === "business") return say("proof.business");
    if (id.startsWith("earlier:")) return say("proof.earlier");
    const name = steps.find((step) => step.id === id)?.name;
    return name ? `${name} (${id})` : id;
  };
  const place = (id: string, row: number | null | undefined, column: string | undefined, value?: number | null) =>
    [named(id), row === null || row === undefined ? "" : say("proof.row", { row: row + 1 }), column ?? "", value === null || value === undefined ? "" : `= ${value}`].filter(Boolean).join(" · ");
  if ("formula" in proof) {
    const lines = [proof.formula, ...proof.operands.map((operand) => place(operand.tool_call_id, operand.row, operand.column, operand.value))];
    return { state, lines, code: codeOf(steps.find((step) => step.id === proof.operands[0]?.tool_call_id)) };
  }
  const code = codeOf(steps.find((step) => step.id === proof.tool_call_id));
  if ("line" in proof) return { state, lines: [`${named(proof.tool_call_id)} · ${say("proof.lineOf", { line: proof.line + 1 })}`], code };
  return { state, lines: [place(proof.tool_call_id, proof.row, proof.column)], code };
}
