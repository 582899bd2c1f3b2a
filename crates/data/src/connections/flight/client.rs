//! The calls of Arrow Flight that a reader needs, over gRPC. Speaks only to the server that is configured, and lets no
//! message in that is larger than a row may be.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::OnceCell;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint as Server};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;
use url::Url;

use super::messages::{self, ActionResult, Data, Descriptor, Endpoint, Handshake, Info, Ticket};
use crate::DataError;
use crate::connections::config::decode;
use crate::connections::reach::unreachable;
use crate::connections::rows::{MAX_ROW_BYTES, row_too_large};

/// How long a connection may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);
const CANCEL_WALL: Duration = Duration::from_secs(5);
/// Parts of an answer that are ended one by one.
const MAX_ENDED: usize = 100;
const MAX_MESSAGE_CHARS: usize = 2_000;

/// A channel that connects when it is first used, and again when it broke. Clones share it.
#[derive(Clone)]
pub(super) struct Client {
    channel: Channel,
    sign_in: SignIn,
    /// What the server gave for the password.
    session: std::sync::Arc<OnceCell<Option<MetadataValue<Ascii>>>>,
    timeout: Duration,
}

#[derive(Clone)]
enum SignIn {
    Nobody,
    Token(MetadataValue<Ascii>),
    Password(MetadataValue<Ascii>),
}

impl Client {
    /// `grpc://user:password@host:port`, `grpc+tls://:token@host:port`.
    pub(super) fn new(url: &str, timeout: Duration) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|e| e.to_string())?;
        let secure = matches!(url.scheme(), "grpc+tls" | "grpcs" | "grpc+ssl");
        let host = url.host_str().filter(|h| !h.is_empty()).ok_or("the address has no host")?;
        let port = url.port().ok_or("the address has no port")?;
        let scheme = if secure { "https" } else { "http" };
        let mut server = Server::from_shared(format!("{scheme}://{host}:{port}"))
            .map_err(|e| e.to_string())?
            .connect_timeout(PATIENCE)
            .http2_keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20));
        if secure {
            server = server.tls_config(trusted()).map_err(|e| e.to_string())?;
        }
        Ok(Self {
            channel: server.connect_lazy(),
            sign_in: SignIn::of(&url)?,
            session: std::sync::Arc::default(),
            timeout,
        })
    }

    /// What a statement gives, and where its rows are. Some servers run it now, some when the rows are asked for.
    pub(super) async fn info(&self, descriptor: Descriptor) -> Result<Info, Status> {
        let request = self.request(descriptor).await?;
        let mut grpc = self.grpc().await?;
        let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/GetFlightInfo");
        Ok(grpc.unary(request, path, ProstCodec::default()).await?.into_inner())
    }

    pub(super) async fn rows(&self, ticket: Ticket) -> Result<Streaming<Data>, Status> {
        let request = self.request(ticket).await?;
        let mut grpc = self.grpc().await?;
        let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/DoGet");
        Ok(grpc.server_streaming(request, path, ProstCodec::default()).await?.into_inner())
    }

    /// Ends a statement that nobody waits for any more, of which these parts were not asked for. A server that knows no
    /// cancelling, as Sail, computes them until somebody takes them and goes away again.
    pub(super) async fn cancel(&self, info: Info, unread: Vec<Endpoint>) {
        if self.cancelled(info).await {
            return;
        }
        for ticket in unread.into_iter().take(MAX_ENDED).filter_map(|part| part.ticket) {
            let _gone = tokio::time::timeout(CANCEL_WALL, self.rows(ticket)).await;
        }
    }

    async fn cancelled(&self, info: Info) -> bool {
        let body = prost::Message::encode_to_vec(&messages::CancelInfo { info: Some(info) });
        let action = messages::Action { kind: "CancelFlightInfo".to_owned(), body: body.into() };
        let asked = async {
            let request = self.request(action).await?;
            let mut grpc = self.grpc().await?;
            let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/DoAction");
            let codec = ProstCodec::<messages::Action, ActionResult>::default();
            grpc.server_streaming(request, path, codec).await?.into_inner().message().await
        };
        matches!(tokio::time::timeout(CANCEL_WALL, asked).await, Ok(Ok(_)))
    }

    async fn grpc(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(MAX_ROW_BYTES);
        grpc.ready().await.map_err(|e| Status::from_error(Box::new(e)))?;
        Ok(grpc)
    }

    async fn request<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        // The server learns how long is waited for it.
        request.set_timeout(self.timeout);
        let given = match &self.sign_in {
            SignIn::Nobody => None,
            SignIn::Token(token) => Some(token.clone()),
            SignIn::Password(password) => {
                let session = self.session.get_or_try_init(|| self.shake_hands(password.clone())).await?;
                Some(session.clone().unwrap_or_else(|| password.clone()))
            }
        };
        if let Some(given) = given {
            request.metadata_mut().insert("authorization", given);
        }
        Ok(request)
    }

    /// A token for the password; `None` from a server that wants the password each time.
    async fn shake_hands(
        &self,
        password: MetadataValue<Ascii>,
    ) -> Result<Option<MetadataValue<Ascii>>, Status> {
        let mut request = Request::new(tokio_stream::once(Handshake::default()));
        request.metadata_mut().insert("authorization", password);
        let mut grpc = self.grpc().await?;
        let path = PathAndQuery::from_static("/arrow.flight.protocol.FlightService/Handshake");
        let codec = ProstCodec::<Handshake, Handshake>::default();
        match grpc.streaming(request, path, codec).await {
            Ok(mut answer) => match answer.metadata().get("authorization").cloned() {
                Some(token) => Ok(Some(token)),
                None => {
                    let said = answer.get_mut().message().await?.map(|m| m.payload).unwrap_or_default();
                    let token = String::from_utf8_lossy(&said).into_owned();
                    Ok(token_value(&token).filter(|_| !token.is_empty()))
                }
            },
            Err(status) if status.code() == Code::Unimplemented => Ok(None),
            Err(status) => Err(status),
        }
    }
}

