//! Learns the time zone that a PostgreSQL server gives an account. The driver always asks for UTC when it signs in and no
//! statement tells afterwards what the server would have chosen, so one short connection signs in without asking.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::{backend::Message, frontend};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::config::{SecretUrl, decode};

const PATIENCE: Duration = Duration::from_secs(10);
/// A greeting is short; more is not PostgreSQL.
const MAX_GREETING: usize = 1 << 20;

trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// The server's own zone, as it would be for `psql` with the same account.
pub(super) async fn learn(options: &PgConnectOptions, address: &SecretUrl) -> io::Result<String> {
    let url = url::Url::parse(address.expose()).map_err(io::Error::other)?;
    let password = decode(url.password().unwrap_or_default());
    let root = url.query_pairs().find(|(name, _)| name == "sslrootcert" || name == "ssl-root-cert");
    let root = root.map(|(_, file)| file.into_owned());
    let work = async {
        let wire = connect(options, root.as_deref().map(Path::new)).await?;
        ask(wire, options, &password).await
    };
    tokio::time::timeout(PATIENCE, work).await?
}

async fn ask(mut wire: Box<dyn Wire>, options: &PgConnectOptions, password: &str) -> io::Result<String> {
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

async fn next(wire: &mut Box<dyn Wire>, heard: &mut BytesMut) -> io::Result<Message> {
    loop {
        if let Some(message) = Message::parse(heard)? {
            return Ok(message);
        }
        if heard.len() > MAX_GREETING || wire.read_buf(heard).await? == 0 {
            return Err(unexpected());
        }
    }
}

async fn connect(options: &PgConnectOptions, root: Option<&Path>) -> io::Result<Box<dyn Wire>> {
    if let Some(socket) = options.get_socket() {
        let file = socket.join(format!(".s.PGSQL.{}", options.get_port()));
        return Ok(Box::new(UnixStream::connect(file).await?));
    }
    let mut wire = TcpStream::connect((options.get_host(), options.get_port())).await?;
    let tls = match options.get_ssl_mode() {
        PgSslMode::Disable | PgSslMode::Allow => return Ok(Box::new(wire)),
        PgSslMode::Prefer | PgSslMode::Require => any_certificate()?,
        PgSslMode::VerifyCa | PgSslMode::VerifyFull => verified(root)?,
    };
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    wire.write_all(&request).await?;
    match (wire.read_u8().await?, options.get_ssl_mode()) {
        (b'S', _) => {
            let name = ServerName::try_from(options.get_host().to_owned()).map_err(io::Error::other)?;
            Ok(Box::new(TlsConnector::from(Arc::new(tls)).connect(name, wire).await?))
        }
        (_, PgSslMode::Prefer) => Ok(Box::new(wire)),
        _ => Err(io::Error::other("the server has no TLS")),
    }
}

/// The system's certificate authorities and the one of the address; the host's name counts in both modes.
fn verified(root: Option<&Path>) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = root {
        for certificate in CertificateDer::pem_file_iter(file).map_err(io::Error::other)? {
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
    }
    Ok(ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// What `sslmode=prefer` and `require` mean to the driver: encrypted, whoever answers.
fn any_certificate() -> io::Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    Ok(ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        .with_no_client_auth())
}

#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
