//! Puts the parts together: store, sandbox, models, tools, agent. The order here is the order of a start.

pub mod embedded;
pub mod ingest;
mod mcp;
pub mod models;
pub mod python;
pub mod reports;
pub mod samples;
pub mod setup;
pub mod tools;
pub mod web;
pub mod witness;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ba_agent::log::{ConversationLog, Redactor};
use ba_agent::metrics::Metrics;
use ba_agent::pipeline::{Counter, Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::prompt::PromptTemplate;
use ba_agent::run::Limits;
use ba_agent::{Agent, AgentParts, EventSink, Models, Skills};
use ba_config::Config;
use ba_data::Tables;
use ba_data::guard::Dialect;
use ba_model::TokenCounter;
use ba_protocol::OutputLevel;
use ba_protocol::audit::AuditMode;
use ba_skills::{LibraryConfig, SkillLibrary};
use ba_store::{Blobs, Meta, S3Config, Store, StoreConfig};
use ba_tools::Python;

/// Where an edited prompt is looked for, from the working folder.
const PROMPTS: &str = "docs/prompts.md";
/// A log file grows to this size before it goes on in another.
const LOG_BYTES: u64 = 32 * 1024 * 1024;

/// The program, wired.
pub struct App {
    pub store: Store,
    pub agent: Agent,
    pub python: Python,
    pub skills: Arc<SkillLibrary>,
    pub tables: Option<Tables>,
}

pub fn log_dir(config: &Config) -> std::path::PathBuf {
    config.data_dir.join("logs/conversations")
}

pub async fn open_store(config: &Config) -> anyhow::Result<Store> {
    let mut wanted = StoreConfig::local(&config.data_dir);
    if let Some(url) = &config.storage.database {
        wanted.meta = Meta::Postgres { url: url.expose().to_owned() };
    }
    if let Some(s3) = &config.storage.s3 {
        wanted.blobs = Blobs::S3(S3Config {
            bucket: s3.bucket.clone(),
            region: s3.region.clone(),
            endpoint: s3.endpoint.as_ref().map(|u| u.to_string().trim_end_matches('/').to_owned()),
            access_key: s3.access_key.expose().to_owned(),
            secret_key: s3.secret_key.expose().to_owned(),
            prefix: format!("{}/", tools::S3_PREFIX),
            cache_bytes: 4 << 30,
        });
    }
    wanted.limits.upload_bytes = config.limits.upload_mb * 1024 * 1024;
    wanted.limits.user_bytes = config.limits.user_mb * 1024 * 1024;
    Store::open(wanted)
        .await
        .with_context(|| format!("cannot open the data folder {}", config.data_dir.display()))
}

pub fn open_skills(config: &Config) -> anyhow::Result<Arc<SkillLibrary>> {
    let library = SkillLibrary::open(LibraryConfig {
        shipped: tools::shipped_skills(&config.data_dir)?,
        data_dir: config.data_dir.clone(),
        folders: config.skills.iter().map(|f| (f.clone(), ba_skills::Trust::Pinned)).collect(),
        limits: ba_skills::Limits::default(),
    })?;
    Ok(Arc::new(library))
}

/// Counts tokens as the configured model does.
pub fn counter(model: &str) -> Counter {
    let counter = TokenCounter::for_model(model);
    Arc::new(move |text| counter.count(text))
}

/// Wires an agent whose events go to `sink`.
pub async fn app(config: &Config, models: Models, sink: Arc<dyn EventSink>) -> anyhow::Result<App> {
    wire(config, models, sink, python::start(config).await).await
}

/// The conversation log; files that are too old go, now and every hour.
fn log(config: &Config) -> ConversationLog {
    let folder = log_dir(config);
    if config.log_days > 0 {
        let (folder, keep) = (folder.clone(), Duration::from_secs(config.log_days * 24 * 3600));
        tokio::spawn(async move {
            let mut hourly = tokio::time::interval(Duration::from_secs(3600));
            loop {
                hourly.tick().await;
                let folder = folder.clone();
                let expired = tokio::task::spawn_blocking(move || ba_agent::log::expire(&folder, keep)).await;
                if let Ok(Err(error)) = expired {
                    tracing::warn!(%error, "old conversation logs could not be removed");
                }
            }
        });
    }
    ConversationLog::start(&folder, LOG_BYTES, Redactor::new(config.secrets()))
}

/// For commands that only look: no Python is started.
pub async fn app_without_python(
    config: &Config,
    models: Models,
    sink: Arc<dyn EventSink>,
) -> anyhow::Result<App> {
    wire(config, models, sink, Python::Refused("this command does not run Python".to_owned())).await
}

async fn wire(
    config: &Config,
    models: Models,
    sink: Arc<dyn EventSink>,
    python: Python,
) -> anyhow::Result<App> {
    let store = open_store(config).await?;
    let skills = open_skills(config)?;
    let counter = counter(&models.default.info().name);
    let remote = mcp::tools(config, &store).await;
    let tools::Tools { registry, tables } =
        tools::registry(config, &store, &python, &skills, &counter, remote)?;
    let template = prompt(config, Path::new(PROMPTS))?;
    let witness = witness(config, &store, &registry)?;
    let parts = AgentParts {
        system_prompt: template.render(&registry, &[connections_in_english(config)]),
        store: store.clone(),
        models,
        registry,
        executor: Executor {
            config: ExecutorConfig {
                observation_tokens: config.limits.observation_tokens,
                evidence_bytes: match config.audit {
                    AuditMode::Off => 0,
                    AuditMode::Gate | AuditMode::Mark => ExecutorConfig::default().evidence_bytes,
                },
                ..ExecutorConfig::default()
            },
            cache: IdempotencyCache::default(),
            data: Arc::new(store.clone()),
        },
        sink,
        limits: Limits {
            max_rounds: config.limits.max_rounds,
            usual_rounds: Limits::default().usual_rounds,
            max_tool_calls: config.limits.max_tool_calls,
            max_tokens: config.limits.max_tokens,
            max_wall_seconds: config.limits.max_seconds,
        },
        default_level: OutputLevel::Standard,
        counter,
        metrics: Metrics::default(),
        log: log(config),
        skills: Skills::new(skills.clone(), &config.data_dir),
        audit: config.audit,
        witness,
    };
    crate::telemetry::observe(&parts.metrics);
    Ok(App { store, agent: Agent::new(parts), python, skills, tables })
}

/// Whoever computes headline figures a second time, unless it was switched off.
fn witness(
    config: &Config,
    store: &Store,
    registry: &ba_agent::Registry,
) -> anyhow::Result<Option<Arc<dyn ba_agent::Witness>>> {
    if !config.witness {
        return Ok(None);
    }
    let analyst = models::offline(config.glossary.as_deref())?.asking(models::connections(config));
    let witness = witness::Analyst::new(analyst, store.clone(), registry);
    Ok(witness.map(|w| Arc::new(w) as Arc<dyn ba_agent::Witness>))
}

/// The configured document, else the one of the working folder, else the built-in one (SPEC P12).
fn prompt(config: &Config, working: &Path) -> anyhow::Result<PromptTemplate> {
    match &config.prompts {
        None => match std::fs::read_to_string(working).map(|text| PromptTemplate::parse(&text)) {
            Ok(Ok(edited)) => Ok(edited),
            // Other projects have a file of this name too.
            Ok(Err(error)) => {
                tracing::warn!(path = %working.display(), %error, "not a prompts document; the built-in prompt is used");
                PromptTemplate::embedded().context("the built-in prompt")
            }
            Err(_) => PromptTemplate::embedded().context("the built-in prompt"),
        },
        Some(path) if path.exists() => {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            PromptTemplate::parse(&text).with_context(|| path.display().to_string())
        }
        Some(path) => {
            tracing::warn!(path = %path.display(), "the prompts file is missing; the built-in prompt is used");
            PromptTemplate::embedded().context("the built-in prompt")
        }
    }
}

/// The databases, for the English prompt; the Chinese one has them with its tool.
fn connections_in_english(config: &Config) -> String {
    let line = |name: &str, dialect: Option<Dialect>, about: &str, zone: Option<&String>| {
        let dialect = dialect.map_or_else(String::new, |d| format!(" ({d:?})"));
        let zone = zone.map(|z| format!(", time zone {z}")).unwrap_or_default();
        format!("- {name}{dialect}: {}{zone}", ba_protocol::text::shorten(about, 120))
    };
    let mut lines: Vec<String> = config
        .connections
        .iter()
        .map(|c| line(&c.name, models::dialect(c), &c.description, c.timezone.as_ref()))
        .collect();
    if let Some(engine) = &config.engine {
        let lakes: Vec<&str> = engine.lakes.iter().map(|lake| lake.name.as_str()).collect();
        let about = format!("tables {}", lakes.join(", "));
        lines.push(line("engine", Some(Dialect::Spark), &about, engine.timezone.as_ref()));
    }
    if lines.is_empty() { String::new() } else { format!("# Connections\n{}", lines.join("\n")) }
}

/// How uploads are read.
pub fn ingest(app: &App) -> Arc<dyn ba_server::Ingest> {
    Arc::new(ingest::TableIngest {
        python: app.python.clone(),
        tables: app.tables.clone(),
        store: app.store.clone(),
    })
}

#[cfg(test)]
mod tests {
    use ba_agent::Registry;
    use ba_agent::run::Language;
    use ba_config::Sources;

    use super::*;

    // SPEC P12: an edited document of the working folder is loaded; without one, and with a stranger's, the built-in one is.
    #[test]
    fn an_edited_prompt_in_the_working_folder_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let config = ba_config::load(&Sources::default()).unwrap();
        let file = folder.path().join("prompts.md");
        let first = |file: &Path| {
            let prompt = prompt(&config, file).unwrap().render(&Registry::default(), &[]);
            prompt.of(Language::Zh).chars().take(6).collect::<String>()
        };
        let built_in = first(&file);
        assert!(built_in.starts_with("你是"), "{built_in}");
        std::fs::write(&file, "# Prompts of another project").unwrap();
        assert_eq!(first(&file), built_in);
        let edited =
            "## STRUCTURED_RESPONSE_SYSTEM_PROMPT\n```text\n我是改过的<!-- tools --><!-- /tools -->\n```\n";
        std::fs::write(&file, edited).unwrap();
        assert_eq!(first(&file), "我是改过的");
    }
}
