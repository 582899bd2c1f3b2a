//! Turns per second over HTTP with durable storage, beside FastAPI + LangGraph with its in-memory checkpointer.
//!
//! `benches/agent-server/run.sh`. Each server is a process of its own; one small client drives both, one after the
//! other. The model answers at once (one tool call, then complete) and the tool runs one SQLite query, in both.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may stop"
)]

mod parts;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// As the program itself has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WARM_UP: Duration = Duration::from_secs(2);
const MEASURE: Duration = Duration::from_secs(8);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).map(|at| arguments[at + 1].clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(address) = value("--serve") {
        return runtime.block_on(parts::serve(&address));
    }
    runtime.block_on(compare(value("--peer").map(PathBuf::from)));
}

struct Figures {
    turns: f64,
    p50: f64,
    p99: f64,
}

async fn compare(peer: Option<PathBuf>) {
    let ours =
        Command::new(std::env::current_exe().unwrap()).args(["--serve", "127.0.0.1:8471"]).spawn().unwrap();
    let ours = measure("ba-agent", "127.0.0.1:8471", Server(ours)).await;
    let Some(peer) = peer else { return };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches/agent-server");
    let child = Command::new(peer)
        .args(["peer:app", "--host", "127.0.0.1", "--port", "8472", "--no-access-log", "--loop", "uvloop"])
        .current_dir(folder)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let theirs = measure("FastAPI + LangGraph", "127.0.0.1:8472", Server(child)).await;
    for (at, n) in [1, 16].into_iter().enumerate() {
        let (a, b) = (&ours[at], &theirs[at]);
        println!(
            "at {n:>2}: {:.1}x the turns per second, {:.2}x its p50, {:.2}x its p99",
            a.turns / b.turns,
            a.p50 / b.p50,
            a.p99 / b.p99
        );
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

async fn measure(name: &str, address: &'static str, server: Server) -> Vec<Figures> {
    let started = Instant::now();
    while TcpStream::connect(address).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "{name} did not start");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let idle = server.resident_mb();
    let mut all = Vec::new();
    for clients in [1, 16] {
        drive(address, clients, WARM_UP).await;
        let figures = drive(address, clients, MEASURE).await;
        println!(
            "{name:>20}  {clients:>2} clients: {:>7.0} turns/s  p50 {:>6.2} ms  p99 {:>6.2} ms",
            figures.turns, figures.p50, figures.p99
        );
        all.push(figures);
    }
    println!("{name:>20}  resident: {idle:.0} MB idle, {:.0} MB after the load", server.resident_mb());
    all
}

async fn drive(address: &'static str, clients: usize, time: Duration) -> Figures {
    let end = Instant::now() + time;
    let began = Instant::now();
    let tasks: Vec<_> = (0..clients).map(|_| tokio::spawn(client(address, end))).collect();
    let mut times: Vec<f64> = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    let took = began.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let rank = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank"
        )]
        let at = (times.len() as f64 * share) as usize;
        times[at.min(times.len() - 1)]
    };
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let turns = times.len() as f64 / took;
    Figures { turns, p50: rank(0.5), p99: rank(0.99) }
}

/// One keep-alive connection, question after question, each in a conversation of its own.
async fn client(address: &'static str, end: Instant) -> Vec<f64> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let body = r#"{"message":"total sales by region"}"#;
    let request = format!(
        "POST /api/v1/agent/query HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut times = Vec::new();
    let mut buffer = Vec::with_capacity(64 * 1024);
    while Instant::now() < end {
        let asked = Instant::now();
        socket.write_all(request.as_bytes()).await.unwrap();
        buffer.clear();
        read_answer(&mut socket, &mut buffer).await;
        times.push(asked.elapsed().as_secs_f64() * 1e3);
        assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer));
    }
    times
}

async fn read_answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) {
    loop {
        let read = socket.read_buf(buffer).await.unwrap();
        assert_ne!(read, 0, "the server hung up");
        let Some(head) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|l| l.strip_prefix("content-length: ")).expect("no length");
        if buffer.len() >= head + 4 + length.trim().parse::<usize>().unwrap() {
            return;
        }
    }
}
