/** Where a figure comes from, in words (SPEC V). Pure. */
import type { Audit, Figure } from "$lib/api/types";
import { cellText } from "./table";
import type { ToolStep } from "./turn";

type Word = "line" | "comma" | "proven" | "derived" | "given" | "unproven" | "mismatch" | "row" | "lineOf" | "user" | "business" | "earlier" | "more" | `state.${Figure["state"]}`;
type Say = (key: `proof.${Word}`, values?: Record<string, string | number>) => string;
type Row = NonNullable<Audit["rows"]>[number];

/** Characters of SQL or code shown with a proof. */
const MAX_CODE = 1200;
const MAX_PLACES = 12;

/** One place of a result: the call, and the row as far as it was kept. */
export interface ProofPlace {
  where: string;
  /** The column of the row that holds the figure. */
  column: string;
  cells: Row["cells"];
  /** A line of printed output. */
  line: string;
}

export interface ProofWords {
  state: string;
  formula: string;
  places: ProofPlace[];
  /** Places that are not listed. */
  more: string;
  /** The SQL or code of each call. */
  codes: string[];
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

interface Known {
  rows: Row[];
  calls: NonNullable<Audit["calls"]>;
  steps: ToolStep[];
}

function codeOf(id: string, known: Known): string {
  const step = known.steps.find((one) => one.id === id);
  const text = [known.calls.find((call) => call.tool_call_id === id)?.code, step?.args.query, step?.args.code, step?.args.path].find((value) => typeof value === "string" && value !== "");
  return typeof text === "string" ? text.slice(0, MAX_CODE) : "";
}

function named(id: string, known: Known, say: Say): string {
  if (id === "user") return say("proof.user");
  if (id === "business") return say("proof.business");
  const name = known.calls.find((call) => call.tool_call_id === id)?.tool_name ?? known.steps.find((step) => step.id === id)?.name;
  if (id.startsWith("earlier:")) return name ? `${say("proof.earlier")} · ${name}` : say("proof.earlier");
  return name ? `${name} (${id})` : id;
}

/** The row as it was kept; of two tables of one call, the one that has the value. */
function rowAt(id: string, row: number, column: string, value: number | null | undefined, rows: Row[]): Row | undefined {
  const fits = rows.filter((one) => one.tool_call_id === id && one.row === row && one.cells.some((cell) => cell.column === column));
  return fits.find((one) => one.cells.some((cell) => cell.column === column && Number(cell.value) === value)) ?? fits[0];
}

export function proofWords(figure: Figure, audit: Pick<Audit, "rows" | "calls">, steps: ToolStep[], say: Say): ProofWords {
  const words: ProofWords = { state: say(`proof.state.${figure.state}`), formula: "", places: [], more: "", codes: [] };
  const known: Known = { rows: audit.rows ?? [], calls: audit.calls ?? [], steps };
  const proof = figure.proof;
  if (!proof) return words;
  const place = (id: string, row: number | null | undefined, column: string, value?: number | null): ProofPlace => {
    const cells = row === null || row === undefined ? [] : rowAt(id, row, column, value, known.rows)?.cells ?? [];
    const parts = [named(id, known, say), row === null || row === undefined ? "" : say("proof.row", { row: row + 1 })];
    if (cells.length === 0) parts.push([column, value === null || value === undefined ? "" : `= ${cellText(column, String(value))}`].filter(Boolean).join(" "));
    return { where: parts.filter(Boolean).join(" · "), column, cells, line: "" };
  };
  const ids = "formula" in proof ? [...new Set(proof.operands.map((operand) => operand.tool_call_id))] : [proof.tool_call_id];
  words.codes = ids.map((id) => codeOf(id, known)).filter(Boolean);
  if ("formula" in proof) {
    words.formula = proof.formula;
    words.places = proof.operands.slice(0, MAX_PLACES).map((operand) => place(operand.tool_call_id, operand.row, operand.column ?? "", operand.value));
    if (proof.operands.length > MAX_PLACES) words.more = say("proof.more", { count: proof.operands.length - MAX_PLACES });
  } else if ("line" in proof) {
    const kept = known.rows.find((one) => one.tool_call_id === proof.tool_call_id && one.row === proof.line && one.cells.length === 1 && one.cells[0]?.column === "");
    words.places = [{ where: `${named(proof.tool_call_id, known, say)} · ${say("proof.lineOf", { line: proof.line + 1 })}`, column: "", cells: [], line: kept?.cells[0]?.value ?? "" }];
  } else {
    words.places = [place(proof.tool_call_id, proof.row, proof.column)];
  }
  return words;
}

/** Places of one shape under each other, as one table. */
export interface PlaceGroup {
  columns: string[];
  places: ProofPlace[];
}

export function grouped(places: ProofPlace[]): PlaceGroup[] {
  const groups: PlaceGroup[] = [];
  for (const place of places) {
    const columns = place.cells.map((cell) => cell.column);
    const last = groups.at(-1);
    if (last && columns.length > 0 && last.columns.join("\0") === columns.join("\0")) last.places.push(place);
    else groups.push({ columns, places: [place] });
  }
  return groups;
}
