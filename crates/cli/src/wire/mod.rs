//! Puts the parts together: store, sandbox, models, tools, agent. The order here is the order of a start.

pub mod embedded;
pub mod ingest;
pub mod models;
pub mod python;
pub mod reports;
pub mod samples;
pub mod tools;
pub mod web;

use std::sync::Arc;

use anyhow::Context;
use ba_agent::log::{ConversationLog, Redactor};
use ba_agent::metrics::Metrics;
use ba_agent::pipeline::{Counter, Executor, ExecutorConfig, IdempotencyCache};
use ba_agent::prompt::PromptTemplate;
use ba_agent::run::Limits;
use ba_agent::{Agent, AgentParts, EventSink, Models, Skills};
use ba_config::Config;
use ba_data::Tables;
use ba_model::TokenCounter;
use ba_protocol::OutputLevel;
use ba_protocol::audit::AuditMode;
use ba_skills::{LibraryConfig, SkillLibrary};
use ba_store::{Blobs, Meta, S3Config, Store, StoreConfig};
use ba_tools::Python;

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
            prefix: "ba-agent/".to_owned(),
            cache_bytes: 4 << 30,
        });
    }
    wanted.limits.upload_bytes = config.limits.upload_mb * 1024 * 1024;
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
    let tools::Tools { registry, tables } = tools::registry(config, &store, &python, &skills, &counter)?;
    let template = prompt(config)?;
    let parts = AgentParts {
        system_prompt: template.render(&registry, &[]),
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
            max_tool_calls: config.limits.max_tool_calls,
            max_tokens: config.limits.max_tokens,
            max_wall_seconds: config.limits.max_seconds,
        },
        default_level: OutputLevel::Standard,
        counter,
        metrics: Metrics::default(),
        log: ConversationLog::start(&log_dir(config), LOG_BYTES, Redactor::new(config.secrets())),
        skills: Skills::new(skills.clone(), &config.data_dir),
        audit: config.audit,
    };
    crate::telemetry::observe(&parts.metrics);
    Ok(App { store, agent: Agent::new(parts), python, skills, tables })
}

fn prompt(config: &Config) -> anyhow::Result<PromptTemplate> {
    match &config.prompts {
        None => PromptTemplate::embedded().context("the built-in prompt"),
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

/// How uploads are read.
pub fn ingest(app: &App) -> Arc<dyn ba_server::Ingest> {
    Arc::new(ingest::TableIngest {
        python: app.python.clone(),
        tables: app.tables.clone(),
        store: app.store.clone(),
    })
}
