//! Streams that are whole, however they are cut on the way, and streams that are not (FACTS "Model clients", issue 2 "Bad input").

use std::time::Duration;

use ba_model::{Dialect, Model as _, ModelError, StopReason, Usage};

use crate::server::{Server, Step, head, json, respond, stream};
use crate::wire::{BOTH, answer, client, client_of, error_frame, finish, piece, request, settings, start};

#[tokio::test]
async fn a_whole_answer_arrives_with_deltas_usage_and_stop() {
    for dialect in BOTH {
        let server = Server::start(vec![stream([answer(dialect, &["销售", "额 12"])])]).await;
        let (outcome, deltas) = client(&server, dialect).ask().await;
        let reply = outcome.unwrap();
        assert_eq!(reply.text, "销售额 12");
        assert_eq!(deltas.concat(), reply.text);
        assert_eq!(reply.stop, StopReason::End);
        assert_eq!(reply.usage, Some(Usage { input_tokens: 100, output_tokens: 7, cached_tokens: 90 }));
        assert_eq!(server.asked().len(), 1);
    }
}

/// ✗ of a ready client: CRLF split between its two bytes loses every event. And one byte at a time: a slow drip.
#[tokio::test]
async fn bytes_may_come_in_any_pieces_and_with_any_line_ends() {
    for dialect in BOTH {
        let crlf = answer(dialect, &["销售", "额"]).replace('\n', "\r\n");
        let at_cr: Vec<Vec<u8>> =
            crlf.as_bytes().split_inclusive(|b| *b == b'\r').map(<[u8]>::to_vec).collect();
        let bytes: Vec<Vec<u8>> = answer(dialect, &["销售", "额"]).bytes().map(|b| vec![b]).collect();
        for pieces in [at_cr, bytes] {
            let server = Server::start(vec![stream(pieces)]).await;
            let (outcome, deltas) = client(&server, dialect).ask().await;
            assert_eq!(outcome.unwrap().text, "销售额");
            assert_eq!(deltas.concat(), "销售额");
        }
    }
}

#[tokio::test]
async fn comments_and_several_data_lines_are_understood() {
    let split = ": keep-alive\n\ndata: {\"choices\":\ndata: [{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n: bye\n\ndata: [DONE]";
    let server = Server::start(vec![stream([split])]).await;
    assert_eq!(client(&server, Dialect::OpenAi).ask().await.0.unwrap().text, "ok");
}

/// ✗ A stream that ends cleanly mid-answer is no answer: tried again, then an error, never half an answer.
#[tokio::test]
async fn a_stream_without_finish_reason_is_truncated() {
    for dialect in BOTH {
        let half = start(dialect) + &piece(dialect, "half of");
        let server = Server::start(vec![stream([half])]).await;
        let client = client(&server, dialect);
        let (outcome, deltas) = client.ask().await;
        let error = outcome.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the model's answer was cut off: the stream ended after 7 characters without a finish reason"
        );
        assert_eq!(server.asked().len(), 3, "two more tries");
        assert_eq!(deltas.concat(), "half of", "the tries repeat nothing");
    }
}

#[tokio::test]
async fn done_without_a_finish_reason_is_truncated_too() {
    let half = piece(Dialect::OpenAi, "half") + "data: [DONE]\n\n";
    let server = Server::start(vec![stream([half])]).await;
    let error = client(&server, Dialect::OpenAi).ask().await.0.unwrap_err();
    assert!(matches!(error, ModelError::Truncated { .. }), "{error:?}");
}

/// Cut in the middle of an event, in the middle of a character, with the connection broken.
#[tokio::test]
async fn a_stream_cut_mid_token_is_repeated_without_showing_text_twice() {
    for dialect in BOTH {
        let whole = answer(dialect, &["销", "售", "额"]);
        let at = whole.find('售').unwrap() + 1;
        let chunked = |bytes: &[u8]| {
            let mut out =
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                    .to_vec();
            out.extend(format!("{:x}\r\n", bytes.len() + 100).bytes());
            out.extend(bytes);
            vec![Step::Send(out)]
        };
        let server = Server::start(vec![chunked(&whole.as_bytes()[..at]), stream([whole.clone()])]).await;
        let client = client(&server, dialect);
        let (outcome, deltas) = client.ask().await;
        assert_eq!(outcome.unwrap().text, "销售额");
        assert_eq!(deltas.concat(), "销售额");
        assert_eq!(client.pauses().len(), 1);
    }
}

