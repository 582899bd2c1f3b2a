//! A slow OpenAI-compatible model on loopback that remembers when it was asked what: two calls of the tool with effects,
//! then the report.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sqlx::Row;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::fleet::Fleet;

/// One request: the mark in its question, which step of the run it asks for (from 1), and when.
type Asked = (String, usize, Timestamp);

pub struct Words {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Words {
    pub async fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let heard = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, heard.clone()));
            }
        });
        Self { url, asked }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Requests for a step that came after its reply had been stored: each would have been paid for twice.
    pub async fn asked_twice_after_being_stored(&self, fleet: &Fleet) -> Vec<String> {
        let rows = sqlx::query(
            "SELECT r.message, e.at, e.event FROM events e JOIN runs r ON r.id = e.run_id ORDER BY e.run_id, e.seq",
        );
        let rows = rows.fetch_all(&fleet.pool).await.unwrap();
        // A round's event, or the report, says that the reply of that step is stored.
        let mut stored: Vec<(String, usize, Timestamp)> = Vec::new();
        for row in rows {
            let (message, at): (String, i64) = (row.get(0), row.get(1));
            let event: Value = serde_json::from_str(&row.get::<String, _>(2)).unwrap();
            let at = Timestamp::from_microsecond(at).unwrap();
            let mark = mark_in(&message).unwrap_or_default();
            let before = stored.iter().filter(|(m, ..)| *m == mark).count();
            if matches!(event["event"].as_str(), Some("round" | "report")) {
                stored.push((mark, before + 1, at));
            }
        }
        let asked = self.asked.lock().unwrap();
        let too_late = asked.iter().filter(|(mark, step, at)| {
            stored.iter().any(|(m, s, stored)| m == mark && s == step && at > stored)
        });
        too_late.map(|(mark, step, at)| format!("{mark} step {step} at {at}")).collect()
    }
}

fn mark_in(text: &str) -> Option<String> {
    let rest = text.split("mark ").nth(1)?;
    Some(rest.chars().take_while(char::is_ascii_hexdigit).collect())
}

async fn answer(mut stream: TcpStream, asked: Arc<Mutex<Vec<Asked>>>) -> Option<()> {
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
    let said: Vec<String> = request["messages"]
        .as_array()?
        .iter()
        .filter(|m| m["role"] != "system")
        .map(|m| m["content"].as_str().map_or_else(|| m["content"].to_string(), str::to_owned))
        .collect();
    let mark = said.iter().find_map(|text| mark_in(text))?;
    let results: usize = said.iter().map(|text| text.matches("<tool_result name=").count()).sum();
    asked.lock().unwrap().push((mark.clone(), results + 1, Timestamp::now()));
    stream_reply(&mut stream, &reply(&mark, results)).await
}

fn reply(mark: &str, results: usize) -> String {
    let action = match results {
        0 | 1 => {
            let id = format!("call_{results}");
            let call = json!({"tool_name": "effects.note", "tool_call_id": id,
                "arguments": {"line": format!("{mark}-{results}")}});
            json!({"type": "tool_call", "content": [call]})
        }
        _ => json!({"type": "complete", "content": "done"}),
    };
    json!({"task_analysis": "a", "execution_plan": "R1: x(当前)", "current_round": 1, "action": action})
        .to_string()
}

/// In a few pieces over most of a second.
async fn stream_reply(stream: &mut TcpStream, content: &str) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let frame =
            json!({"id": "1", "object": "chat.completion.chunk", "model": "mock", "choices": [choice]});
        format!("data: {frame}\n\n")
    };
    let letters: Vec<char> = content.chars().collect();
    for piece in letters.chunks(letters.len().div_ceil(4)) {
        let text: String = piece.iter().collect();
        stream.write_all(chunk(json!({"content": text}), Value::Null).as_bytes()).await.ok()?;
        tokio::time::sleep(Duration::from_millis(rand::random_range(50..300))).await;
    }
    let end = format!("{}data: [DONE]\n\n", chunk(json!({}), json!("stop")));
    stream.write_all(end.as_bytes()).await.ok()
}
