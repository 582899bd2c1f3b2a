//! BA-Agent as a model for other programs.

use ba_server::ServerConfig;
use serde_json::{Value, json};

use crate::kit::{Answer, App, Reader};

async fn chat(app: &App, messages: Value) -> Answer {
    let request = app.client.post(format!("{}/v1/chat/completions", app.url));
    Answer::of(
        request
            .json(&json!({"model": "ba-agent", "messages": messages, "temperature": 0.2}))
            .send()
            .await
            .unwrap(),
    )
    .await
}

#[tokio::test]
async fn a_chat_is_answered_and_goes_on_in_the_same_conversation() {
    let app = App::start().await;
    let first = chat(&app, json!([{"role": "user", "content": "write code"}])).await;
    assert_eq!(first.body["object"], "chat.completion");
    let text = first.body["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert!(text.contains("```python\nimport pandas as pd\nprint(1)\n```"), "{text}");
    assert!(!text.contains("CODE_SAVED"), "{text}");

    let again = chat(&app, json!([
        {"role": "user", "content": "write code"}, {"role": "assistant", "content": text}, {"role": "user", "content": "再来"}
    ]))
    .await;
    assert_eq!(again.body["choices"][0]["message"]["content"], "你问的是：再来");
    let all = app.get("/conversations").await;
    assert_eq!(
        all.body["data"]["conversations"].as_array().unwrap().len(),
        1,
        "one chat is one conversation"
    );

    let foreign = chat(&app, json!([
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}
    ]))
    .await;
    let text = foreign.body["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("【此前 助手】\nb"), "what came before is told: {text}");
}

#[tokio::test]
async fn a_streamed_chat_shows_the_work_as_reasoning() {
    let config = ServerConfig { openai_footnotes: false, ..ServerConfig::default() };
    let app = App::start_with(config, |_| {}).await;
    let body = json!({"model": "ba-agent", "stream": true, "messages": [{"role": "user", "content": "use the tool"}]});
    let response =
        app.client.post(format!("{}/v1/chat/completions", app.url)).json(&body).send().await.unwrap();
    let events = Reader::new(response).all().await;
    assert_eq!(events.last().unwrap().data, json!("[DONE]"));
    let deltas: Vec<&Value> = events.iter().map(|event| &event.data["choices"][0]["delta"]).collect();
    let joined = |key: &str| deltas.iter().filter_map(|delta| delta[key].as_str()).collect::<String>();
    assert_eq!(joined("content"), "完成：42");
    let reasoning = joined("reasoning_content");
    assert!(reasoning.contains("⏳ probe") && reasoning.contains("✓ probe: Found 1 item"), "{reasoning}");
    assert!(events.iter().any(|event| event.data["choices"][0]["finish_reason"] == "stop"));

    let body = json!({"stream": true, "messages": [{"role": "user", "content": "fail"}]});
    let response =
        app.client.post(format!("{}/v1/chat/completions", app.url)).json(&body).send().await.unwrap();
    let events = Reader::new(response).all().await;
    assert!(events.iter().any(|event| event.data["error"]["code"] == "model_unauthorized"));
}

// SPEC V1
#[tokio::test]
async fn figures_that_nothing_proves_have_footnotes() {
    let app = App::start().await;
    let answer = chat(&app, json!([{"role": "user", "content": "use the tool"}])).await;
    let text = answer.body["choices"][0]["message"]["content"].as_str().unwrap();
    let said =
        "完成：42[^1]\n\n_1 个数字：0 个来自结果，0 个由结果算得，1 个未证实_\n\n[^1]: 42: 没有结果能证实";
    assert_eq!(text, said, "42 is all the tool says, and not of what");
}

#[tokio::test]
async fn models_and_wrong_requests() {
    let app = App::start().await;
    let models = app.client.get(format!("{}/v1/models", app.url)).send().await.unwrap();
    assert_eq!(Answer::of(models).await.body["data"][0]["id"], "ba-agent");
    for messages in [
        json!([]),
        json!([{"role": "assistant", "content": "x"}]),
        json!([{"role": "user", "content": ""}]),
        json!("x"),
    ] {
        let answer = chat(&app, messages.clone()).await;
        assert_eq!(answer.status, 400, "{messages}");
        assert!(answer.body["error"]["message"].is_string());
    }
}

async fn post(app: &App, path: &str, body: Value) -> Answer {
    Answer::of(app.client.post(format!("{}{path}", app.url)).json(&body).send().await.unwrap()).await
}

fn asked(more: Value) -> Value {
    let mut body = json!({"model": "ba-agent", "messages": [{"role": "user", "content": "x"}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// SPEC I3. The official client takes a `retry:` field for an event without data, and falls over it.
#[tokio::test]
async fn a_stream_holds_nothing_but_data_and_counts_tokens_when_asked() {
    let app = App::start().await;
    let body = asked(json!({"stream": true, "stream_options": {"include_usage": true}}));
    let text = app.client.post(format!("{}/v1/chat/completions", app.url)).json(&body).send().await.unwrap();
    let text = text.text().await.unwrap();
    let fields: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(fields.iter().all(|line| line.starts_with("data: ")), "{text}");
    let usage: Value = serde_json::from_str(&fields[fields.len() - 2]["data: ".len()..]).unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert!(usage["usage"]["total_tokens"].is_u64(), "{usage}");
}

// SPEC I3
#[tokio::test]
async fn options_that_cannot_be_kept_are_refused_by_name() {
    let app = App::start().await;
    for (more, name) in [
        (json!({"n": 2}), "`n`"),
        (json!({"response_format": {"type": "json_object"}}), "`response_format`"),
        (json!({"tools": [{"type": "function"}]}), "`tools`"),
        (json!({"logprobs": true}), "`logprobs`"),
        (json!({"modalities": ["audio"]}), "`modalities`"),
    ] {
        let refused = post(&app, "/v1/chat/completions", asked(more)).await;
        assert_eq!(
            (refused.status, refused.body["error"]["code"].as_str()),
            (400, Some("unsupported_parameter"))
        );
        assert!(refused.body["error"]["message"].as_str().unwrap().starts_with(name), "{}", refused.body);
    }
    let harmless = json!({"n": 1, "tools": [], "response_format": {"type": "text"}, "seed": 7, "user": "u", "stop": ["x"]});
    assert_eq!(post(&app, "/v1/chat/completions", asked(harmless)).await.status, 200);
    let unknown = post(&app, "/v1/chat/completions", asked(json!({"model": "gpt-9"}))).await;
    assert_eq!((unknown.status, unknown.body["error"]["code"].as_str()), (404, Some("model_not_found")));
    let one = app.client.get(format!("{}/v1/models/ba-agent", app.url)).send().await.unwrap();
    assert_eq!(Answer::of(one).await.body["id"], "ba-agent");
    let none = app.client.get(format!("{}/v1/models/x", app.url)).send().await.unwrap();
    assert_eq!(none.status(), 404);
    let picture = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "x"}}]}]});
    assert_eq!(post(&app, "/v1/chat/completions", picture).await.body["error"]["code"], "unsupported_part");
}

