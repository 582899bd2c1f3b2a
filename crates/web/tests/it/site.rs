//! A small HTTP/1.1 server that says exactly what a test wants, byte for byte, and remembers who asked.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ba_web::fetch::{Robots, Web, WebConfig};
use ba_web::guard::Guard;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::dns::UdpResolver;

#[derive(Debug, Clone)]
pub struct Asked {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Asked {
    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

pub enum Reply {
    /// Sent as it is, then the connection is closed.
    Bytes(Vec<u8>),
    /// The head, then this piece again and again until the reader goes away.
    Endless { head: Vec<u8>, piece: Vec<u8>, pause: Duration },
}

impl Reply {
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let mut head = head(status, headers);
        head.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
        head.extend(body);
        Self::Bytes(head)
    }

    pub fn html(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[("content-type", "text/html")], body)
    }

    pub fn to(location: &str) -> Self {
        Self::new(302, &[("location", location)], "")
    }

    pub fn endless(headers: &[(&str, &str)], piece: impl Into<Vec<u8>>, pause: Duration) -> Self {
        let mut head = head(200, headers);
        head.extend(b"\r\n");
        Self::Endless { head, piece: piece.into(), pause }
    }
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Some\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.into_bytes()
}

pub struct Site {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Site {
    pub async fn start(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), handler).await
    }

    pub async fn start_at(
        address: SocketAddr,
        handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, count, handler) = (Arc::clone(&asked), Arc::clone(&connections), Arc::new(handler));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (seen, handler) = (Arc::clone(&seen), Arc::clone(&handler));
                tokio::spawn(async move {
                    let _gone = serve(stream, &seen, handler.as_ref()).await;
                });
            }
        });
        Self { address, asked, connections, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The paths asked for, in order.
    pub fn paths(&self) -> Vec<String> {
        self.asked().iter().map(|a| a.path().to_owned()).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Asked>>,
    handler: &(dyn Fn(&Asked) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let text = String::from_utf8(head).unwrap();
    let mut lines = text.lines();
    let line = lines.next().unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|l| l.split_once(':'))
        .map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let asked = Asked { line, headers, body: String::from_utf8(body).unwrap() };
    let reply = handler(&asked);
    seen.lock().push(asked);
    match reply {
        Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
        Reply::Endless { head, piece, pause } => {
            stream.write_all(&head).await?;
            loop {
                stream.write_all(&piece).await?;
                tokio::time::sleep(pause).await;
            }
        }
    }
    stream.shutdown().await
}

/// Opens 127.0.0.1 and the sites' ports, and nothing else: 127.0.0.2 is as private as ever.
pub fn config(sites: &[&Site]) -> WebConfig {
    let guard = Guard {
        ports: sites.iter().map(|s| s.address.port()).collect(),
        private_addresses: vec!["127.0.0.1".parse().unwrap()],
        ..Guard::default()
    };
    WebConfig { guard, robots: Robots::Ignore, host_interval: Duration::ZERO, ..WebConfig::default() }
}

pub fn web(sites: &[&Site]) -> Web {
    Web::new(config(sites)).unwrap()
}

pub fn web_with(config: WebConfig, dns: UdpResolver) -> Web {
    Web::with_resolver(config, Arc::new(dns)).unwrap()
}
