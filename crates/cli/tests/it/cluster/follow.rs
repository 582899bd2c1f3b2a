//! What one server answers about the runs of another (SPEC N2), and what a server says while it stops.

use std::time::Duration;

use ba_protocol::UserId;
use serde_json::{Value, json};

use super::fleet::Fleet;
use super::words::Words;

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A question asked of the first server, acknowledged; its run id. The answer's stream is dropped: nobody follows there.
async fn asked(fleet: &Fleet) -> String {
    let conversation = fleet.store.create(&UserId::local(), "t").await.unwrap().id;
    let mark = uuid::Uuid::new_v4().simple();
    let question = json!({"message": format!("mark {mark} please"), "conversation_id": conversation});
    let sent = http().post(format!("{}/api/v1/agent/query/stream", fleet.address(0))).json(&question);
    let sent = sent.send().await.unwrap().error_for_status().unwrap();
    sent.headers()["x-run-id"].to_str().unwrap().to_owned()
}

// SPEC N2
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_is_followed_with_its_text_and_cancelled_through_another_server() {
    let words = Words::serve().await;
    let fleet = Fleet::start(2, words.url()).await;
    let run = asked(&fleet).await;
    let followed = http().get(format!("{}/api/v1/runs/{run}/events", fleet.address(1))).send().await.unwrap();
    let text = tokio::time::timeout(Duration::from_secs(60), followed.text()).await.unwrap().unwrap();
    let count = |name: &str| text.matches(&format!("event: {name}\n")).count();
    assert_eq!((count("run.started"), count("report")), (1, 1), "{text}");
    assert!(count("text.delta") > 0, "text that passes was not relayed: {text}");
    let ids: Vec<u64> = text.lines().filter_map(|l| l.strip_prefix("id: ")?.parse().ok()).collect();
    assert!(ids.iter().copied().eq(1..=ids.len() as u64), "each lasting event once and in order: {ids:?}");

    let run = asked(&fleet).await;
    let at = format!("{}/api/v1/runs/{run}", fleet.address(1));
    let cancelled: Value = http().post(format!("{at}/cancel")).send().await.unwrap().json().await.unwrap();
    assert_eq!(cancelled["data"]["cancelled"], json!(true), "{cancelled}");
    let mut status = Value::Null;
    for _ in 0..300 {
        let read: Value = http().get(&at).send().await.unwrap().json().await.unwrap();
        status = read["data"]["status"].clone();
        if status != "running" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(status, "cancelled");
}

// SPEC N2, N3
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_stops_says_so_takes_nothing_new_and_loses_nothing() {
    let words = Words::serve().await;
    let fleet = Fleet::start(2, words.url()).await;
    let run = asked(&fleet).await;
    fleet.terminate(0);
    let mut refused = false;
    for _ in 0..100 {
        // Until its run has ended it answers; after that it is gone.
        let Ok(ready) = http().get(format!("{}/api/v1/ready", fleet.address(0))).send().await else { break };
        let question = json!({"message": "one more"});
        let asked =
            http().post(format!("{}/api/v1/agent/query", fleet.address(0))).json(&question).send().await;
        if let (503, Ok(asked)) = (ready.status().as_u16(), asked) {
            assert_eq!(asked.status().as_u16(), 503, "a stopping server takes nothing new");
            refused = true;
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(refused, "it was not heard to refuse");
    fleet.until_all_have_ended(Duration::from_secs(60)).await;
    let at = format!("{}/api/v1/runs/{run}", fleet.address(1));
    let read: Value = http().get(&at).send().await.unwrap().json().await.unwrap();
    assert_eq!(read["data"]["status"], "complete", "{read}");
}
