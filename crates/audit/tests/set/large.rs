//! A large report over large results, to be timed.

use std::time::Instant;

use ba_audit::{Evidence, Options, audit};
use serde_json::json;

fn evidence(results: usize) -> Evidence {
    let mut evidence = Evidence::new();
    for result in 0..results {
        let names = ["客户", "月份", "销售额", "利润", "订单数"].map(str::to_owned).to_vec();
        let rows = (0..1_000usize)
            .map(|r| {
                let noise = (r * 7919 + result * 104_729) % 999_983;
                vec![
                    json!(format!("客户{}", r / 4)),
                    json!(format!("2024-{:02}", r % 4 + 1)),
                    json!(noise),
                    json!(noise as f64 * 0.137),
                    json!(noise % 977),
                ]
            })
            .collect();
        evidence.table(&format!("call_{result}"), names, rows);
    }
    evidence
}

/// Half of the figures true, a fourth derived, a fourth wrong; prose and a table.
fn report(figures: usize) -> String {
    let mut out = String::from("# 报告\n\n");
    for i in 0..figures / 4 {
        let value = |r: usize| (r * 7919) % 999_983;
        let (a, b) = (value(i * 4), value(i * 4 + 1));
        let growth = (b as f64 / a.max(1) as f64 - 1.0) * 100.0;
        out.push_str(&format!(
            "- 客户{i} 1 月销售额 {a} 元，2 月销售额 {b} 元，环比变动 {growth:+.1}%，另有 {}.77 元未入账。\n",
            a + 13
        ));
    }
    out
}

/// Milliseconds this thread has had of a processor, so that a busy machine does not count; of the wall's clock elsewhere.
fn clock(since: Instant) -> f64 {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = used.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64() * 1e3, |n| n / 1e6)
}

/// The median time of one audit, in milliseconds.
pub fn p50(figures: usize, results: usize) -> f64 {
    let (evidence, report) = (evidence(results), report(figures));
    let mut times: Vec<f64> = (0..21)
        .map(|_| {
            let begun = Instant::now();
            let started = clock(begun);
            let found = audit(&report, &evidence, Options::default());
            assert_eq!(found.figures.len(), figures / 4 * 4);
            clock(begun) - started
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
