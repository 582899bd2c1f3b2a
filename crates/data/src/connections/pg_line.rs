//! The line to a PostgreSQL server: a socket, encrypted as `sslmode` of the address says. The driver's own encryption is off,
//! so that the wire can read what the server sends. Signs in nowhere and reads no message.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::wire::Stream;

#[derive(Debug, Clone)]
pub(super) struct PgLine {
    host: String,
    port: u16,
    /// The server's socket file, where it is not reached by network.
    file: Option<PathBuf>,
    mode: PgSslMode,
    /// Certificate authorities of the owner's, and what this side shows.
    root: Option<PathBuf>,
    shown: Option<(PathBuf, PathBuf)>,
}

impl PgLine {
    /// From the driver's reading of an address, and the files that the address names.
    pub(super) fn new(options: &PgConnectOptions, address: &str) -> Result<Self, String> {
        let url = url::Url::parse(address).map_err(|e| e.to_string())?;
        let named = |names: [&str; 3]| {
            let found = url.query_pairs().find(|(name, _)| names.contains(&name.as_ref()));
            found.map(|(_, file)| PathBuf::from(file.as_ref()))
        };
        let host = options.get_host();
        let folder = options.get_socket().cloned().or_else(|| host.starts_with('/').then(|| host.into()));
        let shown = match (
            named(["sslcert", "ssl-cert", "ssl-client-cert"]),
            named(["sslkey", "ssl-key", "ssl-client-key"]),
        ) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("sslcert and sslkey are given together".into()),
        };
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: options.get_port(),
            file: folder.map(|folder| folder.join(socket_name(options.get_port()))),
            mode: options.get_ssl_mode(),
            root: named(["sslrootcert", "ssl-root-cert", "ssl-ca"]),
            shown,
        })
    }

    pub(super) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        if let Some(file) = &self.file {
            return Ok(Box::new(UnixStream::connect(file).await?));
        }
        let mut wire = TcpStream::connect((self.host.as_str(), self.port)).await?;
        wire.set_nodelay(true)?;
        if matches!(self.mode, PgSslMode::Disable | PgSslMode::Allow) {
            return Ok(Box::new(wire));
        }
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        wire.write_all(&request).await?;
        match (wire.read_u8().await?, self.mode) {
            (b'S', _) => {
                let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
                Ok(Box::new(TlsConnector::from(Arc::new(self.tls()?)).connect(name, wire).await?))
            }
            (_, PgSslMode::Prefer) => Ok(Box::new(wire)),
            _ => Err(io::Error::other("the server has no TLS")),
        }
    }

    fn tls(&self) -> io::Result<ClientConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(self.verifier(provider)?);
        match &self.shown {
            None => Ok(config.with_no_client_auth()),
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
                config.with_client_auth_cert(certificates(certificate)?, key).map_err(io::Error::other)
            }
        }
    }

    /// Whom `sslmode` trusts: the system's certificate authorities and the one of the address, or whoever answers.
    fn verifier(&self, provider: Arc<CryptoProvider>) -> io::Result<Arc<dyn ServerCertVerifier>> {
        if !matches!(self.mode, PgSslMode::VerifyCa | PgSslMode::VerifyFull) {
            return Ok(Arc::new(Anyone(provider)));
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for certificate in self.root.as_deref().map_or(Ok(Vec::new()), certificates)? {
            roots.add(certificate).map_err(io::Error::other)?;
        }
        let known = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(io::Error::other)?;
        Ok(if matches!(self.mode, PgSslMode::VerifyFull) { known } else { Arc::new(AnyName(known)) })
    }
}

/// What a server on this port calls its socket, and the driver looks for.
pub(super) fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

fn certificates(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
    all.map(|certificate| certificate.map_err(io::Error::other)).collect()
}

/// `sslmode=verify-ca`: signed by somebody known, for whatever host.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// `sslmode=prefer` and `require`: encrypted, whoever answers.
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
