//! Questions and streams (SPEC A1–A3): shapes, order, replay, cancel, and what careless clients send.

use std::time::Duration;

use ba_server::ServerConfig;
use serde_json::json;

use crate::kit::{App, Reader, durable};

async fn stream(app: &App, message: &str) -> Reader {
    let request = app.client.post(app.api("/agent/query/stream")).json(&json!({"message": message}));
    Reader::new(request.send().await.unwrap())
}

async fn resume(app: &App, run: &str, last: Option<u64>) -> Reader {
    let mut request = app.client.get(app.api(&format!("/runs/{run}/events")));
    if let Some(last) = last {
        request = request.header("last-event-id", last.to_string());
    }
    Reader::new(request.send().await.unwrap())
}

// SPEC A1
#[tokio::test]
async fn a_question_is_answered_in_the_documented_shape() {
    let app = App::start().await;
    let answer = app.post("/agent/query", json!({"message": "use the tool"})).await;
    assert_eq!((answer.status, &answer.body["success"]), (200, &json!(true)));
    let data = &answer.body["data"];
    assert_eq!(data["response"], "完成：42");
    assert!(data["conversation_id"].as_str().unwrap().starts_with("conv_"));
    assert_eq!(data["tool_calls"][0]["tool_name"], "probe");
    assert_eq!(data["metadata"]["status"], "complete");
    assert_eq!(data["metadata"]["recommended_questions"], json!(["还有呢？"]));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert!(answer.headers.contains_key("x-request-id"));

    let run = app.get(&format!("/runs/{}", data["run_id"].as_str().unwrap())).await;
    assert_eq!(run.body["data"]["status"], "complete");
    assert_eq!(run.body["data"]["answer"], *data);
    app.stop().await.unwrap();
}

// SPEC A2
#[tokio::test]
async fn a_stream_tells_every_step_with_rising_ids() {
    let app = App::start().await;
    let events = stream(&app, "use the tool").await.all().await;
    let kept = durable(&events);
    let names: Vec<&str> = kept.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["run.started", "round", "tool.started", "tool.finished", "report"]);
    assert!(kept.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(kept[1].data["metadata"]["status"], "processing");
    assert_eq!(kept[1].data["metadata"]["tool_calls"][0]["tool_call_id"], "call_1");
    assert_eq!(kept[3].data["success"], true);
    assert_eq!(kept[4].data["response"], "完成：42");
    assert!(events.iter().any(|event| event.name == "text.delta" && event.id.is_none()));
    assert!(events.iter().any(|event| event.name == "tool.progress" && event.data["message"] == "halfway"));
    assert!(app.bus.is_empty(), "nothing stays in the bus");
}

// SPEC A2: a reconnect misses none.
#[tokio::test]
async fn a_reader_who_comes_back_or_late_misses_nothing() {
    let app = App::start().await;
    let all = durable(&stream(&app, "use the tool").await.all().await);
    let run = all[0].data["run_id"].as_str().unwrap().to_owned();
    assert_eq!(durable(&resume(&app, &run, None).await.all().await), all);
    for (seen, event) in all.iter().enumerate() {
        let rest = resume(&app, &run, event.id).await.all().await;
        assert_eq!(rest, all[seen + 1..]);
    }
    let beyond = resume(&app, &run, Some(u64::MAX / 4)).await.all().await;
    assert!(beyond.is_empty());
    let by_query = app.client.get(app.api(&format!("/runs/{run}/events?after={}", all[2].id.unwrap())));
    assert_eq!(Reader::new(by_query.send().await.unwrap()).all().await, all[3..]);
}

#[tokio::test]
async fn two_readers_of_one_run_see_the_same() {
    let app = App::start().await;
    let mut first = stream(&app, "slow tool").await;
    let started = first.next().await.unwrap();
    let run = started.data["run_id"].as_str().unwrap().to_owned();
    let second = resume(&app, &run, None).await;
    assert_eq!(app.post(&format!("/runs/{run}/cancel"), json!({})).await.body["data"]["cancelled"], true);
    let mut seen = vec![started];
    seen.extend(first.all().await);
    assert_eq!(durable(&seen), durable(&second.all().await));
}

#[tokio::test]
async fn cancel_stops_model_and_tools_at_once() {
    let app = App::start().await;
    for message in ["slow tool", "never answer"] {
        let mut reader = stream(&app, message).await;
        let run = reader.next().await.unwrap().data["run_id"].as_str().unwrap().to_owned();
        if message == "slow tool" {
            while reader.next().await.unwrap().name != "tool.started" {}
        }
        app.post(&format!("/runs/{run}/cancel"), json!({})).await;
        let end =
            tokio::time::timeout(Duration::from_secs(5), reader.all()).await.expect("cancel took too long");
        assert_eq!(end.last().unwrap().name, "run.cancelled");
        let record = app.get(&format!("/runs/{run}")).await;
        assert_eq!(record.body["data"]["status"], "cancelled");
        assert_eq!(
            app.post(&format!("/runs/{run}/cancel"), json!({})).await.body["data"]["cancelled"],
            false
        );
    }
}

#[tokio::test]
async fn a_run_that_waits_for_its_turn_can_be_cancelled() {
    let app = App::start().await;
    let mut first = stream(&app, "never answer").await;
    let started = first.next().await.unwrap().data;
    let body = json!({"message": "second", "conversation_id": started["conversation_id"]});
    let request = app.client.post(app.api("/agent/query/stream")).json(&body);
    let mut second = Reader::new(request.send().await.unwrap());
    let waiting = second.next().await.unwrap().data["run_id"].as_str().unwrap().to_owned();
    app.post(&format!("/runs/{waiting}/cancel"), json!({})).await;
    assert_eq!(second.all().await.last().unwrap().name, "run.cancelled");
    let run = started["run_id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/runs/{run}")).await.body["data"]["status"], "running");
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
}

