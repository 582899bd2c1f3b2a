//! SPEC M3: a run's spans and figures arrive at an OTLP receiver, decoded with the collector's own message types.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::server::{Dialect, Server};
use super::{ask, table};

/// Takes OTLP/HTTP requests until the test ends, and gives path and body of each.
fn receiver() -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (stream.unwrap(), sender.clone());
            std::thread::spawn(move || {
                while let Some(request) = read_request(&mut stream) {
                    let _ = sender.send(request);
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                    stream.write_all(head.as_bytes()).unwrap();
                }
            });
        }
    });
    (url, bodies)
}

fn read_request(stream: &mut std::net::TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut seen, mut buffer) = (Vec::new(), [0u8; 8192]);
    loop {
        let read = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        seen.extend_from_slice(&buffer[..read]);
        let Some(end) = seen.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&seen[..end]).to_lowercase();
        let length: usize =
            head.lines().find_map(|l| l.strip_prefix("content-length: ")).unwrap().trim().parse().unwrap();
        while seen.len() < end + 4 + length {
            let read = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
            seen.extend_from_slice(&buffer[..read]);
        }
        let path = head.split_whitespace().nth(1)?.to_owned();
        return Some((path, seen[end + 4..end + 4 + length].to_vec()));
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|a| a.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(flag) => Some(flag.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_arrives_as_spans_and_figures_without_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path());
    let server = Server::start(Dialect::OpenAi);
    let (collector, bodies) = receiver();
    let environment = [
        ("BA_MODEL", format!("{}:test-model", Dialect::OpenAi.provider())),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
        ("BA_OTLP", collector),
    ];
    let arguments = ["ask", "各地区销售额？", "--file", file.to_str().unwrap(), "--json"];
    let output = ask(folder.path(), &environment, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let (mut spans, mut figures) = (Vec::new(), Vec::new());
    for (path, body) in bodies.try_iter() {
        for secret in ["各地区销售额", "华东", "sk-test"] {
            let found = body.windows(secret.len()).any(|w| w == secret.as_bytes());
            assert!(!found, "`{secret}` was sent to {path}");
        }
        match path.as_str() {
            "/v1/traces" => {
                let sent = ExportTraceServiceRequest::decode(&body[..]).unwrap();
                spans.extend(
                    sent.resource_spans.into_iter().flat_map(|r| r.scope_spans).flat_map(|s| s.spans),
                );
            }
            "/v1/metrics" => {
                let sent = ExportMetricsServiceRequest::decode(&body[..]).unwrap();
                let all = sent.resource_metrics.into_iter().flat_map(|r| r.scope_metrics);
                figures.extend(all.flat_map(|s| s.metrics).map(|m| m.name));
            }
            other => panic!("{other}"),
        }
    }
    let named =
        |name: &str| spans.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no span {name}"));
    let run = named("invoke_agent ba-agent");
    let (first, second) = (named("round 1"), named("round 2"));
    assert_eq!(attribute(run, "ba.run.outcome").as_deref(), Some("complete"));
    assert!(attribute(run, "gen_ai.conversation.id").unwrap().starts_with("conv_"));
    assert!(run.parent_span_id.is_empty());
    assert_eq!((&first.parent_span_id, &second.parent_span_id), (&run.span_id, &run.span_id));
    let chats: Vec<&Span> = spans.iter().filter(|s| s.name == "chat test-model").collect();
    assert_eq!(chats.len(), 2);
    assert_eq!(chats[0].parent_span_id, first.span_id);
    assert_eq!(attribute(chats[0], "gen_ai.operation.name").as_deref(), Some("chat"));
    assert_eq!(attribute(chats[0], "gen_ai.provider.name").as_deref(), Some(Dialect::OpenAi.provider()));
    assert!(attribute(chats[0], "gen_ai.usage.input_tokens").unwrap().parse::<u64>().unwrap() > 0);
    let tool = named("execute_tool query_database");
    assert_eq!(tool.parent_span_id, first.span_id);
    assert_eq!(attribute(tool, "gen_ai.tool.name").as_deref(), Some("query_database"));
    assert!(spans.iter().all(|s| s.trace_id == run.trace_id), "one run is one trace");
    for name in ["ba_agent.tool.calls", "ba_agent.model.tokens", "ba_agent.runs"] {
        assert!(figures.iter().any(|f| f == name), "no {name} in {figures:?}");
    }
}

#[test]
fn a_collector_that_is_not_there_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path());
    let server = Server::start(Dialect::OpenAi);
    let environment = [
        ("BA_MODEL", format!("{}:test-model", Dialect::OpenAi.provider())),
        ("BA_BASE_URL", server.url()),
        ("BA_API_KEY", "sk-test-0123456789abcdef".to_owned()),
        ("BA_OTLP", "http://127.0.0.1:1".to_owned()),
    ];
    let arguments = ["ask", "各地区销售额？", "--file", file.to_str().unwrap(), "--json"];
    let output = ask(folder.path(), &environment, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
