//! Uploads and downloads (SPEC A4): many files, hostile names, broken transfers, ranges, policies.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::file::IngestStatus;
use ba_server::{Limits, ServerConfig};
use serde_json::json;

use crate::kit::{Answer, App, Reader, multipart};

const CSV: &[u8] = "地区,销售额\n华东,10\n华北,20\n".as_bytes();

async fn uploads(app: &App, conversation: &str) -> usize {
    let list = app.get(&format!("/files?conversation_id={conversation}")).await;
    list.body["data"]["files"].as_array().unwrap().len()
}

// SPEC A4: the documented answer; a new conversation when none was named; files before the first message.
#[tokio::test]
async fn files_come_before_the_first_question() {
    let app = App::start().await;
    let up = app.upload(&[("销售 数据.csv", CSV), ("notes.md", b"# hi")], None).await;
    assert_eq!(up.status, 200, "{:?}", up.body);
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    let files = up.body["data"]["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(files[0]["file_id"], "upload_001");
    assert_eq!(files[0]["filename"], "销售 数据.csv");
    assert_eq!(files[0]["file_type"], "csv");
    assert_eq!(files[0]["size"], CSV.len());
    assert_eq!(files[0]["status"], "ready");

    let more = app.upload(&[("more.json", b"{}")], Some(&id)).await;
    assert_eq!(more.body["data"]["files"][0]["file_id"], "upload_003");
    assert_eq!(uploads(&app, &id).await, 3);
    let one = app.get(&format!("/files/upload_001?conversation_id={id}")).await;
    assert_eq!(one.body["data"]["sha256"].as_str().unwrap().len(), 64);

    let asked = json!({"message": "看看", "conversation_id": id, "file_ids": ["upload_001"]});
    assert_eq!(app.post("/agent/query", asked).await.status, 200);
    let wrong = json!({"message": "看看", "conversation_id": id, "file_ids": ["upload_999"]});
    assert_eq!(app.post("/agent/query", wrong).await.status, 404);

    let history = app.get(&format!("/conversations/{id}")).await;
    assert_eq!(history.body["data"]["rounds"][0]["file_ids"], json!(["upload_001"]));

    let gone =
        app.client.delete(app.api(&format!("/files/upload_001?conversation_id={id}"))).send().await.unwrap();
    assert_eq!(gone.status(), 200);
    assert_eq!(app.get(&format!("/files/upload_001?conversation_id={id}")).await.status, 404);
}

struct SlowIngest(ba_store::Store);

#[async_trait::async_trait]
impl ba_server::Ingest for SlowIngest {
    async fn ingest(
        &self,
        upload: &ba_protocol::Upload,
        progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) {
        tokio::time::sleep(Duration::from_millis(300)).await;
        progress(0.5, "reading");
        let status =
            if upload.filename.starts_with("bad") { IngestStatus::Failed } else { IngestStatus::Ready };
        let why = ba_protocol::file::Unread {
            message: "not a table".into(),
            said: ba_protocol::Said::new("no_table"),
        };
        let error = (status == IngestStatus::Failed).then_some(&why);
        self.0.set_profile(&upload.conversation_id, &upload.file_id, status, None, error).await.unwrap();
    }
}

#[tokio::test]
async fn progress_of_ingest_comes_as_events() {
    let config = ServerConfig { ingest_grace: Duration::ZERO, ..ServerConfig::default() };
    let app =
        App::start_with(config, |deps| deps.ingest = Some(Arc::new(SlowIngest(deps.store.clone())))).await;
    let up = app.upload(&[("good.csv", CSV), ("bad.csv", CSV)], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    assert_eq!(up.body["data"]["files"][0]["status"], "processing");
    let watch = app.client.get(app.api(&format!("/files/events?conversation_id={id}"))).send().await.unwrap();
    let events = Reader::new(watch).all().await;
    assert!(events.iter().any(|e| e.name == "file.progress" && e.data["message"] == "reading"), "{events:?}");
    let done: Vec<_> = events.iter().filter(|e| e.name == "file.done").map(|e| &e.data).collect();
    assert_eq!(done.len(), 2);
    let bad = done.iter().find(|file| file["filename"] == "bad.csv").unwrap();
    assert_eq!((&bad["status"], &bad["error"]), (&json!("failed"), &json!("not a table")));
    let late = app.client.get(app.api(&format!("/files/events?conversation_id={id}"))).send().await.unwrap();
    assert_eq!(Reader::new(late).all().await.len(), 2, "who comes late sees how it ended");
}

#[tokio::test]
async fn files_a_crash_left_half_read_are_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(dir.path())).await.unwrap();
    let conversation = store.create(&ba_protocol::UserId::local(), "t").await.unwrap().id;
    let mut writer = store.begin_upload(&conversation, "a.csv", None).await.unwrap();
    writer.write(CSV).await.unwrap();
    assert_eq!(writer.finish().await.unwrap().status, IngestStatus::Processing);
    let app = App::start_on(dir, store, ServerConfig::default(), |deps| {
        deps.ingest = Some(Arc::new(SlowIngest(deps.store.clone())));
    })
    .await;
    let watch = app
        .client
        .get(app.api(&format!("/files/events?conversation_id={conversation}")))
        .send()
        .await
        .unwrap();
    let events = Reader::new(watch).all().await;
    assert_eq!(events.last().unwrap().data["status"], "ready");
}