#[tokio::test]
async fn a_failed_run_says_why_in_both_ways() {
    let app = App::start().await;
    let answer = app.post("/agent/query", json!({"message": "fail"})).await;
    assert_eq!((answer.status, answer.code()), (502, "model_unauthorized"));
    let events = stream(&app, "fail").await.all().await;
    let last = events.last().unwrap();
    assert_eq!(last.name, "run.failed");
    assert_eq!(last.data["error"]["code"], "model_unauthorized");
}

// SPEC E12 as a client sees it: turns of one conversation follow each other.
#[tokio::test]
async fn a_second_question_goes_on_in_the_same_conversation() {
    let app = App::start().await;
    let first = app.ask("第一问").await;
    let id = first["conversation_id"].as_str().unwrap();
    let second = app.post("/agent/query", json!({"message": "第二问", "conversation_id": id})).await;
    assert_eq!(second.body["data"]["conversation_id"], id);
    let read = app.get(&format!("/conversations/{id}")).await;
    let rounds = read.body["data"]["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[0]["user_message"], "第一问");
    assert_eq!(rounds[1]["answer"]["response"], second.body["data"]["response"]);
    assert_eq!(rounds[1]["status"], "complete");
    let runs = app.get(&format!("/runs?conversation_id={id}")).await;
    assert_eq!(runs.body["data"]["runs"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn wrong_bodies_get_clear_errors() {
    let app = App::start().await;
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let cases: Vec<(String, u16, &str)> = vec![
        ("{".into(), 400, "invalid_json"),
        (String::new(), 400, "invalid_json"),
        ("[\"x\"]".into(), 400, "invalid_request"),
        ("{\"message\": 5}".into(), 400, "invalid_request"),
        ("{\"message\": \"x\", \"extra\": 1}".into(), 400, "invalid_request"),
        ("{\"message\": \"  \"}".into(), 400, "empty_message"),
        ("{\"message\": \"x\", \"conversation_id\": \"../x\"}".into(), 400, "invalid_request"),
        ("{\"message\": \"x\", \"conversation_id\": \"conv_000000000000\"}".into(), 404, "not_found"),
        ("{\"message\": \"x\", \"file_ids\": [\"upload_001\"]}".into(), 400, "conversation_required"),
        ("{\"message\": \"x\", \"model\": \"nope:x\"}".into(), 400, "unknown_model"),
        ("{\"message\": \"x\", \"output_level\": \"loud\"}".into(), 400, "invalid_request"),
        (format!("{{\"message\": {deep}}}"), 400, "invalid_request"),
        (format!("{{\"message\": \"{}\"}}", "x".repeat(300_000)), 413, "message_too_long"),
        (format!("{{\"message\": \"{}\"}}", "x".repeat(5 << 20)), 413, "too_large"),
    ];
    for (body, status, code) in cases {
        let shown: String = body.chars().take(60).collect();
        for path in ["/agent/query", "/agent/query/stream"] {
            let request =
                app.client.post(app.api(path)).header("content-type", "application/json").body(body.clone());
            let answer = crate::kit::Answer::of(request.send().await.unwrap()).await;
            assert_eq!((answer.status, answer.code()), (status, code), "{path} {shown}: {:?}", answer.body);
            assert_eq!(answer.body["success"], false);
        }
    }
    let form = app
        .client
        .post(app.api("/agent/query"))
        .header("content-type", "text/plain")
        .body("{\"message\":\"x\"}");
    assert_eq!(form.send().await.unwrap().status(), 415);
}

#[tokio::test]
async fn unknown_routes_and_methods_are_answered_in_the_envelope() {
    let app = App::start().await;
    let nothing = app.get("/nothing").await;
    assert_eq!((nothing.status, nothing.code()), (404, "not_found"));
    let wrong = app.get("/agent/query").await;
    assert_eq!((wrong.status, wrong.code()), (405, "method_not_allowed"));
    for path in [
        "/runs/run_0000000000000000",
        "/runs/x",
        "/runs/run_0000000000000000/events",
        "/conversations/conv_000000000000",
    ] {
        assert_eq!(app.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_stopping_server_lets_runs_finish() {
    let app = App::start().await;
    let reader = stream(&app, "use the tool").await;
    let url = app.api("/health");
    let client = app.client.clone();
    app.stop().await.unwrap();
    assert_eq!(reader.all().await.last().unwrap().name, "report");
    assert!(client.get(url).send().await.is_err(), "nobody listens any more");
}

// SPEC E13: what cannot finish in time is left as it is, and goes on at the next start.
#[tokio::test]
async fn a_run_that_does_not_finish_in_time_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(folder.path())).await.unwrap();
    let config = || ServerConfig { shutdown_grace: Duration::from_millis(100), ..ServerConfig::default() };
    let app = App::start_on(tempfile::tempdir().unwrap(), store.clone(), config(), |_| {}).await;
    let mut reader = stream(&app, "never answer").await;
    let run = reader.next().await.unwrap().data["run_id"].as_str().unwrap().to_owned();
    app.stop().await.unwrap();
    assert!(reader.all().await.is_empty(), "the stream ends without an end of the run");

    let again = App::start_on(tempfile::tempdir().unwrap(), store, config(), |deps| {
        let agent = deps.agent.clone();
        tokio::spawn(async move { agent.resume_open_runs().await.unwrap() });
    })
    .await;
    let mut reader = resume(&again, &run, None).await;
    assert_eq!(reader.next().await.unwrap().name, "run.started");
    while again.post(&format!("/runs/{run}/cancel"), json!({})).await.body["data"]["cancelled"] != true {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(reader.all().await.last().unwrap().name, "run.cancelled");
}
