//! What endpoints say of their windows (SPEC W5), and what is taken when they say nothing.

use ba_model::{Dialect, HttpModel, Model as _, WindowSource};

use crate::server::{Server, json};
use crate::wire::settings;

async fn learnt(
    provider: &str,
    model: &str,
    answers: Vec<crate::server::Exchange>,
) -> (usize, WindowSource, Vec<String>) {
    let server = Server::start(answers).await;
    let mut wanted = settings(&server, Dialect::OpenAi);
    (wanted.provider, wanted.model) = (provider.into(), model.into());
    wanted.base_url = server.url.join("/v1").unwrap();
    let mut client = HttpModel::new(wanted).unwrap();
    client.learn_window().await;
    let asked = server.asked().iter().map(|a| a.head.lines().next().unwrap_or_default().to_owned()).collect();
    (client.info().window, client.window_source(), asked)
}

#[tokio::test]
async fn the_list_of_models_tells_the_window() {
    let list = r#"{"data":[{"id":"other","context_length":1000},{"id":"mine","max_model_len":40960}]}"#;
    let (window, from, _) = learnt("openai-compatible", "mine", vec![json(200, list)]).await;
    assert_eq!((window, from), (40_960, WindowSource::Endpoint));
    let list = r#"{"data":[{"id":"mine","context_length":"65536"}]}"#;
    assert_eq!(learnt("openai-compatible", "mine", vec![json(200, list)]).await.0, 65_536);
}

// A llama.cpp server names its only model by the file, and serves less than the model was trained with.
#[tokio::test]
async fn llama_cpp_tells_what_it_serves() {
    let list = r#"{"data":[{"id":"/models/q.gguf","meta":{"n_ctx_train":32768}}]}"#;
    let props = r#"{"default_generation_settings":{"n_ctx":8192}}"#;
    let (window, from, asked) =
        learnt("openai-compatible", "q", vec![json(200, list), json(200, props)]).await;
    assert_eq!((window, from), (8_192, WindowSource::Endpoint));
    assert_eq!(asked, ["get /v1/models http/1.1", "get /props http/1.1"]);
    let (window, ..) = learnt("openai-compatible", "q", vec![json(200, list), json(404, "{}")]).await;
    assert_eq!(window, 32_768);
}

#[tokio::test]
async fn ollama_is_asked_in_its_own_way() {
    let shown = r#"{"parameters":"stop \"x\"\nnum_ctx 16384","model_info":{"qwen3.context_length":40960}}"#;
    let (window, _, asked) = learnt("ollama", "qwen3", vec![json(200, shown)]).await;
    assert_eq!((window, asked), (16_384, vec!["post /api/show http/1.1".to_owned()]));
    let shown = r#"{"model_info":{"qwen3.context_length":40960}}"#;
    assert_eq!(learnt("ollama", "qwen3", vec![json(200, shown)]).await.0, 40_960);
}

#[tokio::test]
async fn silence_and_nonsense_leave_the_table_and_the_default() {
    for answer in
        [json(404, "{}"), json(200, "[]"), json(200, r#"{"data":[{"id":"gpt-4o","context_length":7}]}"#)]
    {
        let (window, from, _) = learnt("openai", "gpt-4o", vec![answer.clone()]).await;
        assert_eq!((window, from), (128_000, WindowSource::Table));
        let (window, from, _) = learnt("openai", "nobody", vec![answer]).await;
        assert_eq!((window, from), (32_768, WindowSource::Default));
    }
}

#[tokio::test]
async fn a_configured_window_is_asked_of_nobody() {
    let server = Server::start(vec![json(200, "{}")]).await;
    let mut wanted = settings(&server, Dialect::OpenAi);
    wanted.window = Some(9_000);
    let mut client = HttpModel::new(wanted).unwrap();
    client.learn_window().await;
    assert_eq!((client.info().window, client.window_source()), (9_000, WindowSource::Configured));
    assert!(server.asked().is_empty());
}
