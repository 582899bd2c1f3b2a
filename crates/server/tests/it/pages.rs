//! The page, its frame, the reference, health and numbers: headers and shapes.

use std::sync::Arc;

use async_trait::async_trait;
use ba_server::{Check, ServerConfig};
use serde_json::json;

use crate::kit::App;

// SPEC U9: the headers of web/SERVING.md.
#[tokio::test]
async fn the_page_and_its_frame_carry_their_policies() {
    let app = App::start().await;
    let page = app.client.get(&app.url).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let headers = page.headers().clone();
    assert!(
        headers["content-security-policy"]
            .to_str()
            .unwrap()
            .starts_with("default-src 'none'; script-src 'self'")
    );
    assert_eq!(headers["x-frame-options"], "DENY");
    assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
    for name in ["x-content-type-options", "referrer-policy", "cross-origin-resource-policy"] {
        assert!(headers.contains_key(name), "{name}");
    }
    assert!(headers["content-type"].to_str().unwrap().starts_with("text/html"));
    let text = page.text().await.unwrap();
    assert!(text.contains("BA-Agent"), "the page, or how to build it");

    let frame = app.client.get(format!("{}/frame", app.url)).send().await.unwrap();
    if frame.status() == 200 {
        let policy = frame.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("sandbox allow-scripts; default-src 'none';"), "{policy}");
        assert!(policy.contains("connect-src 'none'"), "{policy}");
        assert!(!frame.headers().contains_key("x-frame-options"));
    }
    for missing in
        ["/assets/none.js", "/assets/..%2f..%2fCargo.toml", "/assets/../Cargo.toml", "/secret", "/index.php"]
    {
        let response = app.client.get(format!("{}{missing}", app.url)).send().await.unwrap();
        assert_eq!(response.status(), 404, "{missing}");
    }
}

#[tokio::test]
async fn the_reference_works_offline() {
    let app = App::start().await;
    let page = app.client.get(format!("{}/docs/", app.url)).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.headers()["content-security-policy"].to_str().unwrap().contains("script-src 'self'"));
    let html = page.text().await.unwrap();
    assert!(!html.contains("https://"), "nothing comes from elsewhere");
    assert_eq!(
        app.client.get(format!("{}/docs/swagger-ui-bundle.js", app.url)).send().await.unwrap().status(),
        200
    );
    let served = app.get("/openapi.json").await;
    assert_eq!(served.body, serde_json::to_value(ba_server::openapi::document()).unwrap());
}

struct Sandbox;

#[async_trait]
impl Check for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    async fn check(&self) -> Result<String, String> {
        Err("Landlock is missing".into())
    }
}

#[tokio::test]
async fn health_is_about_the_process_and_readiness_about_its_work() {
    let app = App::start().await;
    assert_eq!(app.get("/health").await.body["data"]["status"], "ok");
    let ready = app.get("/ready").await;
    assert_eq!((ready.status, &ready.body["data"]["ready"]), (200, &json!(true)));
    assert_eq!(ready.body["data"]["checks"][0]["name"], "database");

    let broken = App::start_with(ServerConfig::default(), |deps| deps.checks.push(Arc::new(Sandbox))).await;
    let ready = broken.get("/ready").await;
    assert_eq!(ready.status, 503);
    let checks = ready.body["data"]["checks"].as_array().unwrap();
    assert!(checks.contains(&json!({"name": "sandbox", "ok": false, "detail": "Landlock is missing"})));
    assert_eq!(broken.get("/health").await.status, 200);
}

#[tokio::test]
async fn a_model_that_never_answers_is_not_ready() {
    let app = App::start().await;
    for _ in 0..3 {
        assert_eq!(app.get("/ready").await.status, 200);
        app.post("/agent/query", json!({"message": "fail"})).await;
    }
    let ready = app.get("/ready").await;
    let checks = ready.body["data"]["checks"].as_array().unwrap();
    let model = checks.iter().find(|check| check["name"] == "model").unwrap();
    assert_eq!((ready.status, &model["ok"]), (503, &json!(false)));
    app.ask("use the tool").await;
    assert_eq!(app.get("/ready").await.status, 200);
}

// SPEC M2
#[tokio::test]
async fn numbers_are_there_for_people_and_for_prometheus() {
    let app = App::start().await;
    let id = app.ask("use the tool").await["conversation_id"].as_str().unwrap().to_owned();
    let metrics = app.get(&format!("/metrics?conversation_id={id}")).await;
    assert_eq!(metrics.body["data"]["conversation"]["calls"], 1);
    assert_eq!(app.get("/metrics?conversation_id=conv_000000000000").await.status, 404);
    assert!(metrics.body["data"]["report"].as_str().unwrap().starts_with("工具执行统计:\n- 总调用次数: 1\n"));
    let text = app.client.get(format!("{}/metrics", app.url)).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("ba_tool_calls_total{tool=\"probe\"} 1"), "{text}");
    let counted =
        "ba_http_request_seconds_count{method=\"POST\",route=\"/api/v1/agent/query\",status=\"200\"} 1";
    assert!(text.contains(counted), "{text}");
    assert_eq!(app.get("/tools").await.body["data"]["tools"][0]["name"], "probe");
    assert_eq!(app.get("/skills").await.body["data"]["skills"], json!([]));
    let status = app.get("/status").await;
    assert_eq!(status.body["data"]["model"], "test:rules");
    assert_eq!(status.body["data"]["auth_required"], false);
}

#[tokio::test]
async fn answers_are_compressed_and_streams_are_not() {
    let app = App::start().await;
    // One that shows the bytes as they came.
    let client = reqwest::Client::builder().no_proxy().no_gzip().no_brotli().no_zstd().build().unwrap();
    let plain = client.get(app.api("/openapi.json")).header("accept-encoding", "gzip");
    assert_eq!(plain.send().await.unwrap().headers()["content-encoding"], "gzip");
    let stream = client.post(app.api("/agent/query/stream")).header("accept-encoding", "gzip, br");
    let stream = stream.json(&json!({"message": "hi"})).send().await.unwrap();
    assert!(!stream.headers().contains_key("content-encoding"));
    assert_eq!(stream.headers()["cache-control"], "no-cache, no-transform");
}

#[tokio::test]
async fn samples_are_loaded_into_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("retail.csv");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    let app = App::start_with(ServerConfig::default(), |deps| {
        let info = ba_server::SampleInfo {
            name: "retail".into(),
            title: "零售".into(),
            description: String::new(),
            language: None,
            questions: vec!["各地区销售额？".into()],
        };
        deps.samples.push(ba_server::Sample { info, files: vec![path] });
    })
    .await;
    assert_eq!(app.get("/status").await.body["data"]["samples"][0]["name"], "retail");
    let loaded = app.post("/samples/load", json!({"name": "retail"})).await;
    assert_eq!(loaded.body["data"]["files"][0]["filename"], "retail.csv");
    assert_eq!(app.post("/samples/load", json!({"name": "../x"})).await.status, 404);
}