#[tokio::test]
async fn wrong_types_are_refused_by_themselves() {
    let app = App::start().await;
    let mixed = app.upload(&[("a.exe", b"MZ"), ("b.csv", CSV), ("c.csv", b"")], None).await;
    assert_eq!(mixed.status, 200);
    assert_eq!(mixed.body["data"]["files"].as_array().unwrap().len(), 1);
    let rejected = mixed.body["data"]["rejected"].as_array().unwrap();
    assert_eq!(rejected[0]["error"]["code"], "unsupported_file_type");
    assert!(rejected[0]["error"]["message"].as_str().unwrap().contains("csv, tsv, xlsx"));
    assert_eq!(rejected[1]["error"]["code"], "empty_file");

    let before = app.get("/conversations").await.body["data"]["conversations"].as_array().unwrap().len();
    let alone = app.upload(&[("a.exe", b"MZ")], None).await;
    assert_eq!((alone.status, alone.code()), (415, "unsupported_file_type"));
    let none = app.upload(&[], None).await;
    assert_eq!((none.status, none.code()), (400, "no_file"));
    let after = app.get("/conversations").await.body["data"]["conversations"].as_array().unwrap().len();
    assert_eq!(before, after, "a failed upload leaves no conversation");
    let elsewhere = app.upload(&[("b.csv", CSV)], Some("conv_000000000000")).await;
    assert_eq!(elsewhere.status, 404);
}

#[tokio::test]
async fn limits_on_size_and_number_hold() {
    let limits = Limits { upload_bytes: 1000, upload_files: 3, ..Limits::default() };
    let app = App::start_with(ServerConfig { limits, ..ServerConfig::default() }, |_| {}).await;
    let big = vec![b'x'; 5000];
    let one = app.upload(&[("big.csv", &big)], None).await;
    assert_eq!((one.status, one.code()), (413, "too_large"), "{:?}", one.body);
    let mixed = app.upload(&[("big.csv", &big[..1500]), ("ok.csv", CSV)], None).await;
    assert_eq!(mixed.status, 200, "{:?}", mixed.body);
    assert_eq!(mixed.body["data"]["rejected"][0]["error"]["code"], "too_large");
    let many = app.upload(&[("a.csv", CSV), ("b.csv", CSV), ("c.csv", CSV), ("d.csv", CSV)], None).await;
    assert_eq!((many.status, many.code()), (413, "too_many_files"));
}