impl SignIn {
    fn of(url: &Url) -> Result<Self, String> {
        let (user, password) = (decode(url.username()), decode(url.password().unwrap_or_default()));
        let odd = || "the password cannot be sent".to_owned();
        Ok(match (user.is_empty(), password.is_empty()) {
            (true, true) => Self::Nobody,
            (true, false) => Self::Token(token_value(&password).ok_or_else(odd)?),
            _ => {
                let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
                Self::Password(basic.parse().map_err(|_| odd())?)
            }
        })
    }
}

fn token_value(token: &str) -> Option<MetadataValue<Ascii>> {
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The certificates that this machine trusts.
fn trusted() -> ClientTlsConfig {
    use std::fmt::Write;
    let pem = |der: &[u8]| {
        let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
        for line in STANDARD.encode(der).as_bytes().chunks(64) {
            let _ = writeln!(text, "{}", String::from_utf8_lossy(line));
        }
        Certificate::from_pem(text + "-----END CERTIFICATE-----\n")
    };
    let roots = rustls_native_certs::load_native_certs().certs;
    ClientTlsConfig::new().ca_certificates(roots.iter().map(|der| pem(der.as_ref())))
}

/// What a refusal of the server, or of the way to it, means.
pub(super) fn failed(status: &Status) -> DataError {
    let message = ba_protocol::text::shorten(status.message(), MAX_MESSAGE_CHARS);
    match status.code() {
        Code::DeadlineExceeded => DataError::Timeout { what: "the query".into(), seconds: 0 },
        // The channel's own cancellation, when the time that was given to it is over.
        Code::Cancelled if message.contains("imeout") => {
            DataError::Timeout { what: "the query".into(), seconds: 0 }
        }
        Code::OutOfRange if message.contains("decoded message length too large") => row_too_large(),
        Code::Unauthenticated | Code::PermissionDenied => unreachable(message),
        Code::Unavailable => unreachable(deepest(status)),
        _ => DataError::query("SQL_FAILED", message),
    }
}

/// The last cause tells what happened: `transport error` alone does not.
fn deepest(status: &Status) -> String {
    let mut cause: &dyn std::error::Error = status;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let why = cause.to_string();
    if why.contains("refused") {
        "connection refused: no server listens there".to_owned()
    } else if why.contains("lookup") || why.contains("dns") {
        "unknown host".to_owned()
    } else if why.contains("deadline") || why.contains("timed out") {
        "the server does not answer".to_owned()
    } else {
        ba_protocol::text::shorten(&why, MAX_MESSAGE_CHARS)
    }
}
