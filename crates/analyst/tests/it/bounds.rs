//! What a question may cost: counted, not timed.

use std::time::Duration;

use ba_analyst::OfflineAnalyst;
use ba_analyst::budget::{LONGEST, MOST};
use ba_model::{Model, ModelRequest};
use ba_protocol::Message;

use crate::small::bench;

const TABLE: &str = "region,product,sales,cost\nnorth,tea,10,4\nsouth,tea,20,9\nnorth,coffee,30,11\n";

#[test]
fn a_question_past_the_limit_is_declined_in_words_and_one_below_it_is_read() {
    let mut bench = bench("sales", TABLE);
    let long = format!("{} total sales?", "please ".repeat(LONGEST / 7));
    let said = bench.ask(&[], &long).report.content;
    assert!(said.starts_with("This question is too long"), "{said}");
    let zh = bench.ask(&[], &"销售额".repeat(60_000)).report.content;
    assert!(zh.starts_with("这个问题太长"), "{zh}");
    assert!(bench.ask(&[], "total sales?").report.content.contains("**60**"));
}

#[test]
fn the_work_of_weighing_has_an_end() {
    let mut bench = bench("sales", TABLE);
    for piece in ["sales of north and south by product and region, ", "各 region 的 sales 和 cost，"] {
        let question: String = piece.chars().cycle().take(LONGEST).collect();
        let run = bench.ask(&[], &question);
        assert!(run.work <= MOST, "{piece}: {}", run.work);
    }
    let plain = bench.ask(&[], "sales by region").work;
    assert!(plain > 0 && plain * 20 <= MOST, "{plain}");
}

#[test]
fn a_long_question_before_does_not_hinder_the_next() {
    let mut bench = bench("sales", TABLE);
    let before = ["total sales".to_owned(), "blah ".repeat(2_000)];
    assert!(bench.ask(&before, "and the cost?").report.content.contains("**24**"));
}

/// Reading happens beside the threads that serve, and who stops waiting is free at once.
#[tokio::test(flavor = "current_thread")]
async fn reading_leaves_the_async_thread_free() {
    let analyst = OfflineAnalyst::new().unwrap();
    let request = ModelRequest {
        messages: vec![Message::user("销售额".repeat(300))],
        max_tokens: None,
        temperature: None,
        schema: None,
        stable_prefix: 0,
    };
    // On the one thread there is, a reading in place would be done before the other branch is ever polled.
    tokio::select! {
        biased;
        _ = analyst.complete(&request, &|_| {}) => panic!("the reading ran on the async thread"),
        () = tokio::time::sleep(Duration::ZERO) => {}
    }
}