#[tokio::test]
async fn ten_thousand_parts_are_cut_short() {
    let app = App::start().await;
    let mut body = Vec::new();
    for i in 0..10_000 {
        body.extend_from_slice(
            format!("--B\r\ncontent-disposition: form-data; name=\"f{i}\"\r\n\r\nx\r\n").as_bytes(),
        );
    }
    body.extend_from_slice(b"--B--\r\n");
    let request =
        app.client.post(app.api("/files/upload")).header("content-type", "multipart/form-data; boundary=B");
    let answer = Answer::of(request.body(body).send().await.unwrap()).await;
    assert_eq!((answer.status, answer.code()), (400, "too_many_parts"));

    let files: Vec<(&str, &[u8])> = vec![("a.csv", CSV); 10_000];
    let (kind, body) = multipart(&files, None);
    // The server answers and hangs up before the body's end; either is a refusal.
    let sent = app.client.post(app.api("/files/upload")).header("content-type", kind).body(body).send().await;
    if let Ok(response) = sent {
        assert_eq!(response.status(), 413);
    }
    let left = app.get("/conversations").await;
    assert_eq!(left.body["data"]["conversations"], json!([]));
}

#[tokio::test]
async fn broken_forms_are_errors_not_crashes() {
    let app = App::start().await;
    for (kind, body) in [
        ("multipart/form-data", "--B\r\n"),
        ("multipart/form-data; boundary=B", ""),
        ("multipart/form-data; boundary=B", "garbage"),
        (
            "multipart/form-data; boundary=B",
            "--B\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nx",
        ),
        (
            "multipart/form-data; boundary=B",
            "--B\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nx\r\n--B--\r\n",
        ),
        (
            "multipart/form-data; boundary=B",
            "--B\r\ncontent-disposition: form-data; name=\"conversation_id\"\r\n\r\n../../x\r\n--B--\r\n",
        ),
        ("application/json", "{}"),
    ] {
        let request = app.client.post(app.api("/files/upload")).header("content-type", kind).body(body);
        let answer = Answer::of(request.send().await.unwrap()).await;
        assert!((400..500).contains(&answer.status), "{kind} {body:?}: {} {:?}", answer.status, answer.body);
        assert_eq!(answer.body["success"], false);
    }
    assert_eq!(app.get("/conversations").await.body["data"]["conversations"], json!([]));
}

