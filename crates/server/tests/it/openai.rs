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
