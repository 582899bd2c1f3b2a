/** The API's bodies as the page uses them (SPEC A, R). Only shapes; no logic. */

export type RunStatus = "queued" | "running" | "processing" | "complete" | "failed" | "cancelled";

export interface ToolCall {
  tool_name: string;
  tool_call_id: string;
  arguments: Record<string, unknown>;
}

export interface Artifact {
  name: string;
  size: number;
  file_type: string;
}

export interface CodeRef {
  code_id: string;
  language: string;
  description: string;
  index?: number;
}

export interface FileRef {
  file_id: string;
  filename: string;
  file_type: string;
  size: number;
  index?: number;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cost?: number | null;
  currency?: string | null;
}

export interface Metadata {
  content_type?: string;
  has_structured_response?: boolean;
  action_type?: string | null;
  current_round?: number;
  task_analysis?: string | null;
  execution_plan?: string | null;
  status?: string;
  contains_html?: boolean;
  tool_calls?: ToolCall[];
  recommended_questions?: string[];
  download_links?: string[];
  code_refs?: CodeRef[];
  file_refs?: FileRef[];
  saved_codes?: CodeRef[];
  warnings?: string[];
  stop_reason?: string | null;
  model?: string | null;
  offline?: boolean;
  usage?: Usage | null;
}

export interface AgentResponse {
  response: string;
  conversation_id: string;
  run_id?: string;
  duration_ms: number;
  tool_calls?: unknown[];
  artifacts?: Artifact[];
  metadata: Metadata;
}

export interface ApiErrorBody {
  code: string;
  message: string;
  details?: unknown;
}

export interface ColumnProfile {
  name: string;
  type: string;
  nulls?: number;
  distinct?: number | null;
  min?: unknown;
  max?: unknown;
  mean?: number | null;
  top?: unknown;
  examples?: unknown[];
}

export interface TableProfile {
  name: string;
  sheet?: string | null;
  rows: number;
  columns: ColumnProfile[];
  notes?: string[];
  guesses?: string[];
  preview?: unknown[][];
}

export interface FileProfile {
  tables: TableProfile[];
  encoding?: string | null;
  lines?: number | null;
  keys?: string[];
}

export interface UploadedFile {
  file_id: string;
  filename: string;
  file_type: string;
  size: number;
  sha256?: string;
  created_at?: string;
  description?: string | null;
  status?: "ready" | "processing" | "failed";
  profile?: FileProfile | null;
  error?: string | null;
}

export interface UploadResult {
  conversation_id: string;
  files: UploadedFile[];
}

export interface CodeFile {
  code_id: string;
  language: string;
  description?: string;
  version?: number;
  line_count?: number;
  char_count?: number;
  created_at?: string;
  code?: string;
}

export interface ConversationSummary {
  conversation_id: string;
  title: string;
  created_at: string;
  updated_at: string;
}

export interface HistoryStep {
  tool_call_id: string;
  tool_name: string;
  arguments?: Record<string, unknown>;
  round?: number;
  success?: boolean;
  duration_ms?: number;
  cache_hit?: boolean;
  summary?: string;
  observation?: string;
  error_code?: string | null;
}

export interface HistoryTurn {
  tool_calls: ToolCall[];
  results: (Partial<HistoryStep> & { tool_call_id: string })[];
}

export interface HistoryRound {
  run_id: string;
  user_message: string;
  created_at: string;
  status?: RunStatus;
  file_ids?: string[];
  answer?: AgentResponse | null;
  steps?: (HistoryStep | HistoryTurn)[];
  error?: ApiErrorBody | null;
}

export interface ConversationDetail extends ConversationSummary {
  rounds: HistoryRound[];
}

export interface RunInfo {
  run_id: string;
  conversation_id: string;
  status: RunStatus;
  created_at: string;
  user_message?: string;
  message?: string;
  usage?: Usage | null;
  duration_ms?: number | null;
  model?: string | null;
  error?: ApiErrorBody | null;
}

export interface SampleInfo {
  name: string;
  title?: string;
  description?: string;
  questions?: string[];
}

export interface Status {
  version: string;
  model: string;
  offline: boolean;
  auth_required: boolean;
  user?: string | null;
  sample_data?: SampleInfo[] | string[] | boolean;
}

export interface QueryBody {
  message: string;
  conversation_id?: string;
  file_ids?: string[];
}