/// A client on a bare socket, for what a proper client would not do.
fn raw(app: &App, request: Vec<u8>) -> std::net::TcpStream {
    let mut socket = std::net::TcpStream::connect(app.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    socket.write_all(&request).unwrap();
    socket
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_vanishes_mid_upload_leaves_nothing() {
    let app = App::start().await;
    let (kind, body) = multipart(&[("a.csv", &vec![b'x'; 100_000])], None);
    let head = format!(
        "POST /api/v1/files/upload HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut request = head.into_bytes();
    request.extend_from_slice(&body[..50_000]);
    drop(raw(&app, request));
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let all = app.get("/conversations").await;
        if all.body["data"]["conversations"] == json!([]) {
            return;
        }
    }
    panic!("the conversation of a vanished upload stayed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lying_content_length_is_an_error_not_a_hang() {
    let app = App::start().await;
    let send = |length: usize, body: &str| {
        let head = format!(
            "POST /api/v1/agent/query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut socket = raw(&app, head.into_bytes());
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut text = String::new();
        let _ = socket.read_to_string(&mut text);
        text
    };
    let short = tokio::task::block_in_place(|| send(500, "{\"message\":\"x\"}"));
    assert!(!short.contains("200 OK"), "{short}");
    let long = tokio::task::block_in_place(|| send(5, "{\"message\":\"x\"}"));
    assert!(long.starts_with("HTTP/1.1 400"), "{long}");
    assert_eq!(app.get("/health").await.status, 200);
}

// SPEC F3: by name and id, with UTF-8 names, ranges and the policy that disarms HTML.
#[tokio::test]
async fn downloads_are_attachments_under_a_sandbox_policy() {
    let app = App::start().await;
    let up = app.upload(&[("销售.csv", CSV)], None).await;
    let id = up.body["data"]["conversation_id"].as_str().unwrap().to_owned();
    let conversation = id.parse().unwrap();
    app.store.put_artifact_bytes(&conversation, "evil.html", b"<script>alert(1)</script>").await.unwrap();
    app.store.put_artifact_bytes(&conversation, "chart.png", b"\x89PNG").await.unwrap();

    for name in ["%E9%94%80%E5%94%AE.csv", "upload_001", "evil.html", "chart.png"] {
        for query in [format!("?conversation_id={id}"), String::new()] {
            let response =
                app.client.get(app.api(&format!("/files/download/{name}{query}"))).send().await.unwrap();
            assert_eq!(response.status(), 200, "{name}{query}");
            let headers = response.headers();
            assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; "), "{name}");
            assert_eq!(headers["content-security-policy"], "sandbox; default-src 'none'");
            assert_eq!(headers["x-content-type-options"], "nosniff");
        }
    }
    let csv = app.client.get(app.api("/files/download/upload_001")).send().await.unwrap();
    assert!(
        csv.headers()["content-disposition"]
            .to_str()
            .unwrap()
            .contains("filename*=UTF-8''%E9%94%80%E5%94%AE.csv")
    );
    assert_eq!(csv.bytes().await.unwrap(), CSV);
    let png = app.client.get(app.api("/files/download/chart.png")).send().await.unwrap();
    assert_eq!(png.headers()["content-type"], "image/png");

    let part = app
        .client
        .get(app.api("/files/download/upload_001"))
        .header("range", "bytes=0-5")
        .send()
        .await
        .unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.bytes().await.unwrap(), &CSV[..6]);
    let beyond = app
        .client
        .get(app.api("/files/download/upload_001"))
        .header("range", "bytes=999999-")
        .send()
        .await
        .unwrap();
    assert_eq!(beyond.status(), 416);
    for missing in
        ["nothing.csv", "..%2f..%2fetc%2fpasswd", "%2e%2e", "upload_999", "code_none", "%00", "con%0d%0a"]
    {
        let answer = app.get(&format!("/files/download/{missing}?conversation_id={id}")).await;
        assert_eq!(answer.status, 404, "{missing}: {:?}", answer.body);
    }
}

// SPEC A5
#[tokio::test]
async fn saved_code_is_listed_read_versioned_and_downloaded() {
    let app = App::start().await;
    let answer = app.ask("write code").await;
    let id = answer["conversation_id"].as_str().unwrap();
    let saved = &answer["metadata"]["saved_codes"][0];
    let code = saved["code_id"].as_str().unwrap();
    assert!(
        answer["response"]
            .as_str()
            .unwrap()
            .contains(&format!("<!-- CODE_SAVED: {code} | import pandas as pd -->"))
    );
    let list = app.get(&format!("/code?conversation_id={id}")).await;
    assert_eq!(list.body["data"]["code"][0]["code_id"], code);
    let read = app.get(&format!("/code/{code}?conversation_id={id}")).await;
    assert_eq!(read.body["data"]["code"], "import pandas as pd\nprint(1)");
    let versions = app.get(&format!("/code/{code}/versions?conversation_id={id}")).await;
    assert_eq!(versions.body["data"]["versions"].as_array().unwrap().len(), 1);
    assert_eq!(app.get(&format!("/code/{code}?conversation_id={id}&version=9")).await.status, 404);
    let file =
        app.client.get(app.api(&format!("/code/{code}/download?conversation_id={id}"))).send().await.unwrap();
    assert_eq!(file.headers()["content-security-policy"], "sandbox; default-src 'none'");
    assert_eq!(file.text().await.unwrap(), "import pandas as pd\nprint(1)");
    let name = format!("{}.py", code.trim_start_matches("code_"));
    assert_eq!(app.get(&format!("/files/download/{name}?conversation_id={id}")).await.status, 200);
}
