//! Asks an endpoint for a model's context window (SPEC W5): the list of models of OpenAI-compatible servers, llama.cpp's
//! properties, Ollama's description. Costs no tokens, takes little time, and fails silently: a guess serves then.

use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::settings::ModelSettings;
use crate::wire;

const PATIENCE: Duration = Duration::from_secs(3);
/// Nothing smaller is a window, nothing larger is believed.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 512..=20_000_000;

/// Where servers write it, most exact first.
const FIELDS: [&str; 9] = [
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/top_provider/context_length",
    "/max_input_tokens",
    "/inputTokenLimit",
    "/meta/n_ctx",
    "/meta/n_ctx_train",
];

pub(super) async fn ask(http: &Client, settings: &ModelSettings) -> Option<usize> {
    let window = timeout(PATIENCE, find(http, settings)).await.ok()??;
    usize::try_from(window).ok()
}

async fn find(http: &Client, settings: &ModelSettings) -> Option<u64> {
    if settings.provider == "ollama" {
        let request = http.post(root(settings, "/api/show")).json(&json!({"model": settings.model}));
        return shown(&json_of(request).await?);
    }
    let list = json_of(http.get(wire::models_url(settings))).await?;
    let entry = entry(&list, &settings.model)?;
    let window = in_entry(entry)?;
    // llama.cpp tells what the model was trained with; what it was started with may be far less.
    if entry.pointer("/meta/n_ctx_train").is_some() {
        let served = json_of(http.get(root(settings, "/props"))).await;
        let served =
            served.as_ref().and_then(|p| plausible(p.pointer("/default_generation_settings/n_ctx")?));
        return Some(served.map_or(window, |served| served.min(window)));
    }
    Some(window)
}

/// The server's own root, outside the `/v1` of its OpenAI dialect.
fn root(settings: &ModelSettings, path: &str) -> String {
    let mut url = settings.base_url.clone();
    let base = url.path().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    url.set_path(&format!("{base}{path}"));
    url.to_string()
}

async fn json_of(request: RequestBuilder) -> Option<Value> {
    let response = request.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    response.json().await.ok()
}

/// The model's own entry; a server that serves one model often lists it under another name.
fn entry<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    let entries = list.get("data").or_else(|| list.get("models"))?.as_array()?;
    let named =
        |e: &&Value| ["id", "name", "model"].iter().any(|k| e.get(*k).and_then(Value::as_str) == Some(model));
    entries.iter().find(named).or_else(|| entries.first().filter(|_| entries.len() == 1))
}

fn in_entry(entry: &Value) -> Option<u64> {
    FIELDS.iter().find_map(|field| plausible(entry.pointer(field)?))
}

/// Ollama: `num_ctx` of the model's parameters where it is set, else what the architecture holds.
fn shown(description: &Value) -> Option<u64> {
    let parameters = description.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|l| l.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let info = description.get("model_info").and_then(Value::as_object);
    let trained = info.and_then(|i| i.iter().find(|(k, _)| k.ends_with(".context_length")));
    set.filter(|n| PLAUSIBLE.contains(n)).or_else(|| plausible(trained?.1))
}

fn plausible(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    PLAUSIBLE.contains(&number).then_some(number)
}