/// SPEC I3: by an id of `/v1/files`, and inside the message; both lie in the conversation of the question.
#[tokio::test]
async fn files_reach_the_question() {
    let app = App::start().await;
    let form = "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n--b\r\nContent-Disposition: \
                form-data; name=\"file\"; filename=\"first.csv\"\r\n\r\na,b\n1,2\n\r\n--b--\r\n";
    let request = app.client.post(format!("{}/v1/files", app.url)).body(form);
    let request = request.header("content-type", "multipart/form-data; boundary=b");
    let kept = Answer::of(request.send().await.unwrap()).await;
    assert_eq!(
        (kept.body["object"].as_str(), kept.body["filename"].as_str()),
        (Some("file"), Some("first.csv"))
    );
    let id = kept.body["id"].as_str().unwrap().to_owned();
    let content = json!([
        {"type": "text", "text": "x"}, {"type": "file", "file": {"file_id": id}},
        {"type": "file", "file": {"filename": "second.csv", "file_data": "data:text/csv;base64,YSxiCjMsNAo="}}
    ]);
    let answer =
        post(&app, "/v1/chat/completions", json!({"messages": [{"role": "user", "content": content}]})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let all = app.get("/conversations").await;
    let conversations = all.body["data"]["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 1, "{conversations:?}");
    let list = Answer::of(app.client.get(format!("{}/v1/files", app.url)).send().await.unwrap()).await;
    let names: Vec<&str> =
        list.body["data"].as_array().unwrap().iter().filter_map(|f| f["filename"].as_str()).collect();
    assert_eq!(names, ["second.csv", "first.csv"]);
    for (file, code) in [
        (json!({"file_id": "file-000000000000-001"}), "not_found"),
        (json!({"file_id": "../../x"}), "not_found"),
        (json!({"filename": "x.csv", "file_data": "***"}), "invalid_file"),
        (json!({"filename": "x.exe", "file_data": "YQ=="}), "unsupported_file_type"),
        (json!({}), "invalid_file"),
    ] {
        let content = json!([{"type": "text", "text": "x"}, {"type": "file", "file": file}]);
        let refused =
            post(&app, "/v1/chat/completions", json!({"messages": [{"role": "user", "content": content}]}))
                .await;
        assert_eq!(refused.body["error"]["code"], code, "{file} {}", refused.body);
    }
    let gone = app.client.delete(format!("{}/v1/files/{id}", app.url)).send().await.unwrap();
    assert_eq!(Answer::of(gone).await.body["deleted"], true);
    assert_eq!(app.client.get(format!("{}/v1/files/{id}", app.url)).send().await.unwrap().status(), 404);
}

// SPEC I3
#[tokio::test]
async fn the_responses_dialect_goes_on_by_the_id_of_the_answer_before() {
    let app = App::start().await;
    let first = post(&app, "/v1/responses", json!({"model": "ba-agent", "input": "早"})).await;
    assert_eq!(
        (first.body["object"].as_str(), first.body["status"].as_str()),
        (Some("response"), Some("completed"))
    );
    assert_eq!(first.body["output"][0]["content"][0]["text"], "你问的是：早");
    let body = json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "晚"}]}], "stream": true,
        "previous_response_id": first.body["id"]});
    let response = app.client.post(format!("{}/v1/responses", app.url)).json(&body).send().await.unwrap();
    let events = Reader::new(response).all().await;
    let kinds: Vec<&str> = events.iter().filter_map(|event| event.data["type"].as_str()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("response.created", "response.completed"));
    assert!(events.iter().any(|event| event.data["delta"] == "你问的是：晚"));
    let all = app.get("/conversations").await;
    assert_eq!(all.body["data"]["conversations"].as_array().unwrap().len(), 1);
    let unknown = post(&app, "/v1/responses", json!({"input": "x", "previous_response_id": "resp_x"})).await;
    assert_eq!(unknown.status, 404);
    let document = app.client.get(format!("{}/openapi.json", app.url)).send().await.unwrap();
    assert_eq!(Answer::of(document).await.body["info"]["title"], "BA-Agent");
}
