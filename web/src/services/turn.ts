/** A turn (question and answer) and how events change it. Pure: the same events always give the same turn. */
import type { AgentResponse, ApiErrorBody, Artifact, HistoryRound, HistoryStep, Said, ToolCall } from "$lib/api/types";
import { readPartial } from "./partial";
import type { RunEvent } from "./run-stream";

export type TurnState = "running" | "complete" | "failed" | "cancelled";
export type ToolState = "running" | "ok" | "error" | "stopped";

export interface ToolStep {
  id: string;
  name: string;
  args: Record<string, unknown>;
  round: number;
  state: ToolState;
  startedAt: number;
  durationMs?: number;
  cacheHit?: boolean;
  summary?: string;
  said?: Said;
  observation?: string;
  errorCode?: string;
  fraction?: number;
  message?: string;
}

export interface Feedback {
  rating: "up" | "down";
  reason: string;
}

export interface Turn {
  key: string;
  runId?: string;
  /** The first run of the turn this is a version of. */
  turnId?: string;
  /** Whether this version counts. */
  chosen: boolean;
  feedback?: Feedback;
  question: string;
  fileIds: string[];
  createdAt: string;
  startedAt: number;
  state: TurnState;
  round: number;
  analysis: string;
  plan: string;
  /** Every skill the run worked under, in the order they came; the innermost last while it runs (SPEC S3). */
  skills: string[];
  steps: ToolStep[];
  /** What the model has written of its present turn, as it came. */
  raw: string;
  rawRound: number;
  /** The report so far, read from it. */
  draft: string;
  /** Deltas are not replayed after a reconnect, so a draft with a gap stops growing; the report brings the whole text. */
  draftBroken: boolean;
  answer?: AgentResponse;
  artifacts: Artifact[];
  error?: ApiErrorBody;
  reconnecting: boolean;
}

let counter = 0;

export function newTurn(question: string, fileIds: string[] = [], now = Date.now()): Turn {
  return {
    key: `turn-${(counter += 1)}`, question, fileIds, createdAt: new Date(now).toISOString(), startedAt: now,
    state: "running", chosen: true, round: 1, analysis: "", plan: "", skills: [], steps: [], raw: "", rawRound: 0, draft: "", draftBroken: false, artifacts: [], reconnecting: false,
  };
}

const together = (known: string[], chain: string[] = []): string[] => [...new Set([...known, ...chain])];
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** The newest step of that id: a model may use one again, and an older round's step is never written over. */
function upsert(steps: ToolStep[], id: string, make: () => ToolStep, change: (step: ToolStep) => ToolStep): ToolStep[] {
  const at = steps.map((step) => step.id).lastIndexOf(id);
  if (at < 0) return [...steps, change(make())];
  return steps.map((step, index) => (index === at ? change(step) : step));
}

function blankStep(data: Record<string, unknown>, round: number, now: number): ToolStep {
  return {
    id: text(data.tool_call_id), name: text(data.tool_name) || "?", round: number(data.round) ?? round,
    args: (data.arguments as Record<string, unknown> | undefined) ?? {}, state: "running", startedAt: now,
  };
}

function onRound(turn: Turn, answer: AgentResponse, now: number): Turn {
  const meta = answer.metadata ?? {};
  const round = meta.current_round ?? turn.round;
  let steps = turn.steps;
  for (const call of meta.tool_calls ?? []) steps = announce(steps, call, round, now);
  return {
    ...turn, round, steps, raw: "", draft: "", draftBroken: false,
    analysis: meta.task_analysis || turn.analysis, plan: meta.execution_plan || turn.plan, skills: together(turn.skills, meta.skill_chain),
  };
}

function announce(steps: ToolStep[], call: ToolCall, round: number, now: number): ToolStep[] {
  const known = steps.some((step) => step.id === call.tool_call_id && step.round === round);
  return known ? steps : [...steps, blankStep({ ...call, round }, round, now)];
}

function onFinished(turn: Turn, data: Record<string, unknown>, now: number): Turn {
  const finish = (step: ToolStep): ToolStep => ({
    ...step,
    state: data.success === false ? "error" : "ok",
    durationMs: number(data.duration_ms) ?? now - step.startedAt,
    cacheHit: data.cache_hit === true,
    summary: text(data.summary),
    said: (data.said as Said | undefined) ?? undefined,
    observation: text(data.observation),
    errorCode: text(data.error_code) || undefined,
    fraction: undefined,
    message: undefined,
  });
  const artifacts = Array.isArray(data.artifacts) ? (data.artifacts as Artifact[]) : [];
  const steps = upsert(turn.steps, text(data.tool_call_id), () => blankStep(data, turn.round, now), finish);
  return { ...turn, steps, artifacts: [...turn.artifacts, ...artifacts] };
}

const settle = (steps: ToolStep[]): ToolStep[] =>
  steps.map((step) => (step.state === "running" ? { ...step, state: "stopped" as const } : step));

function onReport(turn: Turn, answer: AgentResponse): Turn {
  const meta = answer.metadata ?? {};
  return {
    ...turn, state: "complete", answer, raw: "", draft: "", steps: settle(turn.steps), reconnecting: false,
    round: meta.current_round ?? turn.round, analysis: meta.task_analysis || turn.analysis, plan: meta.execution_plan || turn.plan,
    artifacts: answer.artifacts ?? turn.artifacts, skills: together(turn.skills, meta.skill_chain),
  };
}

