//! The few messages of Arrow Flight and Flight SQL that a reader needs, by their numbers in the protocol. No logic.

use bytes::Bytes;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Handshake {
    #[prost(uint64, tag = "1")]
    pub protocol_version: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub payload: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Descriptor {
    /// 2: a command.
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(bytes = "bytes", tag = "2")]
    pub command: Bytes,
    #[prost(string, repeated, tag = "3")]
    pub path: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Info {
    #[prost(bytes = "bytes", tag = "1")]
    pub schema: Bytes,
    #[prost(message, optional, tag = "2")]
    pub descriptor: Option<Descriptor>,
    #[prost(message, repeated, tag = "3")]
    pub endpoints: Vec<Endpoint>,
    #[prost(int64, tag = "4")]
    pub total_records: i64,
    #[prost(int64, tag = "5")]
    pub total_bytes: i64,
    #[prost(bool, tag = "6")]
    pub ordered: bool,
    #[prost(bytes = "bytes", tag = "7")]
    pub app_metadata: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Endpoint {
    #[prost(message, optional, tag = "1")]
    pub ticket: Option<Ticket>,
    #[prost(message, repeated, tag = "2")]
    pub locations: Vec<Location>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(string, tag = "1")]
    pub uri: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Ticket {
    #[prost(bytes = "bytes", tag = "1")]
    pub ticket: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Data {
    #[prost(message, optional, tag = "1")]
    pub descriptor: Option<Descriptor>,
    #[prost(bytes = "bytes", tag = "2")]
    pub header: Bytes,
    #[prost(bytes = "bytes", tag = "3")]
    pub app_metadata: Bytes,
    #[prost(bytes = "bytes", tag = "1000")]
    pub body: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Action {
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub body: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ActionResult {
    #[prost(bytes = "bytes", tag = "1")]
    pub body: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CancelInfo {
    #[prost(message, optional, tag = "1")]
    pub info: Option<Info>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct StatementQuery {
    #[prost(string, tag = "1")]
    query: String,
}

#[derive(Clone, PartialEq, Message)]
struct GetTables {
    #[prost(bool, tag = "5")]
    include_schema: bool,
}

/// One statement to be run.
pub(super) fn statement(sql: &str) -> Descriptor {
    command("CommandStatementQuery", &StatementQuery { query: sql.to_owned() })
}

/// All tables with their columns.
pub(super) fn tables() -> Descriptor {
    command("CommandGetTables", &GetTables { include_schema: true })
}

fn command(name: &str, message: &impl Message) -> Descriptor {
    let any = Any {
        kind: format!("type.googleapis.com/arrow.flight.protocol.sql.{name}"),
        value: message.encode_to_vec(),
    };
    Descriptor { kind: 2, command: any.encode_to_vec().into(), path: Vec::new() }
}
