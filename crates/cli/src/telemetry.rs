//! OpenTelemetry (SPEC M3): spans of runs, and figures of tools and models, sent over OTLP/HTTP to the collector that is
//! configured. Off without one. Sends names, counts and times; refuses to send what was asked, said or read.

use std::time::Duration;

use anyhow::Context;
use ba_agent::metrics::Metrics;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use url::Url;

/// A collector that does not answer must not hold the program for long when it ends.
const PATIENCE: Duration = Duration::from_secs(5);
const SCOPE: &str = "ba-agent";

/// One figure of a tool.
type Figure = fn(&ba_agent::metrics::ToolStats) -> u64;

/// What is sent, until it is finished.
pub struct Telemetry {
    traces: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Telemetry {
    pub fn start(collector: &Url) -> anyhow::Result<Self> {
        let base = collector.as_str().trim_end_matches('/');
        let spans = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(PATIENCE)
            .with_endpoint(format!("{base}/v1/traces"))
            .build()
            .context("otlp: traces")?;
        let figures = MetricExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(PATIENCE)
            .with_endpoint(format!("{base}/v1/metrics"))
            .build()
            .context("otlp: metrics")?;
        let resource = Resource::builder()
            .with_service_name("ba-agent")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let traces =
            SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build();
        let meters =
            SdkMeterProvider::builder().with_periodic_exporter(figures).with_resource(resource).build();
        global::set_meter_provider(meters.clone());
        Ok(Self { traces, meters })
    }

    pub fn tracer(&self) -> SdkTracer {
        self.traces.tracer(SCOPE)
    }

    /// Sends what is left. Must not be called from the runtime: it waits.
    pub fn finish(self) {
        for ended in
            [self.traces.shutdown_with_timeout(PATIENCE), self.meters.shutdown_with_timeout(PATIENCE)]
        {
            if let Err(error) = ended {
                tracing::warn!(%error, "the OpenTelemetry collector did not take everything");
            }
        }
    }
}

/// Lets a collector read the figures of `metrics`. Costs nothing while none is configured.
pub fn observe(metrics: &Metrics) {
    let meter = global::meter(SCOPE);
    let tools: [(&'static str, Figure); 4] = [
        ("ba_agent.tool.calls", |s| s.calls),
        ("ba_agent.tool.errors", |s| s.errors),
        ("ba_agent.tool.cache_hits", |s| s.cache_hits),
        ("ba_agent.tool.tokens", |s| s.tokens),
    ];
    for (name, figure) in tools {
        let metrics = metrics.clone();
        let observed = move |observer: &dyn opentelemetry::metrics::AsyncInstrument<u64>| {
            for (tool, stats) in metrics.snapshot().tools {
                observer.observe(figure(&stats), &[KeyValue::new("gen_ai.tool.name", tool)]);
            }
        };
        meter.u64_observable_counter(name).with_callback(observed).build();
    }
    let of = metrics.clone();
    meter
        .f64_observable_gauge("ba_agent.tool.duration")
        .with_unit("ms")
        .with_callback(move |observer| {
            for (tool, stats) in of.snapshot().tools {
                for (quantile, value) in
                    [("0.5", stats.p50_ms), ("0.95", stats.p95_ms), ("0.99", stats.p99_ms)]
                {
                    let labels = [
                        KeyValue::new("gen_ai.tool.name", tool.clone()),
                        KeyValue::new("quantile", quantile),
                    ];
                    observer.observe(value, &labels);
                }
            }
        })
        .build();
    let of = metrics.clone();
    meter
        .u64_observable_counter("ba_agent.model.tokens")
        .with_unit("{token}")
        .with_callback(move |observer| {
            for (model, stats) in of.snapshot().models {
                for (kind, tokens) in [("input", stats.input_tokens), ("output", stats.output_tokens)] {
                    let labels = [
                        KeyValue::new("gen_ai.request.model", model.clone()),
                        KeyValue::new("gen_ai.token.type", kind),
                    ];
                    observer.observe(tokens, &labels);
                }
            }
        })
        .build();
    let of = metrics.clone();
    meter
        .u64_observable_counter("ba_agent.runs")
        .with_callback(move |observer| observer.observe(of.snapshot().runs, &[]))
        .build();
}
