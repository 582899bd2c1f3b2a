//! The API document against the live server: valid, wrong and hostile requests to every operation. Whatever is sent,
//! the server answers in time, never with its own failure, and always in a shape the document describes (SPEC A9).

use std::sync::Arc;

use ba_server::ServerConfig;
use serde_json::{Map, Value, json};

use crate::access::FakeSetup;
use crate::kit::App;

/// Requests per operation.
const ROUNDS: u64 = 40;

/// A small generator of our own: the same requests in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.roll(from.len() as u64);
        &from[usize::try_from(at).unwrap()]
    }
}

const TEXTS: [&str; 14] = [
    "x",
    "",
    " ",
    "use the tool",
    "write code",
    "销售额",
    "\u{0}",
    "\u{202e}abc",
    "../../etc/passwd",
    "'; drop table runs; --",
    "<script>alert(1)</script>",
    "%00%ff",
    "code_x",
    "\n\r",
];

struct World {
    document: Value,
    /// Values that exist, by parameter name.
    real: Map<String, Value>,
}

impl World {
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                self.resolve(self.document.pointer(reference.trim_start_matches('#')).unwrap())
            }
            None => schema,
        }
    }

    /// A value that fits the schema.
    fn fitting(&self, schema: &Value, dice: &mut Dice, depth: u32) -> Value {
        let schema = self.resolve(schema);
        if depth > 6 {
            return Value::Null;
        }
        if let Some(example) = schema.get("example")
            && dice.roll(2) == 0
        {
            return example.clone();
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(options) = schema[choice].as_array() {
                return self.fitting(dice.pick(options), dice, depth + 1);
            }
        }
        if let Some(options) = schema["enum"].as_array() {
            return dice.pick(options).clone();
        }
        let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        match dice.pick(&kinds).as_str().unwrap_or("object") {
            "string" => json!(dice.pick(&TEXTS)),
            "integer" => json!(dice.roll(5)),
            "number" => json!(0.5),
            "boolean" => json!(dice.roll(2) == 0),
            "array" => (0..dice.roll(3)).map(|_| self.fitting(&schema["items"], dice, depth + 1)).collect(),
            "null" => Value::Null,
            _ => {
                let mut object = Map::new();
                let required: Vec<&str> =
                    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                    if required.contains(&name.as_str()) || dice.roll(2) == 0 {
                        let real = self.real.get(name).filter(|_| dice.roll(3) > 0).cloned();
                        object.insert(
                            name.clone(),
                            real.unwrap_or_else(|| self.fitting(property, dice, depth + 1)),
                        );
                    }
                }
                Value::Object(object)
            }
        }
    }

    /// Where a value breaks the schema; empty when it fits.
    fn misfits(&self, value: &Value, schema: &Value, at: &str) -> Vec<String> {
        let schema = self.resolve(schema);
        for choice in ["oneOf", "anyOf"] {
            if let Some(options) = schema[choice].as_array() {
                let fits = options.iter().any(|option| self.misfits(value, option, at).is_empty());
                return if fits { vec![] } else { vec![format!("{at}: no option fits {value}")] };
            }
        }
        let mut wrong: Vec<String> = schema["allOf"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|part| self.misfits(value, part, at))
            .collect();
        let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        let fits = |kind: &Value| match kind.as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object() || schema.get("properties").is_none(),
            Some("null") => value.is_null(),
            _ => true,
        };
        if !kinds.iter().any(fits) {
            wrong.push(format!("{at}: {value} is not {}", schema["type"]));
        }
        if let Some(options) = schema["enum"].as_array()
            && !options.contains(value)
        {
            wrong.push(format!("{at}: {value} is not one of {options:?}"));
        }
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            wrong.extend(self.misfits(item, &schema["items"], &format!("{at}[{i}]")));
        }
        if let Some(object) = value.as_object() {
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !object.contains_key(name) {
                    wrong.push(format!("{at}: `{name}` is missing"));
                }
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(inner) = object.get(name) {
                    wrong.extend(self.misfits(inner, property, &format!("{at}.{name}")));
                }
            }
        }
        wrong
    }

    fn parameter(&self, name: &str, dice: &mut Dice) -> String {
        let real = self.real.get(name).and_then(Value::as_str);
        match real.filter(|_| dice.roll(3) > 0) {
            Some(real) => real.to_owned(),
            None => (*dice.pick(&TEXTS)).to_owned(),
        }
    }
}

