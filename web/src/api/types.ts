/**
 * The API's bodies under the names the page uses. They come from the server's own document (`schema.d.ts`, `npm run api`);
 * only where that says "any JSON" is the type written here.
 */
import type { components } from "./schema";

type Schemas = components["schemas"];
type Json = Record<string, unknown>;

export type RunStatus = "queued" | "running" | "processing" | "complete" | "failed" | "cancelled";
export type ToolCall = Omit<Schemas["ToolCall"], "arguments"> & { arguments: Json };
export type Artifact = Pick<Schemas["Artifact"], "name" | "size" | "file_type">;
export type CodeRef = Pick<Schemas["CodeRef"], "code_id" | "language" | "description"> & { index?: number };
export type ChartRef = { index: number; tool_call_id: string; kind: string; title: string; x: string; y: string[]; unit?: string | null; cut?: boolean; option: Json };
export type FileRef = Omit<Schemas["FileRef"], "index"> & { index?: number };
export type Usage = Pick<Schemas["UsageInfo"], "input_tokens" | "output_tokens" | "cost">;

/** Every field may be missing: an older answer, a newer server and a draft all pass through here. */
export type Metadata = Partial<Omit<Schemas["ResponseMetadata"], "tool_calls" | "charts" | "code_refs" | "file_refs" | "saved_codes" | "data_notes" | "usage">> & {
  tool_calls?: ToolCall[];
  charts?: ChartRef[];
  code_refs?: CodeRef[];
  file_refs?: FileRef[];
  saved_codes?: CodeRef[];
  data_notes?: DataNote[];
  usage?: Usage | null;
};

export type Audit = Schemas["Audit"];
export type Figure = Schemas["FigureProof"];
export type Witness = Schemas["WitnessReport"];

export type AgentResponse = Pick<Schemas["AgentResponse"], "response" | "conversation_id" | "duration_ms"> & {
  run_id?: string;
  artifacts?: Artifact[];
  metadata: Metadata;
};

export type ApiErrorBody = Pick<Schemas["ErrorInfo"], "code" | "message"> & { details?: unknown };

export type Note = Omit<Schemas["Note"], "values"> & { values?: Json };
export type Said = Omit<Schemas["Said"], "values"> & { values?: Json };
export type DataNote = Note & { file_id: string; table: string };
export type IngestOptions = Partial<Schemas["IngestOptions"]>;
export type ColumnChoice = Schemas["ColumnChoice"];
export type ColumnProfile = Omit<Schemas["ColumnProfile"], "min" | "max"> & { min?: unknown; max?: unknown };
export type TableProfile = Omit<Schemas["TableProfile"], "columns" | "preview" | "notes"> & { columns: ColumnProfile[]; preview?: unknown[][]; notes?: Note[] };
export type FileProfile = Omit<Schemas["FileProfile"], "tables"> & { tables?: TableProfile[] };
export type UploadedFile = Omit<Schemas["Upload"], "profile" | "problem" | "conversation_id" | "sha256" | "ingest_options"> & {
  problem?: Said | null;
  profile?: FileProfile | null;
  ingest_options?: IngestOptions;
};
export type UploadResult = Pick<Schemas["Uploaded"], "conversation_id" | "rejected"> & { files: UploadedFile[] };

export type CodeFile = Pick<Schemas["CodeFile"], "code_id" | "language"> & Partial<Schemas["CodeFile"]>;
export type CodeDetail = Pick<Schemas["CodeDetail"], "code">;

export type ConversationSummary = Schemas["ConversationInfo"];
export type HistoryStep = Omit<Schemas["HistoryStep"], "arguments" | "said"> & { arguments: Json; said?: Said | null };
export type HistoryRound = Pick<Schemas["HistoryRound"], "run_id" | "user_message" | "created_at"> & {
  status: string;
  file_ids?: string[];
  processing?: AgentResponse[];
  steps?: HistoryStep[];
  answer?: AgentResponse | null;
  error?: ApiErrorBody | null;
  turn_id?: string;
  chosen?: boolean;
  partial?: string | null;
  feedback?: { rating: "up" | "down"; reason: string } | null;
};
export type ConversationDetail = ConversationSummary & { rounds: HistoryRound[] };

export type BoardPiece = Omit<Schemas["Piece"], "answer"> & { answer?: AgentResponse };
export type UserInfo = Schemas["UserInfo"];
export type KeyInfo = Schemas["KeyInfo"];
export type UserUsage = Schemas["UserUsage"];
export type AuditLine = Schemas["AuditLine"];
export type LimitsInfo = Schemas["LimitsInfo"];
export type ManagedSkill = Schemas["ManagedSkill"];
export type ConnectionInfo = Schemas["ConnectionInfo"];
export type Trial = Schemas["Trial"];
export type ModelSaved = Schemas["ModelSaved"];
export type ModelWanted = Schemas["ModelWanted"];
export type RunInfo = Schemas["RunInfo"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type RunDetail = RunInfo & { timeline: TimelineEntry[] };
export type SampleInfo = Schemas["SampleInfo"];
export type Status = Schemas["Data_Status"]["data"];
export type Me = Schemas["Me"];

export interface QueryBody {
  message: string;
  conversation_id?: string;
  file_ids?: string[];
  model?: string;
  replaces?: string;
}
