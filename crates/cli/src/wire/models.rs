//! The configured model as a `Model`: a wire client, a recording, or the offline analyst.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ba_agent::Models;
use ba_config::{Config, ModelChoice, RemoteModel};
use ba_model::{HttpModel, Matching, Model, ModelSettings, Prices, RecordingModel, ReplayModel};

/// Default and summary models; `record`, or `BA_RECORD`, keeps the default one's turns in a file.
pub fn models(config: &Config, record: Option<&Path>) -> anyhow::Result<Models> {
    let mut default = model(config, &config.model)?;
    if let Some(path) = record.or(config.record.as_deref()) {
        default = Arc::new(RecordingModel::new(default, path).with_context(|| path.display().to_string())?);
    }
    let summary = match &config.summary_model {
        Some(choice) => Some(model(config, choice)?),
        // The offline analyst cannot summarise; extraction serves instead.
        None => matches!(config.model, ModelChoice::Remote(_)).then(|| default.clone()),
    };
    Ok(Models { default, summary, by_name: Arc::new(|_| None) })
}

fn model(config: &Config, choice: &ModelChoice) -> anyhow::Result<Arc<dyn Model>> {
    Ok(match choice {
        ModelChoice::Offline => Arc::new(offline(config.glossary.as_deref())?.asking(connections(config))),
        ModelChoice::Replay(path) => {
            let replay = ReplayModel::open(path, Matching::Order);
            Arc::new(replay.with_context(|| format!("the recording {}", path.display()))?)
        }
        ModelChoice::Remote(remote) => Arc::new(HttpModel::new(settings(remote))?),
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

/// The databases the offline analyst writes SQL for.
pub fn connections(config: &Config) -> Vec<ba_analyst::Connection> {
    let known = |c: &ba_config::Connection| {
        let dialect = match ba_data::dialect_of(c.url.expose())? {
            ba_data::guard::Dialect::Postgres => ba_analyst::Dialect::Postgres,
            ba_data::guard::Dialect::MySql => ba_analyst::Dialect::MySql,
            ba_data::guard::Dialect::Sqlite => ba_analyst::Dialect::Sqlite,
            ba_data::guard::Dialect::ClickHouse | ba_data::guard::Dialect::DuckDb => return None,
        };
        Some(ba_analyst::Connection { name: c.name.clone(), dialect })
    };
    config.connections.iter().filter_map(known).collect()
}

/// What the wire client needs of the configuration.
pub fn settings(remote: &RemoteModel) -> ModelSettings {
    let dialect = match remote.dialect {
        ba_config::Dialect::OpenAi => ba_model::Dialect::OpenAi,
        ba_config::Dialect::Anthropic => ba_model::Dialect::Anthropic,
    };
    let mut settings = ModelSettings::new(&remote.provider, dialect, &remote.model, remote.base_url.clone());
    settings.api_key = remote.api_key.clone();
    settings.window = remote.window;
    settings.prices = remote.prices.map(|p| Prices { input: p.input, output: p.output, cached: p.cached });
    settings.proxy = remote.proxy.clone();
    settings.timeouts.total = Duration::from_secs(remote.timeout_seconds);
    settings
}
