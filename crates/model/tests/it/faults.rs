//! Every refusal ends in an answer after another try, or in a typed error, and the next turn works (issue 2 "Bad input").

use std::time::Duration;

use ba_model::{Dialect, Model as _, ModelError, ModelSettings};
use tokio::net::TcpSocket;
use url::Url;

use crate::server::{Exchange, Server, Step, json, respond, stream};
use crate::wire::{BOTH, KEY, answer, client, client_of, error_body, request, settings};

fn good(dialect: Dialect) -> Exchange {
    stream([answer(dialect, &["ok"])])
}

#[tokio::test]
async fn permanent_refusals_are_not_repeated_and_the_next_turn_works() {
    for dialect in BOTH {
        for (status, kind, message, expected) in [
            (
                401,
                "authentication_error",
                "bad key",
                "the model provider refused the key (401): check BA_API_KEY or the provider's own variable",
            ),
            (
                403,
                "permission_error",
                "no",
                "the model provider refused the key (403): check BA_API_KEY or the provider's own variable",
            ),
            (
                404,
                "not_found_error",
                "model: model-1",
                "the model or address was not found (404): model: model-1",
            ),
            (413, "request_too_large", "too big", "the conversation is too long for this model: too big"),
            (
                400,
                "invalid_request_error",
                "prompt is too long: 9 > 8",
                "the conversation is too long for this model: prompt is too long: 9 > 8",
            ),
            (402, "billing_error", "no credit", "the model provider refused the request (402): no credit"),
        ] {
            let server =
                Server::start(vec![json(status, &error_body(dialect, kind, message)), good(dialect)]).await;
            let client = client(&server, dialect);
            let error = client.ask().await.0.unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!(client.pauses(), []);
            assert_eq!(client.ask().await.0.unwrap().text, "ok");
        }
    }
}

#[tokio::test]
async fn transient_refusals_are_repeated_until_they_end() {
    for dialect in BOTH {
        for (status, kind) in [
            (500, "api_error"),
            (502, "bad_gateway"),
            (503, "unavailable"),
            (529, "overloaded_error"),
            (429, "rate_limit_error"),
            (408, "timeout"),
        ] {
            let bad = json(status, &error_body(dialect, kind, "later"));
            let server = Server::start(vec![bad.clone(), bad.clone(), good(dialect)]).await;
            let client = client(&server, dialect);
            let (outcome, deltas) = client.ask().await;
            assert_eq!(outcome.unwrap().text, "ok", "{status}");
            assert_eq!(deltas.concat(), "ok");
            let pauses = client.pauses();
            assert_eq!(pauses.len(), 2);
            assert!(pauses[0] >= Duration::from_millis(250) && pauses[0] <= Duration::from_millis(500));
            assert!(pauses[1] >= Duration::from_millis(500) && pauses[1] <= Duration::from_secs(1));

            let server = Server::start(vec![bad]).await;
            let error = crate::wire::client(&server, dialect).ask().await.0.unwrap_err();
            assert!(error.is_transient(), "{error:?}");
            assert_eq!(server.asked().len(), 3, "{status}");
        }
    }
}

#[tokio::test]
async fn retry_after_is_waited_for_when_it_is_short() {
    for dialect in BOTH {
        let body = error_body(dialect, "rate_limit_error", "slow down");
        let limited = |header: &str| respond(429, "application/json", header, &body);
        let server = Server::start(vec![limited("retry-after: 7\r\n"), good(dialect)]).await;
        let client = client(&server, dialect);
        assert_eq!(client.ask().await.0.unwrap().text, "ok");
        assert_eq!(client.pauses(), [Duration::from_secs(7)]);

        let server = Server::start(vec![limited("retry-after: 3600\r\n"), good(dialect)]).await;
        let client = crate::wire::client(&server, dialect);
        let error = client.ask().await.0.unwrap_err();
        assert_eq!(error, ModelError::RateLimited { retry_after: Some(Duration::from_secs(3600)) });
        assert_eq!(client.pauses(), []);
    }
}

