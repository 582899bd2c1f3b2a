//! Documents over HTTP: formats, refusals, headers, progress, and the kept file. The writer is a stand-in; the real one is
//! tested with the command line and in `python/tests`.

use std::sync::Arc;

use async_trait::async_trait;
use ba_server::{ReportFile, ReportRefusal, ReportWanted, Reports, ServerConfig};
use serde_json::json;

use crate::kit::App;

struct Writer;

#[async_trait]
impl Reports for Writer {
    async fn report(
        &self,
        wanted: ReportWanted,
        progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) -> Result<ReportFile, ReportRefusal> {
        progress(0.5, "halfway");
        if wanted.format == "xlsx" {
            return Err(ReportRefusal::TooLarge("too many pages".into()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let text = format!("{} {:?} {:?}", wanted.format, wanted.run.is_some(), wanted.language);
        std::fs::write(&path, &text).unwrap();
        let name = format!("销售.{}", wanted.format);
        Ok(ReportFile { path, name, bytes: text.len() as u64, keep: Box::new(folder) })
    }
}

async fn app() -> App {
    App::start_with(ServerConfig::default(), |deps| deps.reports = Some(Arc::new(Writer))).await
}

// SPEC D1
#[tokio::test]
async fn a_report_is_an_attachment_of_its_kind() {
    let app = app().await;
    let asked = app.ask("hello").await;
    let (id, run) = (asked["conversation_id"].as_str().unwrap(), asked["run_id"].as_str().unwrap());
    let got = app.get(&format!("/conversations/{id}/report?format=pdf&run_id={run}&lang=en")).await;
    assert_eq!(got.status, 200, "{:?}", got.body);
    assert_eq!(got.headers["content-type"], "application/pdf");
    let name = got.headers["content-disposition"].to_str().unwrap();
    assert!(name.starts_with("attachment") && name.ends_with("%E9%94%80%E5%94%AE.pdf"), "{name}");
    assert_eq!(got.body, json!("pdf true Some(\"en\")"));
}

// SPEC D1
#[tokio::test]
async fn wrong_choices_are_refused_with_what_there_is() {
    let app = app().await;
    let id = app.ask("hello").await["conversation_id"].as_str().unwrap().to_owned();
    let get = async |query: &str| app.get(&format!("/conversations/{id}/report{query}")).await;
    let unknown = get("?format=exe").await;
    assert_eq!((unknown.status, unknown.code()), (400, "unknown_format"));
    assert!(unknown.body["error"]["message"].as_str().unwrap().contains("pptx"));
    assert_eq!(get("?format=pdf&lang=xx").await.status, 400);
    assert_eq!(get("").await.status, 400);
    let large = get("?format=xlsx").await;
    assert_eq!((large.status, large.code()), (422, "report_too_large"));
    assert_eq!(app.get("/conversations/conv_000000000000/report?format=pdf").await.status, 404);
}

#[tokio::test]
async fn a_kept_report_tells_its_progress_and_is_listed_until_it_is_deleted() {
    let app = app().await;
    let id = app.ask("hello").await["conversation_id"].as_str().unwrap().to_owned();
    let made = app.post(&format!("/conversations/{id}/report"), json!({"format": "md"})).await;
    let text = made.body.as_str().unwrap().to_owned();
    let (progress, done) = (text.find("report.progress"), text.find("report.done"));
    assert!(progress.is_some() && done > progress, "{text}");
    let files = app.get(&format!("/files?conversation_id={id}")).await;
    assert_eq!(files.body["data"]["artifacts"][0]["name"], "销售.md");
    let failed = app.post(&format!("/conversations/{id}/report"), json!({"format": "xlsx"})).await;
    assert!(failed.body.as_str().unwrap().contains("report_too_large"));

    let address = app.api(&format!("/files/artifacts/销售.md?conversation_id={id}"));
    assert_eq!(app.client.delete(&address).send().await.unwrap().status(), 200);
    assert_eq!(app.client.delete(&address).send().await.unwrap().status(), 404);
    let files = app.get(&format!("/files?conversation_id={id}")).await;
    assert_eq!(files.body["data"]["artifacts"], json!([]));
}

#[tokio::test]
async fn without_a_writer_the_server_says_so() {
    let app = App::start().await;
    let id = app.ask("hello").await["conversation_id"].as_str().unwrap().to_owned();
    let got = app.get(&format!("/conversations/{id}/report?format=pdf")).await;
    assert_eq!((got.status, got.code()), (503, "reports_off"));
}
