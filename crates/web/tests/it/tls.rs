//! HTTPS: HTTP/2 where the server has it, and no page from a server whose certificate is not valid.

use std::net::SocketAddr;
use std::sync::Arc;

use ba_web::fetch::{FetchError, Robots, Web, WebConfig};
use ba_web::guard::Guard;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::dns::{Responder, UdpResolver};

struct Secure {
    address: SocketAddr,
    certificate: Vec<u8>,
}

/// A server for `name` that answers with the version of HTTP it was asked in.
async fn secure(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Secure {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut tls = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let answer = hyper::service::service_fn(|request: Request<Incoming>| async move {
                    Ok::<_, hyper::Error>(Response::new(format!("{:?}", request.version())))
                });
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _closed = builder.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    Secure { address, certificate: certificate.der().to_vec() }
}

async fn fetch(server: &Secure, name: &str, extra_roots: Vec<Vec<u8>>) -> Result<String, FetchError> {
    let dns =
        Responder::start("127.0.0.1:0".parse().unwrap(), |_, _| vec!["127.0.0.1".parse().unwrap()]).await;
    let guard = Guard {
        ports: vec![server.address.port()],
        private_addresses: vec![server.address.ip()],
        ..Guard::default()
    };
    let config = WebConfig { guard, robots: Robots::Ignore, extra_roots, ..WebConfig::default() };
    let web = Web::with_resolver(config, Arc::new(UdpResolver(dns.address))).unwrap();
    let page = web.fetch(&format!("https://{name}:{}/", server.address.port())).await?;
    Ok(String::from_utf8(page.body.to_vec()).unwrap())
}

#[tokio::test]
async fn https_speaks_http_2() {
    let server = secure("site.test.example", |_| {}).await;
    let trusted = vec![server.certificate.clone()];
    assert_eq!(fetch(&server, "site.test.example", trusted).await.unwrap(), "HTTP/2.0");
}

#[tokio::test]
async fn invalid_certificates_are_refused() {
    let own = secure("site.test.example", |_| {}).await;
    let unknown = fetch(&own, "site.test.example", vec![]).await.unwrap_err();
    assert!(unknown.to_string().contains("nobody we trust"), "{unknown}");

    let trusted = vec![own.certificate.clone()];
    let other_name = fetch(&own, "other.test.example", trusted).await.unwrap_err();
    assert!(other_name.to_string().contains("another name"), "{other_name}");

    let expired = secure("site.test.example", |p| p.not_after = rcgen::date_time_ymd(2020, 1, 1)).await;
    let trusted = vec![expired.certificate.clone()];
    let error = fetch(&expired, "site.test.example", trusted).await.unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = Secure { address: listener.local_addr().unwrap(), certificate: Vec::new() };
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let error = fetch(&plain, "site.test.example", vec![]).await.unwrap_err();
    assert!(error.to_string().contains("no secure connection"), "{error}");
}
