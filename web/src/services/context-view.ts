/** The context inspector's data, read leniently: what the model saw in one turn, message by message. */

export interface ContextMessage {
  role: string;
  text: string;
  tokens: number | null;
}

export interface ContextView {
  messages: ContextMessage[];
  total: number | null;
  window: number | null;
}

const record = (value: unknown): Record<string, unknown> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const number = (...values: unknown[]): number | null => (values.find((value) => typeof value === "number") as number | undefined) ?? null;

function blockText(block: unknown): string {
  if (typeof block === "string") return block;
  const item = record(block);
  const inner = item.text ?? item.thinking ?? item.content ?? item.input;
  return typeof inner === "string" ? inner : JSON.stringify(inner ?? item, null, 2);
}

function message(value: unknown): ContextMessage {
  const item = record(value);
  const content = item.content ?? item.text ?? "";
  const isResult = Array.isArray(content) && content.some((block) => record(block).type === "tool_result");
  return {
    role: isResult ? "tool" : String(item.role ?? item.kind ?? "?"),
    text: Array.isArray(content) ? content.map(blockText).join("\n\n") : blockText(content),
    tokens: number(item.token_count, item.tokens),
  };
}

export function readContext(data: unknown): ContextView {
  const item = record(data);
  const list = Array.isArray(data) ? data : ([item.messages, item.context, item.items].find(Array.isArray) ?? []);
  const messages = (list as unknown[]).map(message);
  if (typeof item.system === "string") messages.unshift({ role: "system", text: item.system, tokens: null });
  const summed = messages.every((entry) => entry.tokens !== null) ? messages.reduce((sum, entry) => sum + (entry.tokens ?? 0), 0) : null;
  return {
    messages,
    total: number(item.total_tokens, item.token_count, item.tokens) ?? summed,
    window: number(item.window, item.context_window, item.window_tokens),
  };
}
