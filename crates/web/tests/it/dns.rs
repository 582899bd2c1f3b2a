//! A DNS responder on UDP, and a client that asks it: names in tests are resolved over the wire.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ba_web::fetch::Resolve;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

const A: u16 = 1;
const AAAA: u16 = 28;

/// The addresses of a name, by how often it was asked for (A records only count).
type Zone = dyn Fn(&str, usize) -> Vec<IpAddr> + Send + Sync;

pub struct Responder {
    pub address: SocketAddr,
    lookups: Arc<Mutex<BTreeMap<String, usize>>>,
    task: JoinHandle<()>,
}

impl Responder {
    pub async fn start(
        address: SocketAddr,
        zone: impl Fn(&str, usize) -> Vec<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        let socket = UdpSocket::bind(address).await.unwrap();
        let address = socket.local_addr().unwrap();
        let lookups = Arc::new(Mutex::new(BTreeMap::new()));
        let counts = Arc::clone(&lookups);
        let task = tokio::spawn(async move {
            let mut packet = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                let answer = respond(&packet[..length], &zone, &counts);
                let _sent = socket.send_to(&answer, from).await;
            }
        });
        Self { address, lookups, task }
    }

    /// How often the addresses of a name were asked for.
    pub fn lookups(&self, name: &str) -> usize {
        self.lookups.lock().get(name).copied().unwrap_or_default()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn respond(query: &[u8], zone: &Zone, counts: &Mutex<BTreeMap<String, usize>>) -> Vec<u8> {
    let (name, end) = read_name(query, 12);
    let kind = u16::from_be_bytes([query[end], query[end + 1]]);
    let asked = {
        let mut counts = counts.lock();
        let count = counts.entry(name.clone()).or_default();
        *count += usize::from(kind == A);
        *count
    };
    let wanted: Vec<IpAddr> = zone(&name, asked.max(1))
        .into_iter()
        .filter(|ip| if kind == A { ip.is_ipv4() } else { kind == AAAA && ip.is_ipv6() })
        .collect();
    let mut answer = query[..2].to_vec();
    let count = u8::try_from(wanted.len()).unwrap();
    answer.extend([0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0]);
    answer.extend(&query[12..end + 4]);
    for ip in wanted {
        answer.extend([0xc0, 12]);
        answer.extend(kind.to_be_bytes());
        answer.extend([0, 1, 0, 0, 0, 0]);
        let octets = match ip {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        answer.extend(u16::try_from(octets.len()).unwrap().to_be_bytes());
        answer.extend(octets);
    }
    answer
}

/// Labels from `at`, in lower case, and where they end.
fn read_name(packet: &[u8], mut at: usize) -> (String, usize) {
    let mut labels = Vec::new();
    loop {
        let length = usize::from(packet[at]);
        at += 1;
        if length == 0 {
            return (labels.join("."), at);
        }
        labels.push(String::from_utf8_lossy(&packet[at..at + length]).to_ascii_lowercase());
        at += length;
    }
}

/// Asks one server for A and AAAA records, over UDP.
#[derive(Clone, Copy)]
pub struct UdpResolver(pub SocketAddr);

impl Resolve for UdpResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (server, host) = (self.0, host.to_owned());
        Box::pin(async move {
            let mut found = Vec::new();
            for kind in [A, AAAA] {
                let socket = UdpSocket::bind("127.0.0.1:0").await?;
                socket.connect(server).await?;
                socket.send(&query(&host, kind)).await?;
                let mut packet = [0; 2048];
                let length = socket.recv(&mut packet).await?;
                found.extend(answers(&packet[..length]));
            }
            Ok(found)
        })
    }
}

fn query(host: &str, kind: u16) -> Vec<u8> {
    let mut packet = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in host.trim_end_matches('.').split('.') {
        packet.push(u8::try_from(label.len()).unwrap());
        packet.extend(label.bytes());
    }
    packet.push(0);
    packet.extend(kind.to_be_bytes());
    packet.extend([0, 1]);
    packet
}

fn answers(packet: &[u8]) -> Vec<IpAddr> {
    let count = u16::from_be_bytes([packet[6], packet[7]]);
    let (_, mut at) = read_name(packet, 12);
    at += 4;
    let mut found = Vec::new();
    for _ in 0..count {
        let length = usize::from(u16::from_be_bytes([packet[at + 10], packet[at + 11]]));
        let data = &packet[at + 12..at + 12 + length];
        found.push(match <[u8; 4]>::try_from(data) {
            Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
            Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(data).unwrap())),
        });
        at += 12 + length;
    }
    found
}