export function connectionLost(turn: Turn): Turn {
  return { ...turn, reconnecting: true, draftBroken: turn.draftBroken || turn.raw !== "" };
}

/** One event, one new turn. An unknown event changes nothing: a newer server must not break an older page. */
export function applyEvent(turn: Turn, event: RunEvent, now = Date.now()): Turn {
  const data = event.data;
  switch (event.type) {
    case "run.started":
      return { ...turn, runId: text(data.run_id) || turn.runId };
    case "round":
      return onRound(turn, data as unknown as AgentResponse, now);
    case "text.delta": {
      const round = number(data.round) ?? turn.rawRound;
      // After a reload or a lost connection the server says the whole text of the turn again; a piece of its middle is not shown.
      const whole = data.whole === true;
      if (turn.draftBroken && round === turn.rawRound && !whole) return turn;
      const raw = (round === turn.rawRound && !whole ? turn.raw : "") + text(data.text);
      const { analysis, plan, report } = readPartial(raw);
      return { ...turn, raw, rawRound: round, draftBroken: false, draft: report, analysis: analysis || turn.analysis, plan: plan || turn.plan };
    }
    case "stream.behind":
      return { ...turn, draftBroken: turn.raw !== "" };
    case "tool.started":
      return {
        ...turn,
        steps: upsert(turn.steps, text(data.tool_call_id), () => blankStep(data, turn.round, now),
          (step) => ({ ...step, startedAt: now, args: (data.arguments as Record<string, unknown>) ?? step.args })),
      };
    case "tool.progress":
      return {
        ...turn,
        steps: upsert(turn.steps, text(data.tool_call_id), () => blankStep(data, turn.round, now),
          (step) => ({ ...step, fraction: number(data.fraction), message: text(data.message) })),
      };
    case "tool.finished":
      return onFinished(turn, data, now);
    case "report":
      return onReport(turn, data as unknown as AgentResponse);
    case "run.failed":
      return { ...turn, state: "failed", error: data.error as ApiErrorBody, steps: settle(turn.steps), reconnecting: false };
    case "run.cancelled":
      return { ...turn, state: "cancelled", steps: settle(turn.steps), draft: turn.draft || text(data.partial), reconnecting: false };
    default:
      return turn;
  }
}

function fromStep(step: HistoryStep, live: boolean): ToolStep {
  const state: ToolState = step.success === true ? "ok" : step.success === false ? "error" : live ? "running" : "stopped";
  return {
    id: step.tool_call_id, name: step.tool_name, args: step.arguments ?? {}, round: step.round, state, startedAt: Date.now(),
    durationMs: step.duration_ms ?? undefined, cacheHit: step.cache_hit, summary: step.summary, said: step.said ?? undefined, observation: step.observation,
    errorCode: step.error_code ?? undefined,
  };
}

const ENDED: Record<string, TurnState> = { failed: "failed", cancelled: "cancelled", complete: "complete" };

/** A stored round, as the server's history gives it back after a reload. Without an answer, its last model turn speaks for it. */
export function fromHistory(round: HistoryRound): Turn {
  const meta = round.answer?.metadata ?? round.processing?.at(-1)?.metadata ?? {};
  const turn = newTurn(round.user_message, round.file_ids ?? [], Date.parse(round.created_at) || Date.now());
  const state = ENDED[round.status] ?? "running";
  const artifacts = round.answer?.artifacts ?? (round.steps ?? []).flatMap((step) => step.artifacts ?? []);
  return {
    ...turn, runId: round.run_id, turnId: round.turn_id, chosen: round.chosen ?? true, feedback: round.feedback ?? undefined, state,
    draft: state === "cancelled" ? (round.partial ?? "") : "", answer: round.answer ?? undefined, error: round.error ?? undefined, artifacts,
    round: meta.current_round ?? 1, analysis: meta.task_analysis ?? "", plan: meta.execution_plan ?? "",
    skills: together((round.processing ?? []).flatMap((answer) => answer.metadata.skill_chain ?? []), round.answer?.metadata.skill_chain),
    steps: (round.steps ?? []).map((step) => fromStep(step, state === "running")),
  };
}

export interface PlanStep {
  label: string;
  text: string;
  state: "done" | "current" | "later";
}

/** `R1: …; R2: …(当前)` (SPEC P2) as steps. A plan in another shape is one step with its whole text. */
export function parsePlan(plan: string, round: number, finished: boolean): PlanStep[] {
  const parts = plan.split(/[;；\n]+(?=\s*R?\d+\s*[:：.、])|\n+/).map((part) => part.trim().replace(/[;；]$/, "")).filter(Boolean);
  const marked = parts.findIndex((part) => /[(（]\s*(当前|current)\s*[)）]/i.test(part));
  const numbered = parts.map((part) => /^R?(\d+)\s*[:：.、]\s*([\s\S]*)$/i.exec(part));
  const currentNumber = marked >= 0 ? Number(numbered[marked]?.[1] ?? marked + 1) : round;
  return parts.map((part, index) => {
    const found = numbered[index];
    const position = found ? Number(found[1]) : index + 1;
    const body = (found?.[2] ?? part).replace(/[(（]\s*(当前|current)\s*[)）]/i, "").trim();
    const state = position < currentNumber || (finished && position <= Math.max(currentNumber, round)) ? "done" : position === currentNumber ? "current" : "later";
    return { label: found ? `R${position}` : "", text: body, state };
  });
}
