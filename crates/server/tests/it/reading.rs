//! Reading an upload again, and describing it (SPEC B8, F1).

use std::sync::Arc;
use std::time::Duration;

use ba_protocol::file::{ColumnProfile, FileProfile, IngestStatus, TableProfile, Unread};
use ba_protocol::{Said, Upload};
use ba_server::ServerConfig;
use serde_json::{Value, json};

use crate::kit::{Answer, App, Reader};

const CSV: &[u8] = "地区,销售额\n华东,10\n".as_bytes();

/// Finds one table whose column is named after the encoding; cannot read `shift_jis`.
struct Echo(ba_store::Store, Duration);

fn not_shift_jis() -> Unread {
    Unread {
        message: "not shift_jis".to_owned(),
        said: Said::new("encoding_unfit").with("encoding", "shift_jis"),
    }
}

#[async_trait::async_trait]
impl ba_server::Ingest for Echo {
    async fn ingest(&self, upload: &Upload, progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync)) {
        progress(0.1, "reading");
        tokio::time::sleep(self.1).await;
        let (c, id) = (&upload.conversation_id, &upload.file_id);
        let encoding = upload.ingest_options.encoding.clone().unwrap_or("utf-8".into());
        let column = ColumnProfile { name: format!("column in {encoding}"), ..ColumnProfile::default() };
        let table = TableProfile { columns: vec![column], ..TableProfile::default() };
        let profile =
            FileProfile { encoding: Some(encoding.clone()), tables: vec![table], ..FileProfile::default() };
        let kept = match encoding.as_str() {
            "shift_jis" => {
                self.0.set_profile(c, id, IngestStatus::Failed, None, Some(&not_shift_jis())).await
            }
            _ => self.0.set_profile(c, id, IngestStatus::Ready, Some(&profile), None).await,
        };
        kept.unwrap();
    }
}

async fn start(pause: Duration, grace: Duration) -> (App, String) {
    let config = ServerConfig { ingest_grace: grace, ..ServerConfig::default() };
    let app =
        App::start_with(config, |deps| deps.ingest = Some(Arc::new(Echo(deps.store.clone(), pause)))).await;
    let up = app.upload(&[("a.csv", CSV)], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    (app, id)
}

async fn again(app: &App, conversation: &str, options: Value) -> Answer {
    app.post(&format!("/files/upload_001/ingest?conversation_id={conversation}"), options).await
}

#[tokio::test]
async fn another_encoding_gives_another_profile_and_is_remembered() {
    let (app, id) = start(Duration::ZERO, Duration::from_secs(5)).await;
    let read = again(&app, &id, json!({"encoding": "Big5"})).await;
    assert_eq!(read.status, 200, "{:?}", read.body);
    let file = &read.body["data"];
    assert_eq!((&file["status"], &file["profile"]["encoding"]), (&json!("ready"), &json!("big5")));
    assert_eq!(file["ingest_options"], json!({"encoding": "big5"}));
    let back = again(&app, &id, json!({})).await;
    assert_eq!(back.body["data"]["profile"]["encoding"], "utf-8");
    assert!(back.body["data"].get("ingest_options").is_none(), "{:?}", back.body);
}

#[tokio::test]
async fn a_bad_choice_is_refused_and_the_reading_stays() {
    let (app, id) = start(Duration::ZERO, Duration::from_secs(5)).await;
    for (options, code) in [
        (json!({"encoding": "klingon"}), "unknown_encoding"),
        (json!({"header_row": 5000}), "header_row_out_of_range"),
        (json!({"sheet": "none"}), "unknown_sheet"),
        (json!({"types": {"税": "number"}}), "unknown_column"),
        (json!({"types": {"column in utf-8": "money"}}), "invalid_request"),
        (json!({"codec": "big5"}), "invalid_request"),
    ] {
        let refused = again(&app, &id, options.clone()).await;
        assert_eq!((refused.status, refused.code()), (400, code), "{options}: {:?}", refused.body);
    }
    let file = app.get(&format!("/files/upload_001?conversation_id={id}")).await;
    assert_eq!(file.body["data"]["profile"]["encoding"], "utf-8");
    assert!(file.body["data"].get("ingest_options").is_none());
    let nobody = app.post(&format!("/files/upload_009/ingest?conversation_id={id}"), json!({})).await;
    assert_eq!(nobody.status, 404);
    let elsewhere = app.post("/files/upload_001/ingest?conversation_id=conv_000000000000", json!({})).await;
    assert_eq!(elsewhere.status, 404);
}

#[tokio::test]
async fn a_choice_that_fails_can_be_changed_again() {
    let (app, id) = start(Duration::ZERO, Duration::from_secs(5)).await;
    let failed = again(&app, &id, json!({"encoding": "shift_jis"})).await.body["data"].clone();
    assert_eq!((&failed["status"], &failed["error"]), (&json!("failed"), &json!("not shift_jis")));
    assert_eq!(failed["ingest_options"]["encoding"], "shift_jis");
    assert_eq!(again(&app, &id, json!({})).await.body["data"]["status"], "ready");
}

#[tokio::test]
async fn progress_is_told_as_for_an_upload_and_a_second_reading_waits() {
    let (app, id) = start(Duration::from_millis(300), Duration::ZERO).await;
    let early = again(&app, &id, json!({"encoding": "big5"})).await;
    assert_eq!((early.status, early.code()), (409, "conflict"), "{:?}", early.body);
    let events = format!("/files/events?conversation_id={id}");
    Reader::new(app.client.get(app.api(&events)).send().await.unwrap()).all().await;

    let begun = again(&app, &id, json!({"encoding": "big5"})).await;
    assert_eq!(begun.body["data"]["status"], "processing", "{:?}", begun.body);
    let heard = Reader::new(app.client.get(app.api(&events)).send().await.unwrap()).all().await;
    let done = heard.last().unwrap();
    assert_eq!((done.name.as_str(), &done.data["status"]), ("file.done", &json!("ready")));
    assert_eq!(done.data["ingest_options"]["encoding"], "big5");
}

#[tokio::test]
async fn a_file_is_described_when_it_comes_and_later() {
    let app = App::start().await;
    let body = "--B\r\ncontent-disposition: form-data; name=\"description\"\r\n\r\n2024年销售数据\r\n\
                --B\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\na,b\r\n--B--\r\n";
    let request =
        app.client.post(app.api("/files/upload")).header("content-type", "multipart/form-data; boundary=B");
    let up = Answer::of(request.body(body).send().await.unwrap()).await;
    assert_eq!(up.body["data"]["files"][0]["description"], "2024年销售数据", "{:?}", up.body);
    let id = up.body["data"]["conversation_id"].as_str().unwrap();

    let path = app.api(&format!("/files/upload_001?conversation_id={id}"));
    let describe = |body: Value| app.client.patch(&path).json(&body).send();
    let changed = Answer::of(describe(json!({"description": "各地区\n销售"})).await.unwrap()).await;
    assert_eq!((changed.status, &changed.body["data"]["description"]), (200, &json!("各地区 销售")));
    let context = app.get(&format!("/conversations/{id}/context")).await.body.to_string();
    assert!(context.contains("a.csv (csv) - 各地区 销售"), "the model's list shows it: {context}");
    let long = Answer::of(describe(json!({"description": "长".repeat(501)})).await.unwrap()).await;
    assert_eq!((long.status, long.code()), (400, "description_too_long"));
    assert_eq!(describe(json!({})).await.unwrap().status(), 400);
}
