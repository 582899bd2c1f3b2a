/** The one place that talks HTTP to the server. Knows envelopes and errors; knows nothing about the page. */
import type {
  ApiErrorBody, Artifact, AuditLine, BoardPiece, CodeDetail, CodeFile, ConnectionInfo, ConversationDetail, ConversationSummary, IngestOptions, KeyInfo, LimitsInfo, ManagedSkill, Me, ModelSaved, ModelWanted, QueryBody, RunDetail, RunInfo, Status,
  Trial, UploadedFile, UploadResult, UserInfo, UserUsage,
} from "./types";

const BASE = "/api/v1";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Turns any answer that is not a success envelope into an `ApiError`, whatever its body looks like. */
export async function failure(response: Response): Promise<ApiError> {
  let body: { error?: ApiErrorBody } | null = null;
  try {
    body = (await response.json()) as { error?: ApiErrorBody };
  } catch {
    // A proxy's HTML or an empty body: the status says enough.
  }
  const error = body?.error;
  return new ApiError(response.status, error?.code ?? `http_${response.status}`, error?.message ?? response.statusText, error?.details);
}

async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(BASE + path, { credentials: "same-origin", ...init });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError(0, "network", "");
  }
  if (!response.ok) throw await failure(response);
  if (response.status === 204) return undefined as T;
  const body = (await response.json()) as { success: boolean; data: T; error?: ApiErrorBody };
  if (body.success === false) {
    throw new ApiError(response.status, body.error?.code ?? "unknown", body.error?.message ?? "", body.error?.details);
  }
  return body.data;
}

const json = (method: string, body?: unknown): RequestInit => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: body === undefined ? undefined : JSON.stringify(body),
});
const part = encodeURIComponent;
const query = (values: Record<string, string | number | undefined>) => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== undefined && value !== "") search.set(key, String(value));
  const text = search.toString();
  return text ? `?${text}` : "";
};

/** Lists come bare or under their own name; both are read. */
function list<T>(data: unknown, key: string): T[] {
  if (Array.isArray(data)) return data as T[];
  const inner = (data as Record<string, unknown> | null)?.[key] ?? (data as Record<string, unknown> | null)?.items;
  return Array.isArray(inner) ? (inner as T[]) : [];
}

export const urls = {
  stream: () => `${BASE}/agent/query/stream`,
  events: (runId: string) => `${BASE}/runs/${part(runId)}/events`,
  fileEvents: (conversation: string) => `${BASE}/files/events${query({ conversation_id: conversation })}`,
  upload: () => `${BASE}/files/upload`,
  download: (filename: string, conversation: string) => `${BASE}/files/download/${part(filename)}${query({ conversation_id: conversation })}`,
  codeDownload: (id: string, conversation: string) => `${BASE}/code/${part(id)}/download${query({ conversation_id: conversation })}`,
  report: (conversation: string) => `${BASE}/conversations/${part(conversation)}/report`,
  export: (conversation: string) => `${BASE}/conversations/${part(conversation)}/export`,
};

