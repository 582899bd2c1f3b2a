//! Prints what reading a question costs on a table of 60 columns, by the length of the question: `cost`. Needs no tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a developer's tool"
)]

use ba_analyst::OfflineAnalyst;
use ba_analyst::turn::{Listed, Outcome, Turn};
use serde_json::json;

fn main() {
    let analyst = OfflineAnalyst::new().unwrap();
    // The vocabulary of a table is made once, whatever is asked.
    let start = spent();
    analyst.understood(&turn("?"));
    println!("the table's vocabulary: {:.1} ms", spent() - start);
    println!("{:>10} {:>9} {:>9}  question", "characters", "ms", "work");
    for question in questions() {
        let turn = turn(&question);
        let start = spent();
        let found = analyst.understood(&turn);
        let millis = spent() - start;
        let shown: String = question.chars().take(40).collect();
        println!("{:10} {millis:9.1} {:9}  {shown}", question.chars().count(), found.work);
    }
}

/// Milliseconds this thread has computed: other programs on the machine do not count.
fn spent() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}

fn questions() -> Vec<String> {
    let phrases =
        ["各地区2024年的销售额和利润，", "monthly sales of region 12 and region 30 by product in 2024, "];
    let words = ["unheard ", "蹊跷"];
    let mut out = vec!["各地区的销售额".to_owned(), "top 3 regions by sales amount in 2024".to_owned()];
    for length in [50, 100, 200, 400, 700, 1000] {
        for piece in phrases.iter().chain(&words) {
            out.push(piece.chars().cycle().take(length).collect());
        }
    }
    out
}

fn turn(question: &str) -> Turn {
    let columns: Vec<_> = (0..60)
        .map(|i| match i % 4 {
            0 => json!({"name": format!("region {i}"), "type": "VARCHAR", "nulls": 0, "distinct": 5, "min": "a", "max": "e",
                "top": [{"value": format!("north {i}"), "count": 9}, {"value": format!("south {i}"), "count": 8}], "examples": []}),
            1 => json!({"name": format!("销售额{i}"), "type": "DOUBLE", "nulls": 0, "distinct": 90, "min": 1, "max": 900, "top": [], "examples": []}),
            2 => json!({"name": format!("sales_amount_{i}"), "type": "DOUBLE", "nulls": 0, "distinct": 90, "min": 1, "max": 900, "top": [], "examples": []}),
            _ => json!({"name": format!("date_{i}"), "type": "DATE", "nulls": 0, "distinct": 90, "min": "2023-01-01", "max": "2024-12-31", "top": [], "examples": []}),
        })
        .collect();
    let profile = json!({"encoding": "utf-8", "table": {"name": "wide", "rows": 100, "columns": columns}});
    let outcome = |id: &str, text: String| Outcome {
        call_id: id.to_owned(),
        content: format!("<tool_result name=\"file_reader\">\n[call] {text}\n</tool_result>"),
        failed: false,
    };
    Turn {
        question: question.to_owned(),
        files: vec![Listed {
            file_id: "upload_001".to_owned(),
            filename: "wide.csv".to_owned(),
            file_type: "csv".to_owned(),
        }],
        outcomes: vec![
            outcome("t1_profile_upload_001", profile.to_string()),
            outcome("t1_values", "0 rows\nt,c,v".to_owned()),
        ],
        ..Turn::default()
    }
}
