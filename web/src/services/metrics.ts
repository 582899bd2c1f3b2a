/** The server's metrics as the monitoring page needs them, read leniently: a field that is missing is shown as missing. */

export interface ToolMetrics {
  name: string;
  calls: number;
  errors: number;
  meanMs: number | null;
  p50: number | null;
  p95: number | null;
  cacheRate: number | null;
}

export interface Metrics {
  calls: number | null;
  errorRate: number | null;
  cacheRate: number | null;
  meanMs: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  tools: ToolMetrics[];
  models: (ToolMetrics & { input: number; output: number })[];
  runs: number | null;
  cost: number | null;
  live: number | null;
  /** Seconds. */
  uptime: number | null;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
const pick = (source: Fields, ...names: string[]): number | null => {
  for (const name of names) if (typeof source[name] === "number" && Number.isFinite(source[name])) return source[name];
  return null;
};

function rates(source: Fields) {
  const calls = pick(source, "calls", "total_calls", "count", "total");
  const errors = pick(source, "errors", "error_count", "failures", "failed");
  const nested = { ...fields(source.latency), ...fields(source.latency_ms), ...fields(source.duration_ms) };
  const all = { ...nested, ...source };
  return {
    calls,
    errors,
    errorRate: pick(source, "error_rate") ?? (calls && errors !== null ? errors / calls : null),
    cacheRate: pick(source, "cache_hit_rate", "cache_rate"),
    meanMs: pick(all, "mean_ms", "avg_ms", "average_ms", "avg_latency_ms", "mean_latency_ms", "average_latency_ms", "mean", "avg"),
    p50: pick(all, "p50_ms", "p50", "p50_latency_ms"),
    p95: pick(all, "p95_ms", "p95", "p95_latency_ms"),
    p99: pick(all, "p99_ms", "p99", "p99_latency_ms"),
  };
}

function tool(name: string, value: unknown): ToolMetrics {
  const { calls, errors, meanMs, p50, p95, cacheRate } = rates(fields(value));
  return { name, calls: calls ?? 0, errors: errors ?? 0, meanMs, p50, p95, cacheRate };
}

/** `[[name, stats], …]`, `[{name, …}, …]` or `{name: stats}`. */
function entries(list: unknown): [string, unknown][] {
  if (!Array.isArray(list)) return Object.entries(fields(list));
  return list.map((item) => (Array.isArray(item) ? [String(item[0]), item[1]] : [String(fields(item).tool_name ?? fields(item).name ?? "?"), item]));
}

export function readMetrics(data: unknown): Metrics {
  const outer = fields(data);
  const source = { ...outer, ...fields(outer.agent) };
  const { calls, errorRate, cacheRate, meanMs, p50, p95, p99 } = rates({ ...source, ...fields(source.total) });
  return {
    calls, errorRate, cacheRate, meanMs, p50, p95, p99,
    tools: entries(source.tools).map(([name, value]) => tool(name, value)),
    models: entries(source.models).map(([name, value]) => ({ ...tool(name, value), input: pick(fields(value), "input_tokens") ?? 0, output: pick(fields(value), "output_tokens") ?? 0 })),
    runs: pick(source, "runs"),
    cost: pick(source, "cost"),
    live: pick(outer, "live_runs"),
    uptime: pick(outer, "uptime"),
  };
}