/// Breaks a body in one of the ways clients do.
fn spoil(body: &Value, dice: &mut Dice) -> Vec<u8> {
    match dice.roll(8) {
        0 => b"{".to_vec(),
        1 => vec![0xff, 0xfe, 0x00],
        2 => format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)).into_bytes(),
        3 => format!("{{\"a\":{}1{}", "{\"a\":".repeat(3_000), "}".repeat(3_001)).into_bytes(),
        4 => b"null".to_vec(),
        _ => {
            let mut body = body.clone();
            if let Some(object) = body.as_object_mut() {
                let names: Vec<String> = object.keys().cloned().collect();
                if let Some(name) = (!names.is_empty()).then(|| dice.pick(&names).clone()) {
                    let value = dice
                        .pick(&[
                            json!(null),
                            json!(-1),
                            json!([[]]),
                            json!({"a": 1}),
                            json!(1e308),
                            json!(""),
                        ])
                        .clone();
                    object.insert(name, value);
                }
                if dice.roll(2) == 0 {
                    object.insert("__proto__".into(), json!({"x": 1}));
                }
            }
            body.to_string().into_bytes()
        }
    }
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b"_-.".contains(&b) {
                (b as char).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

async fn world(app: &App) -> World {
    let up = app.upload(&[("a.csv", b"a,b\n1,2\n")], None).await;
    let id = up.body["data"]["conversation_id"].clone();
    let asked = app.post("/agent/query", json!({"message": "write code", "conversation_id": id})).await.body
        ["data"]
        .clone();
    let mut real = Map::new();
    real.insert("conversation_id".into(), id);
    real.insert("run_id".into(), asked["run_id"].clone());
    real.insert("file_id".into(), json!("upload_001"));
    real.insert("filename".into(), json!("a.csv"));
    real.insert("code_id".into(), asked["metadata"]["saved_codes"][0]["code_id"].clone());
    World { document: serde_json::to_value(ba_server::openapi::document()).unwrap(), real }
}

// SPEC A8
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_sent_the_answer_is_the_documented_one() {
    let app = App::start_with(ServerConfig::default(), |deps| deps.setup = Some(Arc::new(FakeSetup))).await;
    let world = world(&app).await;
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut answered = 0u64;
    let mut fine = 0u64;
    for (path, item) in world.document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for _ in 0..ROUNDS {
                let (ok, problem) = try_once(&app, &world, path, method, operation, &mut dice).await;
                assert!(problem.is_empty(), "{problem}");
                answered += 1;
                fine += u64::from(ok);
            }
        }
    }
    assert!(answered >= 35 * ROUNDS);
    assert!(fine * 5 > answered, "only {fine} of {answered} requests were meaningful");
    assert_eq!(app.get("/health").await.status, 200);
}

