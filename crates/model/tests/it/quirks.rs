//! Endpoints that accept less: the client gives up what they refuse, and remembers.

use ba_model::{Dialect, Model as _};
use serde_json::Value;

use crate::server::{Exchange, Server, json, stream};
use crate::wire::{answer, client, client_of, error_body, request, settings};

const OPENAI: Dialect = Dialect::OpenAi;

fn good() -> Exchange {
    stream([answer(OPENAI, &["ok"])])
}

fn refused(message: &str) -> Exchange {
    json(400, &error_body(OPENAI, "invalid_request_error", message))
}

#[tokio::test]
async fn a_refused_schema_falls_back_to_plain_mode_for_good() {
    for message in ["response_format json_schema is not supported", "Bad Request"] {
        let server = Server::start(vec![refused(message), good()]).await;
        let client = client(&server, OPENAI);
        assert_eq!(client.ask().await.0.unwrap().text, "ok");
        assert_eq!(client.ask().await.0.unwrap().text, "ok");
        let sent: Vec<bool> =
            server.asked().iter().map(|a| a.body.get("response_format").is_some()).collect();
        assert_eq!(sent, [true, false, false]);
        assert_eq!(client.pauses(), [], "a change is no retry");
    }
}

#[tokio::test]
async fn a_refusal_with_another_cause_leaves_the_schema_on() {
    let server = Server::start(vec![
        refused("messages must not be empty"),
        refused("messages must not be empty"),
        good(),
    ])
    .await;
    let client = client(&server, OPENAI);
    let error = client.ask().await.0.unwrap_err();
    assert_eq!(error.to_string(), "the model provider refused the request (400): messages must not be empty");
    assert_eq!(client.ask().await.0.unwrap().text, "ok");
    assert!(
        server.asked()[2].body.get("response_format").is_some(),
        "plain mode did not help, so it is not kept"
    );
}

#[tokio::test]
async fn refused_parameters_are_given_up_one_by_one() {
    let server = Server::start(vec![
        refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refused("Unknown field: stream_options"),
        refused("temperature does not support 0.2 with this model"),
        refused("json_schema unsupported"),
        good(),
    ])
    .await;
    let mut settings = settings(&server, OPENAI);
    settings.max_tokens = Some(100);
    settings.temperature = Some(0.2);
    let client = client_of(settings);
    assert_eq!(client.ask().await.0.unwrap().text, "ok");
    let asked = server.asked();
    let has = |i: usize, key: &str| asked[i].body.get(key).is_some();
    assert!(has(0, "max_tokens") && has(0, "stream_options") && has(0, "temperature"));
    assert!(has(1, "max_completion_tokens") && !has(1, "max_tokens"));
    assert!(!has(2, "stream_options") && !has(3, "temperature") && !has(4, "response_format"));
}

/// A server that refuses both names ends in an error, not in a loop.
#[tokio::test]
async fn a_server_that_refuses_everything_ends_in_an_error() {
    let server =
        Server::start(vec![refused("max_completion_tokens stream_options temperature schema system role")])
            .await;
    let mut settings = settings(&server, OPENAI);
    settings.max_tokens = Some(100);
    settings.temperature = Some(0.2);
    let error = client_of(settings).ask().await.0.unwrap_err();
    assert_eq!(error.code(), "model_refused");
    assert!(server.asked().len() <= 6);
}

/// Strict chat templates of local servers want one system message and roles in turn.
#[tokio::test]
async fn strict_templates_get_alternating_roles() {
    let strict =
        json(500, r#"{"error":{"code":500,"message":"Conversation roles must alternate user/assistant"}}"#);
    let server = Server::start(vec![strict, good()]).await;
    let mut request = request();
    request.messages.push(ba_protocol::Message::assistant("a"));
    request.messages.push(ba_protocol::Message::system("files: none"));
    request.messages.push(ba_protocol::Message::user("and now?"));
    let client = client(&server, OPENAI);
    client.model.complete(&request, &|_| {}).await.unwrap();
    let roles = |i: usize| -> Vec<String> {
        let messages = server.asked()[i].body["messages"].as_array().unwrap().clone();
        messages.iter().map(|m| m["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles(0), ["system", "user", "assistant", "system", "user"]);
    assert_eq!(roles(1), ["system", "user", "assistant", "user"]);
    assert_eq!(server.asked()[1].body["messages"][3]["content"], Value::from("files: none\n\nand now?"));
}
