//! A model server of either dialect on loopback: asks for a query first, then answers from its result.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq)]
pub enum Dialect {
    OpenAi,
    Anthropic,
}

impl Dialect {
    pub fn provider(self) -> &'static str {
        match self {
            Dialect::OpenAi => "openai-compatible",
            Dialect::Anthropic => "anthropic",
        }
    }
}

pub struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub fn start(dialect: Dialect) -> Self {
        Self::start_with(dialect, turn)
    }

    /// Answers each request with what `turn` makes of it.
    pub fn start_with(dialect: Dialect, turn: impl Fn(&Value) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        let turn = Arc::new(turn);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, turn) = (kept.clone(), turn.clone());
                std::thread::spawn(move || answer(stream, dialect, turn.as_ref(), &kept));
            }
        });
        let path = if dialect == Dialect::OpenAi { "/v1" } else { "" };
        Self { url: format!("http://{address}{path}"), requests }
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    dialect: Dialect,
    turn: &dyn Fn(&Value) -> String,
    kept: &Mutex<Vec<Value>>,
) -> Option<()> {
    let body = read_body(&mut stream)?;
    let request: Value = serde_json::from_slice(&body).ok()?;
    let text = turn(&request);
    kept.lock().ok()?.push(request);
    let events = match dialect {
        Dialect::OpenAi => openai_events(&text),
        Dialect::Anthropic => anthropic_events(&text),
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{events}", events.len()).ok()
}

fn read_body(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut received = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        received.extend_from_slice(&buffer[..read]);
        let Some(end) = received.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&received[..end]).to_lowercase();
        let length =
            head.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok())?;
        if received.len() >= end + 4 + length {
            return Some(received[end + 4..end + 4 + length].to_vec());
        }
    }
}

fn turn(request: &Value) -> String {
    let action = if request["messages"].to_string().contains("<tool_result name=\\\"query_database\\\">") {
        json!({"type": "complete", "content": "华东 110，华南 50。"})
    } else {
        let query = "SELECT 地区, sum(销售额) AS 销售额 FROM upload_001 GROUP BY 1 ORDER BY 2 DESC";
        json!({"type": "tool_call", "content": [
            {"tool_name": "query_database", "tool_call_id": "call_1", "arguments": {"query": query}}]})
    };
    json!({"task_analysis": "按地区汇总", "execution_plan": "R1: 查询(当前); R2: 回答", "current_round": 1, "action": action})
        .to_string()
}

fn openai_events(text: &str) -> String {
    let chunk = |delta: Value, reason: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    format!(
        "{}{}data: [DONE]\n\n",
        chunk(json!({"content": text}), Value::Null),
        chunk(json!({}), json!("stop"))
    )
}

fn anthropic_events(text: &str) -> String {
    let event = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        format!("event: {name}\ndata: {data}\n\n")
    };
    let start = json!({"message": {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}});
    [
        event("message_start", start),
        event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
        event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": text}})),
        event("content_block_stop", json!({"index": 0})),
        event("message_delta", json!({"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}})),
        event("message_stop", json!({})),
    ]
    .concat()
}
