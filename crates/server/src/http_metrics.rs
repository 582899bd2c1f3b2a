//! Counts requests by route and status, for Prometheus. Routes are templates, so the number of series is bounded.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;

use crate::state::AppState;

/// Upper bounds in seconds.
const BUCKETS: [f64; 9] = [0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

#[derive(Default)]
pub struct HttpMetrics {
    series: Mutex<BTreeMap<(String, String, u16), Series>>,
}

#[derive(Default, Clone)]
struct Series {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

impl HttpMetrics {
    fn record(&self, method: &str, route: &str, status: u16, took: Duration) {
        let mut all = self.series.lock();
        let series = all.entry((method.to_owned(), route.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        series.count += 1;
        series.seconds += seconds;
        for (bucket, bound) in series.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    pub fn prometheus(&self) -> String {
        let mut text = String::from(
            "# HELP ba_http_request_seconds Time until the head of the answer.\n# TYPE ba_http_request_seconds histogram\n",
        );
        for ((method, route, status), series) in self.series.lock().iter() {
            let labels = format!(r#"method="{method}",route="{route}",status="{status}""#);
            for (bound, count) in BUCKETS.iter().zip(series.buckets) {
                let _ = writeln!(text, "ba_http_request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}");
            }
            let _ = writeln!(text, "ba_http_request_seconds_bucket{{{labels},le=\"+Inf\"}} {}", series.count);
            let _ = writeln!(text, "ba_http_request_seconds_sum{{{labels}}} {}", series.seconds);
            let _ = writeln!(text, "ba_http_request_seconds_count{{{labels}}} {}", series.count);
        }
        text
    }
}

/// Measures each request under its route's template.
pub async fn measure(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let started = std::time::Instant::now();
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE" | "OPTIONS") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let id = request.headers().get("x-request-id").cloned();
    let response = next.run(request).await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    tracing::debug!(method, route, status, ms = took.as_secs_f64() * 1e3, request_id = ?id, "answered");
    state.http_metrics.record(&method, &route, status, took);
    response
}
