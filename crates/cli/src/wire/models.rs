//! The configured model as a `Model`: a wire client, a recording, or the offline analyst.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ba_agent::Models;
use ba_config::{Config, ModelChoice, RemoteModel};
use ba_model::{HttpModel, Matching, Model, ModelSettings, Prices, RecordingModel, ReplayModel};

/// Default, summary and named models; `record`, or `BA_RECORD`, keeps the default one's turns in a file. Endpoints are
/// asked for their windows, all at the same time.
pub async fn models(config: &Config, record: Option<&Path>) -> anyhow::Result<Models> {
    let summary = async {
        match &config.summary_model {
            Some(choice) => model(config, choice).await.map(Some),
            None => Ok(None),
        }
    };
    let named = futures::future::try_join_all(config.models.iter().map(|named| async move {
        let model = model(config, &named.choice).await.with_context(|| format!("[models.{}]", named.name))?;
        anyhow::Ok((named.name.clone(), model))
    }));
    let (mut default, summary, named) = tokio::try_join!(model(config, &config.model), summary, named)?;
    if let Some(path) = record.or(config.record.as_deref()) {
        default = Arc::new(RecordingModel::new(default, path).with_context(|| path.display().to_string())?);
    }
    // The offline analyst cannot summarise; extraction serves instead.
    let summary = summary.or_else(|| matches!(config.model, ModelChoice::Remote(_)).then(|| default.clone()));
    Ok(Models { default, summary, named })
}

async fn model(config: &Config, choice: &ModelChoice) -> anyhow::Result<Arc<dyn Model>> {
    Ok(match choice {
        ModelChoice::Offline => Arc::new(offline(config.glossary.as_deref())?.asking(connections(config))),
        ModelChoice::Replay(path) => {
            let replay = ReplayModel::open(path, Matching::Order);
            Arc::new(replay.with_context(|| format!("the recording {}", path.display()))?)
        }
        ModelChoice::Remote(remote) => {
            let mut client = HttpModel::new(settings(remote))?;
            client.learn_window().await;
            Arc::new(client)
        }
    })
}

/// The offline analyst, with the words of the business where a file of them is configured.
pub fn offline(words: Option<&Path>) -> anyhow::Result<ba_analyst::OfflineAnalyst> {
    let Some(path) = words else { return Ok(ba_analyst::OfflineAnalyst::new()?) };
    let named = || format!("the glossary {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    let glossary = ba_analyst::Glossary::built_in()?.extended(&text).with_context(named)?;
    Ok(ba_analyst::OfflineAnalyst::with_glossary(glossary))
}

/// The SQL of a connection, by its address or as configured.
pub fn dialect(connection: &ba_config::Connection) -> Option<ba_data::guard::Dialect> {
    let named = connection.dialect.as_deref().and_then(ba_data::guard::Dialect::named);
    named.or_else(|| ba_data::dialect_of(connection.url.expose()))
}

/// The databases the offline analyst writes SQL for.
pub fn connections(config: &Config) -> Vec<ba_analyst::Connection> {
    let known = |c: &ba_config::Connection| {
        let dialect = match dialect(c)? {
            ba_data::guard::Dialect::Postgres => ba_analyst::Dialect::Postgres,
            ba_data::guard::Dialect::MySql => ba_analyst::Dialect::MySql,
            ba_data::guard::Dialect::Sqlite => ba_analyst::Dialect::Sqlite,
            ba_data::guard::Dialect::ClickHouse
            | ba_data::guard::Dialect::DuckDb
            | ba_data::guard::Dialect::Spark
            | ba_data::guard::Dialect::Trino
            | ba_data::guard::Dialect::MsSql => return None,
        };
        Some(ba_analyst::Connection { name: c.name.clone(), dialect })
    };
    config.connections.iter().filter_map(known).collect()
}

/// What the wire client needs of the configuration.
pub fn settings(remote: &RemoteModel) -> ModelSettings {
    let mut settings =
        ModelSettings::new(&remote.provider, remote.dialect, &remote.model, remote.base_url.clone());
    settings.api_key = remote.api_key.clone();
    settings.window = remote.window;
    settings.prices = remote.prices.map(|p| Prices { input: p.input, output: p.output, cached: p.cached });
    settings.proxy = remote.proxy.clone();
    settings.timeouts.total = Duration::from_secs(remote.timeout_seconds);
    settings.timeouts.idle = Duration::from_secs(remote.idle_seconds);
    settings
}

#[cfg(test)]
mod tests {
    use ba_config::Sources;

    use super::*;

    async fn wired(toml: &str) -> Models {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ba-agent.toml");
        std::fs::write(&file, toml).unwrap();
        let data_dir = Some(folder.path().to_owned());
        let config = ba_config::load(&Sources { file: Some(file), data_dir, ..Sources::default() }).unwrap();
        models(&config, None).await.unwrap()
    }

    // SPEC W6, S4: a question, a skill or the summaries name a model by its own name or as provider:model.
    #[tokio::test]
    async fn configured_models_are_found_by_both_names_and_no_others() {
        let models = wired(
            "summary_model = \"small\"\nstream_idle = 77\n[models.small]\nmodel = \"ollama:qwen3\"\nwindow = 9000\n\
             base_url = \"http://127.0.0.1:9/v1\"",
        )
        .await;
        assert!(models.get(None).unwrap().info().offline);
        for name in ["small", "ollama:qwen3"] {
            assert_eq!(models.get(Some(name)).unwrap().info().window, 9_000, "{name}");
        }
        assert!(models.get(Some("ollama:other")).is_none());
        assert_eq!(models.summary.as_ref().unwrap().info().name, "ollama:qwen3");
        let names: Vec<&str> = models.choices().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["offline", "small"]);
    }
}
