//! What strangers and careless clients send at the edges: budgets of bytes, of time and of places (SPEC H1, H5).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ba_server::{Access, ServerConfig};
use ba_store::UserRole;
use ba_testkit::{Edge, budget};
use serde_json::json;

use crate::kit::App;

fn connect(app: &App, head: &str) -> TcpStream {
    let mut socket = TcpStream::connect(app.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(head.as_bytes()).unwrap();
    socket
}

fn answer(socket: &mut TcpStream) -> String {
    let mut text = String::new();
    let _ = socket.read_to_string(&mut text);
    text
}

#[test]
fn the_head_of_a_part_has_a_byte_budget() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let edge = Edge { name: "upload: head of a part", budget_mb: 1, sent_mb: 600, most_mb: 60 };
    let start = || runtime.block_on(App::start());
    budget("edges::the_head_of_a_part_has_a_byte_budget", &edge, start, |app| {
        let mut socket = connect(
            &app,
            "POST /api/v1/files/upload HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\
             content-type: multipart/form-data; boundary=X\r\ncontent-length: 629145600\r\n\r\n\
             --X\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nx-long: ",
        );
        let piece = vec![b'a'; 1 << 20];
        for _ in 0..600 {
            if socket.write_all(&piece).is_err() {
                break;
            }
        }
        let text = answer(&mut socket);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 431"), "{text}");
    });
}

/// A body ten times as long as a question may be is refused before it is held.
#[test]
fn a_body_has_a_byte_budget() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let edge = Edge { name: "request: JSON body", budget_mb: 4, sent_mb: 400, most_mb: 40 };
    let start = || runtime.block_on(App::start());
    budget("edges::a_body_has_a_byte_budget", &edge, start, |app| {
        for head in ["content-length: 419430400\r\n\r\n", "transfer-encoding: chunked\r\n\r\n19000000\r\n"] {
            let mut socket = connect(
                &app,
                &format!(
                    "POST /api/v1/agent/query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n{head}"
                ),
            );
            let piece = vec![b' '; 1 << 20];
            for _ in 0..400 {
                if socket.write_all(&piece).is_err() {
                    break;
                }
            }
            let text = answer(&mut socket);
            assert!(text.is_empty() || text.starts_with("HTTP/1.1 413"), "{text}");
        }
    });
}

#[tokio::test]
async fn an_ordinary_form_with_large_content_passes() {
    let app = App::start().await;
    // Parts of other names too.
    let (kind, body) = crate::kit::multipart(&[("a.csv", &vec![b'1'; 5 << 20]), ("b.csv", b"a,b\n")], None);
    let mut odd = b"--XBOUNDARYX\r\ncontent-disposition: form-data; name=\"other\"\r\n\r\n".to_vec();
    odd.extend(vec![b'z'; 3 << 20]);
    odd.extend(b"\r\n");
    odd.extend(body);
    let request = app.client.post(app.api("/files/upload")).header("content-type", kind).body(odd);
    let taken = crate::kit::Answer::of(request.send().await.unwrap()).await;
    assert_eq!(
        (taken.status, taken.body["data"]["files"].as_array().unwrap().len()),
        (200, 2),
        "{:?}",
        taken.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_trickles_is_given_up() {
    let mut config = ServerConfig::default();
    config.limits.body_span = Duration::from_millis(500);
    let app = App::start_with(config, |_| {}).await;
    for path in ["/api/v1/agent/query", "/api/v1/files/upload", "/api/v1/conversations/import"] {
        let kind =
            if path.ends_with("upload") { "multipart/form-data; boundary=X" } else { "application/json" };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\ncontent-length: 100000\r\n\r\n"
        );
        tokio::task::block_in_place(|| {
            let began = Instant::now();
            let mut socket = connect(&app, &head);
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            let mut gone = false;
            while !gone && began.elapsed() < Duration::from_secs(10) {
                let ended = socket.read(&mut [0; 512]).is_ok();
                gone = ended || socket.write_all(b" ").is_err();
            }
            assert!(gone, "{path}: a byte every 50 ms held the server for {:?}", began.elapsed());
        });
    }
    // One that comes in good time takes as long as it wants.
    assert_eq!(app.post("/agent/query", json!({"message": "hello"})).await.status, 200);
}

async fn with_sign_in(change: impl FnOnce(&mut ServerConfig)) -> (App, String) {
    let mut config = ServerConfig { access: Access::SignIn, ..ServerConfig::default() };
    change(&mut config);
    let dir = tempfile::tempdir().unwrap();
    let store = ba_store::Store::open(ba_store::StoreConfig::local(dir.path())).await.unwrap();
    let user = store.create_user("alice", "-", UserRole::User).await.unwrap();
    let secret = ba_server::auth::secret::Secret::new_key();
    store.create_key(&user.id, &secret.hash, "").await.unwrap();
    (App::start_on(dir, store, config, |_| {}).await, secret.token)
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_of_one_address_leave_room_for_others() {
    let (app, key) = with_sign_in(|config| config.limits.connections_per_address = 20).await;
    let idle: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(app.address).unwrap()).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let closed = tokio::task::block_in_place(|| {
        let is_closed = |mut socket: &TcpStream| {
            socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            matches!(socket.read(&mut [0; 1]), Ok(0))
                || matches!(socket.read(&mut [0; 1]), Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset)
        };
        idle.iter().filter(|socket| is_closed(socket)).count()
    });
    assert_eq!(closed, 80, "all but twenty");
    drop(idle);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let list = app.client.get(app.api("/conversations")).bearer_auth(&key).send().await.unwrap();
    assert_eq!(list.status(), 200);
}

#[tokio::test]
async fn one_person_has_so_many_questions_at_once() {
    let (app, key) = with_sign_in(|config| config.limits.runs_per_person = 2).await;
    let ask = |message: &'static str| {
        let request = app.client.post(app.api("/agent/query/stream")).bearer_auth(&key);
        request.json(&json!({"message": message})).send()
    };
    let going = [ask("never answer 1").await.unwrap(), ask("never answer 2").await.unwrap()];
    let third = ask("third").await.unwrap();
    assert_eq!(third.status(), 429);
    assert!(third.headers().contains_key("retry-after"));
    let body: serde_json::Value = third.json().await.unwrap();
    assert_eq!(body["error"]["code"], "too_many_runs");
    let run = going[0].headers()["x-run-id"].to_str().unwrap().to_owned();
    let cancel = app.client.post(app.api(&format!("/runs/{run}/cancel"))).bearer_auth(&key).send();
    assert_eq!(cancel.await.unwrap().status(), 200);
    for _ in 0..100 {
        if ask("third again").await.unwrap().status() == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("a place that was free again could not be taken");
}
