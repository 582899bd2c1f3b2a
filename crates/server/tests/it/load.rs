//! Many readers, slow readers, readers who hang up: none of them costs the others anything.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::kit::{App, CUE, Reader};

const IDLE_READERS: usize = 5_000;

/// Both ends of every connection live in this process.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = (IDLE_READERS * 2 + 500) as u64;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_some_and(|current| current < wanted) {
        let maximum = now.maximum.map(|maximum| maximum.max(wanted));
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
            .expect("the file limit is too low");
    }
}

async fn start(app: &App, message: &str) -> (Reader, String) {
    let request = app.client.post(app.api("/agent/query/stream")).json(&json!({"message": message}));
    let response = request.send().await.unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    (Reader::new(response), run)
}

async fn follow_raw(app: &App, run: &str) -> TcpStream {
    let mut socket = TcpStream::connect(app.address).await.unwrap();
    let head = format!("GET /api/v1/runs/{run}/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    socket
}

async fn read_until(socket: &mut TcpStream, mark: &str) -> String {
    let mut seen = String::new();
    let mut buffer = [0u8; 4096];
    while !seen.contains(mark) {
        let read = tokio::time::timeout(Duration::from_secs(60), socket.read(&mut buffer));
        let read = read.await.expect("a reader went silent").unwrap();
        assert_ne!(read, 0, "closed before {mark}: {seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    seen
}

async fn readers_become(app: &App, wanted: usize) {
    for _ in 0..500 {
        if app.bus.readers() == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} readers, wanted {wanted}", app.bus.readers());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_idle_readers_all_hear_the_end() {
    raise_file_limit();
    let app = App::start().await;
    let (first, run) = start(&app, "never answer").await;
    let mut sockets = Vec::with_capacity(IDLE_READERS);
    for _ in 0..IDLE_READERS {
        sockets.push(follow_raw(&app, &run).await);
    }
    for socket in &mut sockets {
        read_until(socket, "event: run.started").await;
    }
    readers_become(&app, IDLE_READERS + 1).await;
    assert_eq!(app.ask("use the tool").await["response"], "完成：42", "others are served meanwhile");
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
    for socket in &mut sockets {
        read_until(socket, "event: run.cancelled").await;
    }
    drop(first);
    drop(sockets);
    readers_become(&app, 0).await;
    assert!(app.bus.is_empty());
}

#[tokio::test]
async fn a_slow_reader_is_told_and_still_gets_every_durable_event() {
    let app = App::start().await;
    let (mut reader, run) = start(&app, "chatter on cue").await;
    let mut events = vec![reader.next().await.unwrap()];
    CUE.notify_one();
    // It does not read until everything is said, more than a socket holds.
    while app.get(&format!("/runs/{run}")).await.body["data"]["status"] == "running" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    events.extend(reader.all().await);
    let behind = events.iter().find(|event| event.name == "stream.behind").expect("it was not told");
    assert!(behind.data["skipped"].as_u64().unwrap() > 1_000);
    let names: Vec<&str> = events.iter().filter(|e| e.id.is_some()).map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["run.started", "report"]);
}

#[tokio::test]
async fn a_reader_who_never_reads_holds_nothing_up() {
    let app = App::start().await;
    let (_unread, run) = start(&app, "chatter").await;
    let _unread_too = follow_raw(&app, &run).await;
    assert_eq!(app.ask("use the tool").await["response"], "完成：42");
    let mut late = follow_raw(&app, &run).await;
    read_until(&mut late, "event: report").await;
}

#[tokio::test]
async fn readers_who_hang_up_or_close_halfway_are_forgotten() {
    let app = App::start().await;
    let (first, run) = start(&app, "never answer").await;
    let mut gone = follow_raw(&app, &run).await;
    let mut half = follow_raw(&app, &run).await;
    for socket in [&mut gone, &mut half] {
        read_until(socket, "event: run.started").await;
    }
    readers_become(&app, 3).await;
    drop(gone);
    half.shutdown().await.unwrap();
    drop(first);
    readers_become(&app, 0).await;
    // The run itself goes on, and can be followed again.
    let mut back = follow_raw(&app, &run).await;
    read_until(&mut back, "event: run.started").await;
    app.post(&format!("/runs/{run}/cancel"), json!({})).await;
    read_until(&mut back, "event: run.cancelled").await;
}