/// ✗ Error frames are followed by more text in a ready client; here they end the attempt.
#[tokio::test]
async fn an_error_frame_ends_the_answer() {
    for dialect in BOTH {
        let frames = start(dialect)
            + &piece(dialect, "half")
            + &error_frame(dialect)
            + &piece(dialect, "more")
            + &finish(dialect);
        let server = Server::start(vec![stream([frames])]).await;
        let (outcome, deltas) = client(&server, dialect).ask().await;
        assert_eq!(outcome.unwrap_err(), ModelError::Server { status: 529, detail: "overloaded".into() });
        assert_eq!(deltas.concat(), "half");
        assert_eq!(server.asked().len(), 3);
    }
}

#[tokio::test]
async fn garbage_in_a_stream_is_an_error() {
    for dialect in BOTH {
        let frames = piece(dialect, "x") + "data: {\"choices\": [{]}\n\n" + &finish(dialect);
        let server = Server::start(vec![stream([frames])]).await;
        let error = client(&server, dialect).ask().await.0.unwrap_err();
        assert_eq!(error.code(), "model_garbled");
    }
}

#[tokio::test]
async fn a_200_that_is_no_stream_is_understood_or_refused() {
    for dialect in BOTH {
        let whole = match dialect {
            Dialect::OpenAi => {
                r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#
            }
            Dialect::Anthropic => {
                r#"{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#
            }
        };
        for exchange in [json(200, whole), respond(200, "text/plain", "", whole)] {
            let server = Server::start(vec![exchange]).await;
            let (outcome, deltas) = client(&server, dialect).ask().await;
            assert_eq!((outcome.unwrap().text.as_str(), deltas.concat().as_str()), ("ok", "ok"));
        }
        for (exchange, code, asked) in [
            (respond(200, "text/html", "", "<html>login</html>"), "model_garbled", 1),
            (respond(200, "text/event-stream", "", "<html>login</html>"), "model_garbled", 1),
            (
                json(200, r#"{"error":{"message":"no","type":"authentication_error"}}"#),
                "model_unauthorized",
                1,
            ),
            (json(200, r#"{"error":{"code":503,"message":"later"}}"#), "model_server_error", 3),
            (json(200, "{not json"), "model_garbled", 3),
            (json(200, r#"{"hello":"world"}"#), "model_garbled", 3),
            (respond(200, "text/event-stream", "", ""), "model_truncated", 3),
        ] {
            let server = Server::start(vec![exchange.clone()]).await;
            let error = client(&server, dialect).ask().await.0.unwrap_err();
            assert_eq!((error.code(), server.asked().len()), (code, asked), "{exchange:?}");
        }
    }
}

/// A model that never stops is stopped, and not asked again.
#[tokio::test]
async fn an_endless_answer_is_refused() {
    for dialect in BOTH {
        let much = piece(dialect, &"x".repeat(1024 * 1024)).into_bytes();
        let endless = Step::Repeat(much, Duration::from_millis(1));
        let server = Server::start(vec![vec![Step::Send(head(200, "text/event-stream")), endless]]).await;
        let error = client(&server, dialect).ask().await.0.unwrap_err();
        assert_eq!(error, ModelError::Garbled { detail: "the answer is larger than 8 MB".into() });
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn silence_is_an_idle_timeout_before_and_during_the_answer() {
    for dialect in BOTH {
        let begun = start(dialect) + &piece(dialect, "half");
        let mut silent_later = stream([begun]);
        silent_later.push(Step::Hang);
        for exchange in [vec![Step::Hang], silent_later] {
            let server = Server::start(vec![exchange]).await;
            let mut settings = settings(&server, dialect);
            settings.timeouts.idle = Duration::from_millis(150);
            settings.retries.max = 0;
            let error = client_of(settings).ask().await.0.unwrap_err();
            assert_eq!(error, ModelError::Timeout { phase: "idle", seconds: 0 });
        }
    }
}

/// Comments keep a stream lively for ever: the total deadline ends it.
#[tokio::test]
async fn keep_alive_comments_do_not_outlast_the_total_deadline() {
    for dialect in BOTH {
        let ping = Step::Repeat(b": ping\n\n".to_vec(), Duration::from_millis(10));
        let server = Server::start(vec![vec![Step::Send(head(200, "text/event-stream")), ping]]).await;
        let mut settings = settings(&server, dialect);
        settings.timeouts.total = Duration::from_millis(400);
        let error = client_of(settings).ask().await.0.unwrap_err();
        assert_eq!(error, ModelError::Timeout { phase: "total", seconds: 0 });
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    for dialect in BOTH {
        let mut exchange = stream([piece(dialect, "half")]);
        exchange.push(Step::Hang);
        let mut server = Server::start(vec![exchange]).await;
        let client = client(&server, dialect);
        let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let on_delta = |_: &str| begun.send(()).unwrap();
        let request = request();
        tokio::select! {
            outcome = client.model.complete(&request, &on_delta) => panic!("{outcome:?}"),
            _ = has_begun.recv() => {}
        }
        tokio::time::timeout(Duration::from_secs(10), server.connection_ended()).await.unwrap();
    }
}

/// The finish reason came: a server that then forgets to close does not hold the answer back.
#[tokio::test]
async fn a_finished_answer_survives_a_broken_end() {
    let finished = piece(Dialect::OpenAi, "ok")
        + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    let mut open = stream([finished]);
    open.push(Step::Hang);
    let server = Server::start(vec![open]).await;
    let mut settings = settings(&server, Dialect::OpenAi);
    settings.timeouts.idle = Duration::from_millis(150);
    let reply = client_of(settings).ask().await.0.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop, reply.usage), ("ok", StopReason::Length, None));
}

#[tokio::test]
async fn reasoning_is_kept_apart_from_the_answer() {
    let openai = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\n"
        .to_owned()
        + &answer(Dialect::OpenAi, &["ok"]);
    let anthropic = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm so\"}}\n\n"
        .to_owned()
        + &answer(Dialect::Anthropic, &["ok"]);
    for (dialect, frames) in [(Dialect::OpenAi, openai), (Dialect::Anthropic, anthropic)] {
        let server = Server::start(vec![stream([frames])]).await;
        let (outcome, deltas) = client(&server, dialect).ask().await;
        let reply = outcome.unwrap();
        assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("ok", Some("hm so")));
        assert_eq!(deltas.concat(), "ok");
    }
}

/// Never asked for, but some models insist: the output parser reads them.
#[tokio::test]
async fn native_tool_calls_become_text_the_parser_reads() {
    let frames = concat!(
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"run_python\",\"arguments\":\"{\\\"code\\\":\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"1\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: [DONE]\n\n"
    );
    let server = Server::start(vec![stream([frames])]).await;
    let reply = client(&server, Dialect::OpenAi).ask().await.0.unwrap();
    let ba_protocol::ParseOutcome::Structured(response) = ba_protocol::parse(&reply.text).outcome else {
        panic!("{}", reply.text)
    };
    let ba_protocol::Action::ToolCall { content } = response.action else { panic!() };
    assert_eq!((content[0].tool_name.as_str(), &content[0].arguments["code"]), ("run_python", &"1".into()));
}

/// Open reasoning models behind plain servers write their thoughts into the text (SPEC P14).
#[tokio::test]
async fn thinking_inside_the_text_is_taken_out_of_it() {
    let pieces = ["<th", "ink>先看", "数据</thi", "nk>\n\n{\"a\"", ": 1}"];
    let server = Server::start(vec![stream([answer(Dialect::OpenAi, &pieces)])]).await;
    let (outcome, deltas) = client(&server, Dialect::OpenAi).ask().await;
    let reply = outcome.unwrap();
    assert_eq!((reply.text.as_str(), reply.thinking.as_deref()), ("{\"a\": 1}", Some("先看数据")));
    assert_eq!(deltas.concat(), reply.text);
}