#[tokio::test]
async fn a_web_page_as_a_failure_is_told_in_words() {
    let server =
        Server::start(vec![respond(502, "text/html", "", "<html><h1>Bad gateway</h1></html>")]).await;
    let error = client(&server, Dialect::OpenAi).ask().await.0.unwrap_err();
    assert_eq!(error.to_string(), "the model provider failed (502): a web page instead of an answer");
}

#[tokio::test]
async fn an_error_body_that_never_ends_does_not_hold_the_error_back() {
    let head = b"HTTP/1.1 401 X\r\ncontent-length: 100000\r\n\r\n{".to_vec();
    let server = Server::start(vec![vec![Step::Send(head), Step::Hang]]).await;
    let mut settings = settings(&server, Dialect::OpenAi);
    settings.timeouts.idle = Duration::from_millis(150);
    assert_eq!(client_of(settings).ask().await.0.unwrap_err(), ModelError::Unauthorized { status: 401 });
}

#[tokio::test]
async fn a_closed_port_is_unreachable_and_names_the_host() {
    for dialect in BOTH {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let url = Url::parse(&format!("http://user:pass@{address}/v1")).unwrap();
        let client = client_of(ModelSettings::new("test", dialect, "m", url));
        let error = client.ask().await.0.unwrap_err();
        let shown = error.to_string();
        assert!(shown.starts_with(&format!("cannot reach the model at {address}: ")), "{shown}");
        assert!(shown.to_lowercase().contains("refused") && !shown.contains("pass"), "{shown}");
        assert_eq!(client.pauses().len(), 3);
    }
}

/// A listener whose queue is full answers no handshake: the connect timeout ends the wait.
#[tokio::test]
async fn a_host_that_does_not_take_connections_is_a_connect_timeout() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let connect = tokio::net::TcpStream::connect(address);
        match tokio::time::timeout(Duration::from_millis(200), connect).await {
            Ok(stream) => waiting.push(stream),
            Err(_) => break,
        }
    }
    for dialect in BOTH {
        let url = Url::parse(&format!("http://{address}")).unwrap();
        let mut settings = ModelSettings::new("test", dialect, "m", url);
        settings.timeouts.connect = Duration::from_millis(150);
        settings.retries.max = 0;
        let error = client_of(settings).ask().await.0.unwrap_err();
        assert_eq!(error, ModelError::Timeout { phase: "connect", seconds: 0 });
    }
}

#[tokio::test]
async fn a_connection_closed_without_an_answer_is_tried_again() {
    for dialect in BOTH {
        let server = Server::start(vec![vec![], good(dialect)]).await;
        let client = client(&server, dialect);
        assert_eq!(client.ask().await.0.unwrap().text, "ok");
        assert_eq!(client.pauses().len(), 1);
    }
}

/// A redirect would carry the key to another origin.
#[tokio::test]
async fn redirects_are_not_followed() {
    for dialect in BOTH {
        let elsewhere = Server::start(vec![good(dialect)]).await;
        let location = format!("location: {}\r\n", elsewhere.url);
        let server = Server::start(vec![respond(307, "text/plain", &location, "")]).await;
        let error = client(&server, dialect).ask().await.0.unwrap_err();
        assert!(matches!(error, ModelError::Refused { status: 307, .. }), "{error:?}");
        assert_eq!(elsewhere.asked().len(), 0);
    }
}

#[tokio::test]
async fn neither_key_nor_prompt_is_in_an_error() {
    for dialect in BOTH {
        let echo = format!("invalid input 'How much did we sell? How much did we sell?' with key {KEY}");
        let server = Server::start(vec![
            json(409, &error_body(dialect, "x", &echo)),
            json(418, &error_body(dialect, "x", &echo)),
        ])
        .await;
        let mut request = request();
        request.messages.push(ba_protocol::Message::user("How much did we sell? How much did we sell?"));
        let error = client(&server, dialect).model.complete(&request, &|_| {}).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(
            shown.contains("invalid input") && !shown.contains("did we sell") && !shown.contains(KEY),
            "{shown}"
        );
    }
}
