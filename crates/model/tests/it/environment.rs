//! What the environment must not change: proxies and certificate files. Run in a child process, which has its own.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::serve::ListenerExt as _;
use ba_model::{Dialect, HttpModel, Model as _, ModelSettings};
use futures::StreamExt as _;
use url::Url;

use crate::server::{Server, json, stream};
use crate::wire::{BOTH, answer, client, request, settings};

/// The child: asks the server named in the environment. Ignored, so that only its parent runs it.
#[tokio::test]
#[ignore = "started by the test below"]
async fn child_asks_the_named_server() {
    let Ok(address) = std::env::var("BA_TEST_ADDRESS") else { return };
    let settings = ModelSettings::new("test", Dialect::OpenAi, "m", Url::parse(&address).unwrap());
    let reply = HttpModel::new(settings).unwrap().complete(&request(), &|_| {}).await.unwrap();
    assert_eq!(reply.text, "ok");
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_used_and_missing_certificates_do_no_harm() {
    let server = Server::start(vec![stream([answer(Dialect::OpenAi, &["ok"])])]).await;
    let proxy = Server::start(vec![json(500, "{}")]).await;
    let address = server.url.to_string();
    let proxy_address = proxy.url.to_string();
    let status = tokio::task::spawn_blocking(move || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "environment::child_asks_the_named_server", "--ignored"])
            .env("BA_TEST_ADDRESS", address)
            .envs(
                ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"]
                    .map(|n| (n, &proxy_address)),
            )
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .env("SSL_CERT_FILE", "/nonexistent/certs.pem")
            .env("SSL_CERT_DIR", "/nonexistent")
            .output()
            .unwrap()
    })
    .await
    .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    assert_eq!((server.asked().len(), proxy.asked().len()), (1, 0));
}

#[tokio::test]
async fn a_configured_proxy_is_used() {
    let proxy = Server::start(vec![stream([answer(Dialect::OpenAi, &["through"])])]).await;
    let mut settings = settings(&proxy, Dialect::OpenAi);
    settings.proxy = Some(proxy.url.clone());
    settings.base_url = Url::parse("http://model.invalid/v1").unwrap();
    let reply = HttpModel::new(settings).unwrap().complete(&request(), &|_| {}).await.unwrap();
    assert_eq!(reply.text, "through");
    assert!(proxy.asked()[0].head.starts_with("post http://model.invalid/v1/chat/completions "));
}

/// Bursts reuse their connections: 5 bursts of 16 must not open 80.
#[tokio::test]
async fn bursts_reuse_connections() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let app = axum::Router::new().fallback(|| async {
        let pieces = [answer(Dialect::OpenAi, &["ok"]), String::new()];
        // The end of the body comes a little after the last event, as on a network.
        let body = futures::stream::iter(pieces).then(|piece| async move {
            if piece.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok::<_, std::convert::Infallible>(piece)
        });
        ([("content-type", "text/event-stream")], axum::body::Body::from_stream(body))
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    let url = Url::parse(&format!("http://{address}")).unwrap();
    let model = Arc::new(HttpModel::new(ModelSettings::new("test", Dialect::OpenAi, "m", url)).unwrap());
    for _ in 0..5 {
        let burst: Vec<_> = (0..16)
            .map(|_| {
                let model = Arc::clone(&model);
                tokio::spawn(async move { model.complete(&request(), &|_| {}).await.unwrap() })
            })
            .collect();
        for answer in burst {
            assert_eq!(answer.await.unwrap().text, "ok");
        }
        // Lets the ends arrive.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let opened = opened.load(Ordering::SeqCst);
    assert!(opened <= 40, "{opened} connections for 80 requests");
}

#[tokio::test]
async fn a_probe_lists_models_or_asks_a_tiny_question() {
    for dialect in BOTH {
        let list = json(200, r#"{"data":[{"id":"model-1"},{"id":"other"}]}"#);
        let server = Server::start(vec![list]).await;
        assert_eq!(client(&server, dialect).model.check().await.unwrap().lists_model, Some(true));

        let without = json(200, r#"{"data":[{"id":"other"}]}"#);
        let server = Server::start(vec![without]).await;
        assert_eq!(client(&server, dialect).model.check().await.unwrap().lists_model, Some(false));

        let server = Server::start(vec![json(404, "{}"), stream([answer(dialect, &["pong"])])]).await;
        assert_eq!(client(&server, dialect).model.check().await.unwrap().lists_model, None);
        assert_eq!(server.asked().len(), 2);

        let server = Server::start(vec![json(401, "{}")]).await;
        assert_eq!(client(&server, dialect).model.check().await.unwrap_err().code(), "model_unauthorized");
    }
}

#[test]
fn settings_that_make_no_client_are_refused() {
    let make = |url: &str, key: Option<&str>| {
        let mut settings = ModelSettings::new("p", Dialect::OpenAi, "m", Url::parse(url).unwrap());
        settings.api_key = key.map(ba_protocol::Secret::new);
        HttpModel::new(settings).err().map(|e| e.to_string())
    };
    assert_eq!(make("http://localhost", Some("ok")), None);
    let scheme = make("ftp://localhost", None).unwrap();
    assert_eq!(scheme, "the model's address must start with http:// or https://, not ftp:");
    assert_eq!(
        make("http://localhost", Some("a\nb")).unwrap(),
        "the key for the model contains characters that cannot be sent"
    );
}
