//! Learns the time zone that a PostgreSQL server gives an account. The driver always asks for UTC when it signs in and no
//! statement tells afterwards what the server would have chosen, so one short connection signs in without asking.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::{backend::Message, frontend};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::config::{SecretUrl, decode};
use super::pg_line::PgLine;
use super::wire::Stream;

const PATIENCE: Duration = Duration::from_secs(10);
/// A greeting is short; more is not PostgreSQL.
const MAX_GREETING: usize = 1 << 20;

/// The server's own zone, as it would be for `psql` with the same account.
pub(super) async fn learn(
    line: &PgLine,
    options: &PgConnectOptions,
    address: &SecretUrl,
) -> io::Result<String> {
    let url = url::Url::parse(address.expose()).map_err(io::Error::other)?;
    let password = decode(url.password().unwrap_or_default());
    let work = async { ask(line.connect().await?, options, &password).await };
    tokio::time::timeout(PATIENCE, work).await?
}

async fn ask(mut wire: Box<dyn Stream>, options: &PgConnectOptions, password: &str) -> io::Result<String> {
    let user = options.get_username();
    let mut out = BytesMut::new();
    let mut greeting = vec![("user", user), ("client_encoding", "UTF8"), ("application_name", "ba-agent")];
    greeting.extend(options.get_database().map(|name| ("database", name)));
    greeting.extend(options.get_options().map(|given| ("options", given)));
    frontend::startup_message(greeting, &mut out)?;
    let mut heard = BytesMut::new();
    let mut scram: Option<ScramSha256> = None;
    loop {
        wire.write_all(&out.split()).await?;
        wire.flush().await?;
        match next(&mut wire, &mut heard).await? {
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(password.as_bytes(), &mut out)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(user.as_bytes(), password.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut out)?;
            }
            Message::AuthenticationSasl(_) => {
                let exchange = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, exchange.message(), &mut out)?;
                scram = Some(exchange);
            }
            Message::AuthenticationSaslContinue(body) => {
                let exchange = scram.as_mut().ok_or_else(unexpected)?;
                exchange.update(body.data())?;
                frontend::sasl_response(exchange.message(), &mut out)?;
            }
            Message::AuthenticationSaslFinal(body) => {
                scram.as_mut().ok_or_else(unexpected)?.finish(body.data())?;
            }
            Message::ParameterStatus(body) if body.name()?.eq_ignore_ascii_case("timezone") => {
                let zone = body.value()?.to_owned();
                frontend::terminate(&mut out);
                wire.write_all(&out).await?;
                return Ok(zone);
            }
            Message::AuthenticationOk | Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
            Message::BackendKeyData(_) => {}
            // Ready without a word about its zone, an error, or a way to sign in that only the driver knows.
            _ => return Err(unexpected()),
        }
    }
}

fn unexpected() -> io::Error {
    io::Error::other("the server did not tell its time zone when signing in")
}

async fn next(wire: &mut Box<dyn Stream>, heard: &mut BytesMut) -> io::Result<Message> {
    loop {
        if let Some(message) = Message::parse(heard)? {
            return Ok(message);
        }
        if heard.len() > MAX_GREETING || wire.read_buf(heard).await? == 0 {
            return Err(unexpected());
        }
    }
}
