//! The exact bytes of meaning that go out, and to where (SPEC P13, L1).

use ba_model::{Dialect, Model as _, ModelRequest};
use ba_protocol::{ContentBlock, Message, Role};
use url::Url;

use crate::server::{Asked, Server, stream};
use crate::wire::{BOTH, KEY, answer, client_of, request, settings};

/// A second round: history, a tool's answer, the file list as a system message in the middle, a new question.
fn second_round() -> ModelRequest {
    let call =
        ContentBlock::ToolUse { id: "c1".into(), name: "t".into(), input: serde_json::json!({"a": 1}) };
    let result = ContentBlock::ToolResult {
        tool_use_id: "c1".into(),
        content: "<tool_result name=\"t\">12</tool_result>".into(),
        is_error: false,
    };
    ModelRequest {
        messages: vec![
            Message::system("You analyse."),
            Message::user("How much?"),
            Message::new(Role::Assistant, vec![call]),
            Message::new(Role::User, vec![result]),
            Message::system("可用文件列表：无"),
            Message::user("And in May?"),
        ],
        max_tokens: Some(500),
        temperature: Some(0.2),
        schema: Some(serde_json::json!({"type": "object", "additionalProperties": true}).into()),
        stable_prefix: 4,
    }
}

async fn sent(dialect: Dialect, base: &str, request: &ModelRequest) -> Asked {
    let server = Server::start(vec![stream([answer(dialect, &["ok"])])]).await;
    let mut settings = settings(&server, dialect);
    settings.base_url = Url::parse(&format!("{}{base}", server.url.as_str().trim_end_matches('/'))).unwrap();
    client_of(settings).model.complete(request, &|_| {}).await.unwrap();
    server.asked().remove(0)
}

#[tokio::test]
async fn openai_body() {
    insta::assert_json_snapshot!(sent(Dialect::OpenAi, "/v1", &second_round()).await.body);
}

#[tokio::test]
async fn anthropic_body() {
    insta::assert_json_snapshot!(sent(Dialect::Anthropic, "", &second_round()).await.body);
}

#[tokio::test]
async fn the_structured_response_schema_is_sent_unchanged() {
    let body = sent(Dialect::OpenAi, "/v1", &request()).await.body;
    assert_eq!(
        body["response_format"]["json_schema"]["schema"],
        ba_protocol::StructuredResponse::json_schema()
    );
    assert_eq!(body["model"], "model-1", "names are not rewritten");
}

/// Whatever is appended later, the start of the body stays the same: provider caches hit (SPEC X1).
#[tokio::test]
async fn the_stable_prefix_is_byte_identical_from_turn_to_turn() {
    for dialect in BOTH {
        let first = second_round();
        let mut second = first.clone();
        second.messages.truncate(4);
        second.messages.push(Message::user("Something else"));
        let prefix = |asked: &Asked| {
            let messages = asked.body["messages"].as_array().unwrap();
            let stable = match dialect {
                Dialect::OpenAi => serde_json::to_string(&messages[..4]).unwrap(),
                Dialect::Anthropic => serde_json::to_string(&messages[..2]).unwrap(),
            };
            format!("{}{stable}", asked.body["system"])
        };
        assert_eq!(prefix(&sent(dialect, "", &first).await), prefix(&sent(dialect, "", &second).await));
    }
}

#[tokio::test]
async fn addresses_and_headers() {
    for (dialect, base, line) in [
        (Dialect::OpenAi, "/v1", "post /v1/chat/completions "),
        (Dialect::OpenAi, "/v1/", "post /v1/chat/completions "),
        (Dialect::OpenAi, "/v1/chat/completions", "post /v1/chat/completions "),
        (Dialect::Anthropic, "", "post /v1/messages "),
        (Dialect::Anthropic, "/v1", "post /v1/messages "),
        (Dialect::Anthropic, "/proxy/v1/messages", "post /proxy/v1/messages "),
    ] {
        let head = sent(dialect, base, &request()).await.head;
        assert!(head.starts_with(line), "{base}: {head}");
        let key = match dialect {
            Dialect::OpenAi => format!("authorization: bearer {KEY}\r\n"),
            Dialect::Anthropic => format!("x-api-key: {KEY}\r\n"),
        };
        assert!(head.contains(&key), "{head}");
        assert_eq!(head.contains("anthropic-version: 2023-06-01\r\n"), dialect == Dialect::Anthropic);
        assert!(!head.contains("accept-encoding"), "compressed streams hold events back: {head}");
    }
}

#[tokio::test]
async fn anthropic_starts_with_the_user_and_sends_no_empty_block() {
    let request = ModelRequest {
        messages: vec![Message::assistant("Welcome. "), Message::user("  "), Message::assistant("Go on: ")],
        max_tokens: None,
        temperature: None,
        schema: None,
        stable_prefix: 0,
    };
    let body = sent(Dialect::Anthropic, "", &request).await.body;
    assert_eq!(body["max_tokens"], 8192);
    assert!(body.get("system").is_none());
    insta::assert_json_snapshot!(body["messages"]);
}