export const api = {
  status: () => request<Status>("/status"),
  me: () => request<Me>("/auth/me"),
  login: (username: string, password: string) => request<unknown>("/auth/login", json("POST", { username, password })),
  logout: () => request<unknown>("/auth/logout", json("POST")),

  conversations: async (search = "") => list<ConversationSummary>(await request(`/conversations${query({ search })}`), "conversations"),
  conversation: (id: string) => request<ConversationDetail>(`/conversations/${part(id)}`),
  rename: (id: string, title: string) => request<unknown>(`/conversations/${part(id)}`, json("PATCH", { title })),
  remove: (id: string) => request<unknown>(`/conversations/${part(id)}`, { method: "DELETE" }),
  context: (id: string, run: string) => request<unknown>(`/conversations/${part(id)}/context${query({ run_id: run })}`),

  consents: async (id: string) => list<string>(await request(`/conversations/${part(id)}/consents`), "allowed"),
  allow: async (id: string, what: { address: string } | { host: string } | { tool: string }) => list<string>(await request(`/conversations/${part(id)}/consents`, json("POST", what)), "allowed"),

  files: async (conversation: string) => list<UploadedFile>(await request(`/files${query({ conversation_id: conversation })}`), "files"),
  file: (id: string, conversation: string) => request<UploadedFile>(`/files/${part(id)}${query({ conversation_id: conversation })}`),
  removeFile: (id: string, conversation: string) =>
    request<unknown>(`/files/${part(id)}${query({ conversation_id: conversation })}`, { method: "DELETE" }),
  describeFile: (id: string, conversation: string, description: string) =>
    request<UploadedFile>(`/files/${part(id)}${query({ conversation_id: conversation })}`, json("PATCH", { description })),
  ingestFile: (id: string, conversation: string, options: IngestOptions) =>
    request<UploadedFile>(`/files/${part(id)}/ingest${query({ conversation_id: conversation })}`, json("POST", options)),
  loadSample: (name: string, conversation?: string) =>
    request<UploadResult>("/samples/load", json("POST", { name, conversation_id: conversation })),

  codes: async (conversation: string) => list<CodeFile>(await request(`/code${query({ conversation_id: conversation })}`), "code"),
  code: (id: string, conversation: string, version?: number) =>
    request<CodeDetail>(`/code/${part(id)}${query({ conversation_id: conversation, version })}`),

  runs: async (conversation?: string) => list<RunInfo>(await request(`/runs${query({ conversation_id: conversation })}`), "runs"),
  run: (id: string) => request<RunDetail>(`/runs/${part(id)}`),
  cancel: (id: string) => request<unknown>(`/runs/${part(id)}/cancel`, json("POST")),
  chooseVersion: (run: string) => request<unknown>(`/runs/${part(run)}/choose`, json("POST")),
  rate: (run: string, feedback: { rating: string; reason: string } | null) =>
    request<unknown>(`/runs/${part(run)}/feedback`, feedback ? json("PUT", feedback) : { method: "DELETE" }),
  artifacts: async (conversation: string) => list<Artifact>(await request(`/files${query({ conversation_id: conversation })}`), "artifacts"),
  removeArtifact: (name: string, conversation: string) => request<unknown>(`/files/artifacts/${part(name)}${query({ conversation_id: conversation })}`, { method: "DELETE" }),
  mark: (id: string, marks: { pinned?: boolean; tags?: string[] }) => request<ConversationSummary>(`/conversations/${part(id)}`, json("PATCH", marks)),
  board: async () => list<BoardPiece>(await request("/board"), "pieces"),
  pin: (piece: { run_id: string; kind: string; item: number; title: string }) => request<BoardPiece>("/board", json("POST", piece)),
  unpin: (id: string) => request<unknown>(`/board/${part(id)}`, { method: "DELETE" }),
  refreshPiece: (id: string) => request<BoardPiece>(`/board/${part(id)}/refresh`, json("POST")),
  metrics: () => request<Record<string, unknown>>("/metrics"),
};

/** What only administrators may ask for, and everyone's own account. */
export const admin = {
  users: async () => list<UserInfo>(await request("/admin/users"), "users"),
  addUser: (name: string, password: string, role: string) => request<UserInfo>("/admin/users", json("POST", { name, password, role })),
  switchUser: (id: string, on: boolean) => request<unknown>(`/admin/users/${part(id)}/${on ? "enable" : "disable"}`, json("POST")),
  resetPassword: (id: string, password: string) => request<unknown>(`/admin/users/${part(id)}/password`, json("PUT", { password })),
  changePassword: (old: string, fresh: string) => request<unknown>("/auth/password", json("PUT", { old, new: fresh })),
  keys: async () => list<KeyInfo>(await request("/auth/keys"), "keys"),
  createKey: (label: string) => request<KeyInfo & { secret: string }>("/auth/keys", json("POST", { label })),
  revokeKey: (id: string) => request<unknown>(`/auth/keys/${part(id)}`, { method: "DELETE" }),
  usage: async () => list<UserUsage>(await request("/admin/usage"), "users"),
  audit: async () => list<AuditLine>(await request("/admin/audit"), "entries"),
  limits: () => request<LimitsInfo>("/admin/limits"),
  connections: async () => list<ConnectionInfo>(await request("/admin/connections"), "connections"),
  testConnection: (name: string) => request<Trial>(`/admin/connections/${part(name)}/test`, json("POST")),
  testModel: (wanted: ModelWanted) => request<Trial>("/admin/model/test", json("POST", wanted)),
  saveModel: (wanted: ModelWanted) => request<ModelSaved>("/admin/model", json("PUT", wanted)),
  skills: async () => list<ManagedSkill>(await request("/admin/skills"), "skills"),
  installSkill: (url: string) => request<unknown>("/admin/skills/git", json("POST", { url })),
  approveSkill: (name: string, hash: string) => request<unknown>(`/admin/skills/${part(name)}/approve`, json("POST", { hash })),
  switchSkill: (name: string, enabled: boolean) => request<unknown>(`/admin/skills/${part(name)}`, json("PATCH", { enabled })),
};

export const streamInit = (body: QueryBody, signal: AbortSignal): RequestInit => ({
  ...json("POST", body),
  signal,
  credentials: "same-origin",
});
