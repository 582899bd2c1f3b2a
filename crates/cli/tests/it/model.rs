//! A tiny OpenAI-compatible model on loopback: one tool call, then a report. Always the same, so that every run ends.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Serves for the life of the runtime; gives its base URL.
pub async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    url
}

async fn answer(mut stream: TcpStream) -> Option<()> {
    let mut received = Vec::new();
    let (head, length) = loop {
        if let Some(end) = received.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_lowercase();
            let length =
                head.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            break (end + 4, length.unwrap_or(0));
        }
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    };
    while received.len() < head + length {
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    }
    let request: Value = serde_json::from_slice(&received[head..]).ok()?;
    let content = turn(&request);
    let streaming = request["stream"].as_bool().unwrap_or(false);
    let (kind, body) = if streaming {
        ("text/event-stream", events(&content))
    } else {
        ("application/json", whole(&content))
    };
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await.ok()
}

/// The first turn calls a tool; once its result is in the request, the report follows.
fn turn(request: &Value) -> String {
    // The system prompt explains results, so it does not count.
    let said = request["messages"].as_array().into_iter().flatten().filter(|m| m["role"] != "system");
    let answered = said.into_iter().any(|m| m.to_string().contains("<tool_result name="));
    let action = if answered {
        json!({"type": "complete", "content": "done"})
    } else {
        json!({"type": "tool_call", "content": [
            {"tool_name": "file_reader", "tool_call_id": "call_1", "arguments": {"path": "missing.csv"}}
        ]})
    };
    json!({"task_analysis": "a", "execution_plan": "R1: x(当前)", "current_round": 1, "action": action})
        .to_string()
}

fn whole(content: &str) -> String {
    json!({"id": "1", "object": "chat.completion", "model": "mock", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    ], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
    .to_string()
}

fn events(content: &str) -> String {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!(
            "data: {}\n\n",
            json!({"id": "1", "object": "chat.completion.chunk", "model": "mock", "choices": [choice]})
        )
    };
    let text = chunk(json!({"role": "assistant", "content": content}), Value::Null);
    format!("{text}{}data: [DONE]\n\n", chunk(json!({}), json!("stop")))
}