async fn try_once(
    app: &App,
    world: &World,
    path: &str,
    method: &str,
    operation: &Value,
    dice: &mut Dice,
) -> (bool, String) {
    let mut url = path.to_owned();
    let mut query = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        let value = match world.resolve(&parameter["schema"])["type"].as_str() {
            Some("integer") if dice.roll(2) == 0 => dice.roll(5).to_string(),
            _ => world.parameter(name, dice),
        };
        match parameter["in"].as_str() {
            Some("path") => url = url.replace(&format!("{{{name}}}"), &encode(&value)),
            _ if parameter["required"] == true || dice.roll(2) == 0 => {
                query.push(format!("{name}={}", encode(&value)))
            }
            _ => {}
        }
    }
    if !query.is_empty() {
        url = format!("{url}?{}", query.join("&"));
    }
    let mut request = app.client.request(method.to_uppercase().parse().unwrap(), format!("{}{url}", app.url));
    let mut shown = String::new();
    let content = &operation["requestBody"]["content"];
    if let Some(json_body) = content.get("application/json") {
        let fitting = world.fitting(&json_body["schema"], dice, 0);
        let body = if dice.roll(3) == 0 { spoil(&fitting, dice) } else { fitting.to_string().into_bytes() };
        shown = String::from_utf8_lossy(&body).chars().take(300).collect();
        request = request.header("content-type", "application/json").body(body);
    } else if content.get("multipart/form-data").is_some() {
        let name = *dice.pick(&TEXTS);
        let (kind, body) = crate::kit::multipart(
            &[(&name.replace(['\r', '\n', '\0'], "_"), b"a,b\n1,2"), ("b.csv", b"a\n1")],
            None,
        );
        request = request.header("content-type", kind).body(body);
    } else if !content.is_null() {
        request = request.body("not an archive");
    }
    let said = format!("{method} {url} {shown}");
    let sent = tokio::time::timeout(std::time::Duration::from_secs(30), request.send()).await;
    let response = match sent {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return (false, format!("{said}: {error}")),
        Err(_) => return (false, format!("{said}: no answer")),
    };
    let status = response.status().as_u16();
    let kind =
        response.headers().get("content-type").map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default();
    let body = tokio::time::timeout(std::time::Duration::from_secs(30), response.bytes()).await;
    let Ok(Ok(body)) = body else { return (false, format!("{said}: the body did not end")) };
    (status == 200, judge(world, operation, &said, status, &kind, &body))
}

/// Empty when the answer is one that the document describes.
fn judge(world: &World, operation: &Value, said: &str, status: u16, kind: &str, body: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned();
    if status >= 500 {
        return format!("{said}: {status} {shown}");
    }
    let documented =
        operation["responses"].get(status.to_string()).unwrap_or(&operation["responses"]["default"]);
    let content = documented["content"].as_object().unwrap();
    let essence = kind.split(';').next().unwrap_or_default();
    if status == 200 && !content.contains_key("application/json") {
        return String::new();
    }
    // A streamed chat is announced in words.
    if essence == "text/event-stream" && operation["operationId"] == "openaiChat" {
        return String::new();
    }
    let Some(schema) = content.get(essence).map(|content| &content["schema"]) else {
        return format!("{said}: {status} with {kind}, which is not documented");
    };
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return format!("{said}: {status} is not JSON: {shown}");
    };
    let misfits = world.misfits(&value, schema, "$");
    if misfits.is_empty() { String::new() } else { format!("{said}: {status} {misfits:?}") }
}

#[test]
fn the_judge_can_say_no() {
    let document: Value = serde_json::to_value(ba_server::openapi::document()).unwrap();
    let health = document["paths"]["/api/v1/health"]["get"].clone();
    let world = World { document, real: Map::new() };
    let verdict = |status: u16, body: Value| {
        judge(&world, &health, "health", status, "application/json", body.to_string().as_bytes())
    };
    let good = json!({"success": true, "data": {"status": "ok", "version": "1"}});
    assert_eq!(verdict(200, good.clone()), "");
    assert_eq!(verdict(404, json!({"success": false, "error": {"code": "x", "message": "y"}})), "");
    for bad in [
        json!({}),
        json!({"success": true, "data": {"status": 1, "version": "1"}}),
        json!({"success": true}),
        json!([]),
    ] {
        assert_ne!(verdict(200, bad), "");
    }
    assert_ne!(verdict(404, good.clone()), "");
    assert_ne!(verdict(500, good), "");
}
