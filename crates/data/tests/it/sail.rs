//! A real Arrow Flight SQL server, LakeSail's, started once for all tests; and the one way of theirs to write to it, which
//! the connections do not have. `BA_SAIL` names the program `sail` of the package `pysail`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;
use tonic_prost::ProstCodec;

use super::servers::{free_port, spawn_watched, wait_for};
use super::support::block;

pub struct Sail {
    pub port: u16,
    pid: u32,
    _dir: tempfile::TempDir,
}

/// One server per set of variables would be as good; one serves them all.
pub fn sail() -> &'static Sail {
    static SERVER: OnceLock<Sail> = OnceLock::new();
    SERVER.get_or_init(|| start(&[]))
}

pub fn start(environment: &[(&str, String)]) -> Sail {
    let program = std::env::var_os("BA_SAIL").map(PathBuf::from).expect("BA_SAIL names the program sail");
    let dir = tempfile::Builder::new().prefix("ba-sail").tempdir().unwrap();
    let port = free_port();
    let mut server = Command::new(program);
    server.args(["flight", "server", "--port", &port.to_string(), "-C"]).arg(dir.path());
    server.envs(environment.iter().map(|(name, value)| (name, value)));
    #[expect(clippy::zombie_processes, reason = "ends with the process that started it")]
    let process = spawn_watched(server);
    wait_for("Sail", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    Sail { port, pid: process.id(), _dir: dir }
}

#[derive(Clone, PartialEq, Message)]
struct Text {
    #[prost(string, tag = "1")]
    text: String,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Descriptor {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(bytes = "vec", tag = "2")]
    command: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Info {
    #[prost(message, repeated, tag = "3")]
    endpoints: Vec<Part>,
}

#[derive(Clone, PartialEq, Message)]
struct Part {
    #[prost(message, optional, tag = "1")]
    ticket: Option<Ticket>,
}

#[derive(Clone, PartialEq, Message)]
struct Ticket {
    #[prost(bytes = "vec", tag = "1")]
    ticket: Vec<u8>,
}

impl Sail {
    pub fn url(&self) -> String {
        format!("grpc://127.0.0.1:{}", self.port)
    }

    /// Hundredths of a second that it has computed so far.
    pub fn computed(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        let after_name = stat.rsplit(')').next().unwrap();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// Any statement, past every guard.
    pub fn run(&self, sql: &str) {
        let address = format!("http://127.0.0.1:{}", self.port);
        block(async {
            let channel = Endpoint::from_shared(address).unwrap().connect().await.unwrap();
            let kind = "type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery".to_owned();
            let any = Any { kind, value: Text { text: sql.to_owned() }.encode_to_vec() };
            let asked = tonic::Request::new(Descriptor { kind: 2, command: any.encode_to_vec() });
            let mut grpc = Grpc::new(channel);
            grpc.ready().await.unwrap();
            let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/GetFlightInfo");
            let codec = ProstCodec::<Descriptor, Info>::default();
            let info = grpc.unary(asked, path, codec).await.unwrap().into_inner();
            for part in info.endpoints {
                grpc.ready().await.unwrap();
                let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/DoGet");
                let codec = ProstCodec::<Ticket, Text>::default();
                let asked = tonic::Request::new(part.ticket.unwrap());
                let mut rows = grpc.server_streaming(asked, path, codec).await.unwrap().into_inner();
                // The messages are not read, only waited for.
                while let Ok(Some(_)) = rows.message().await {}
            }
        });
    }
}
