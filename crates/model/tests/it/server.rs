//! A loopback server that sends exactly the bytes it is told to, piece by piece, and records what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Sends these bytes again and again, with a pause between, until the client goes away.
    Repeat(Vec<u8>, Duration),
    /// Waits until the client goes away.
    Hang,
}

pub type Exchange = Vec<Step>;

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: Value,
}

pub struct Server {
    pub url: Url,
    asked: Arc<Mutex<Vec<Asked>>>,
    gone: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Answers the first request with the first exchange, and so on; the last one repeats.
    pub async fn start(exchanges: Vec<Exchange>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&asked);
        let (went, gone) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (exchanges, record, went) = (exchanges.clone(), Arc::clone(&record), went.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, &exchanges, &record).await;
                    let _ = went.send(());
                });
            }
        });
        Self { url, asked, gone }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns once a connection has ended.
    pub async fn connection_ended(&mut self) {
        self.gone.recv().await.unwrap();
    }
}

async fn serve(
    mut stream: TcpStream,
    exchanges: &[Exchange],
    record: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let asked = read_request(&mut stream).await?;
    let number = {
        let mut record = record.lock().unwrap();
        record.push(asked);
        record.len() - 1
    };
    for step in &exchanges[number.min(exchanges.len() - 1)] {
        match step {
            Step::Send(bytes) => stream.write_all(bytes).await?,
            Step::Pause(pause) => tokio::time::sleep(*pause).await,
            Step::Repeat(bytes, pause) => loop {
                stream.write_all(bytes).await?;
                tokio::time::sleep(*pause).await;
            },
            Step::Hang => {
                let mut byte = [0];
                while stream.read(&mut byte).await? > 0 {}
            }
        }
    }
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Asked> {
    let mut bytes = Vec::new();
    let head_end = loop {
        let mut buffer = [0; 8192];
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|l| l.strip_prefix("content-length: "))
        .map_or(0, |l| l.trim().parse::<usize>().unwrap());
    let mut body = bytes[head_end..].to_vec();
    while body.len() < length {
        let mut buffer = vec![0; length - body.len()];
        let read = stream.read(&mut buffer).await?;
        body.extend_from_slice(&buffer[..read]);
    }
    Ok(Asked { head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// A response whose body ends when the connection does.
pub fn head(status: u16, content_type: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n").into_bytes()
}

/// A whole response.
pub fn respond(status: u16, content_type: &str, extra: &str, body: &str) -> Exchange {
    let length = body.len();
    vec![Step::Send(
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{extra}connection: close\r\n\r\n{body}"
        )
        .into_bytes(),
    )]
}

pub fn json(status: u16, body: &str) -> Exchange {
    respond(status, "application/json", "", body)
}

/// An event stream from pieces of bytes, each sent on its own.
pub fn stream(pieces: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Exchange {
    let mut steps = vec![Step::Send(head(200, "text/event-stream"))];
    for piece in pieces {
        steps.push(Step::Pause(Duration::from_millis(2)));
        steps.push(Step::Send(piece.into()));
    }
    steps
}
