//! The readable report of SPEC M2, in Chinese and English, and the Prometheus text.

use std::fmt::Write;

use super::MetricsSnapshot;
use crate::run::Language;

pub fn report(snapshot: &MetricsSnapshot, language: Language) -> String {
    let total = &snapshot.total;
    let mut text = match language {
        Language::Zh => format!(
            "工具执行统计:\n- 总调用次数: {}\n- 总 Token 使用: {}\n- 平均延迟: {:.2}ms\n- 错误率: {:.2}%\n- 缓存命中率: {:.2}%\n",
            total.calls,
            total.tokens,
            total.mean_ms,
            total.error_rate * 100.0,
            total.cache_hit_rate * 100.0
        ),
        Language::En => format!(
            "Tool statistics:\n- Calls: {}\n- Tokens: {}\n- Mean latency: {:.2}ms\n- Error rate: {:.2}%\n- Cache hit rate: {:.2}%\n",
            total.calls,
            total.tokens,
            total.mean_ms,
            total.error_rate * 100.0,
            total.cache_hit_rate * 100.0
        ),
    };
    for (name, tool) in &snapshot.tools {
        let _ = writeln!(
            text,
            "- {name}: {} × p50 {:.1}ms p95 {:.1}ms p99 {:.1}ms, {:.1}% err",
            tool.calls,
            tool.p50_ms,
            tool.p95_ms,
            tool.p99_ms,
            tool.error_rate * 100.0
        );
    }
    text
}

/// Prometheus text format. Label values are tool and model names, escaped.
pub fn prometheus(snapshot: &MetricsSnapshot) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: Vec<(String, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "Prometheus values are floats")]
    let tools = |value: fn(&super::ToolStats) -> u64| -> Vec<(String, f64)> {
        snapshot.tools.iter().map(|(n, t)| (label("tool", n), value(t) as f64)).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "Prometheus values are floats")]
    let models = |value: fn(&super::ModelStats) -> u64| -> Vec<(String, f64)> {
        snapshot.models.iter().map(|(n, m)| (label("model", n), value(m) as f64)).collect()
    };
    family("ba_tool_calls_total", "counter", "Tool calls.", tools(|t| t.calls));
    family("ba_tool_errors_total", "counter", "Failed tool calls.", tools(|t| t.errors));
    family("ba_tool_cache_hits_total", "counter", "Calls answered from cache.", tools(|t| t.cache_hits));
    family("ba_tool_retries_total", "counter", "Retried attempts.", tools(|t| t.retries));
    family("ba_tool_tokens_total", "counter", "Tokens of arguments and observations.", tools(|t| t.tokens));
    let quantiles = snapshot
        .tools
        .iter()
        .flat_map(|(name, t)| {
            [("0.5", t.p50_ms), ("0.95", t.p95_ms), ("0.99", t.p99_ms)]
                .map(|(q, ms)| (format!("{{tool=\"{}\",quantile=\"{q}\"}}", escape(name)), ms / 1e3))
        })
        .collect();
    family("ba_tool_latency_seconds", "summary", "Latency over the last calls.", quantiles);
    family("ba_model_calls_total", "counter", "Model calls.", models(|m| m.calls));
    family("ba_model_errors_total", "counter", "Failed model calls.", models(|m| m.errors));
    family("ba_model_input_tokens_total", "counter", "Input tokens.", models(|m| m.input_tokens));
    family("ba_model_output_tokens_total", "counter", "Output tokens.", models(|m| m.output_tokens));
    #[expect(clippy::cast_precision_loss, reason = "Prometheus values are floats")]
    family("ba_runs_total", "counter", "Finished runs.", vec![(String::new(), snapshot.runs as f64)]);
    family(
        "ba_cost_total",
        "counter",
        "Cost at the configured prices.",
        vec![(String::new(), snapshot.cost)],
    );
    text
}

fn label(name: &str, value: &str) -> String {
    format!("{{{name}=\"{}\"}}", escape(value))
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::ToolStats;

    fn snapshot() -> MetricsSnapshot {
        let stats = ToolStats {
            calls: 4,
            errors: 1,
            error_rate: 0.25,
            cache_hits: 2,
            cache_hit_rate: 0.5,
            tokens: 1200,
            levels: Default::default(),
            mean_ms: 12.5,
            p50_ms: 10.0,
            p95_ms: 20.0,
            p99_ms: 20.0,
            retries: 0,
        };
        MetricsSnapshot {
            total: stats.clone(),
            tools: vec![("run_python".into(), stats)],
            ..Default::default()
        }
    }

    #[test]
    fn the_chinese_report_reads_as_in_the_spec() {
        let text = report(&snapshot(), Language::Zh);
        assert!(text.starts_with(
            "工具执行统计:\n- 总调用次数: 4\n- 总 Token 使用: 1200\n- 平均延迟: 12.50ms\n- 错误率: 25.00%\n- 缓存命中率: 50.00%\n"
        ));
    }

    #[test]
    fn prometheus_text_has_types_and_labels() {
        let text = prometheus(&snapshot());
        assert!(
            text.contains("# TYPE ba_tool_calls_total counter\nba_tool_calls_total{tool=\"run_python\"} 4\n")
        );
        assert!(text.contains("ba_tool_latency_seconds{tool=\"run_python\",quantile=\"0.95\"} 0.02"));
    }
}
