//! The TOML file as written, before it is checked. Unknown names are refused, with the line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::web::RawWeb;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawConfig {
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    pub summary_model: Option<String>,
    pub summary_base_url: Option<String>,
    pub summary_api_key: Option<String>,
    pub window: Option<usize>,
    pub model_timeout: Option<u64>,
    pub stream_idle: Option<u64>,
    pub proxy: Option<String>,
    pub prices: Option<RawPrices>,
    pub models: BTreeMap<String, RawModel>,
    pub connections: BTreeMap<String, RawConnection>,
    pub mcp: BTreeMap<String, RawMcp>,
    pub engine: Option<RawEngine>,
    pub lake: BTreeMap<String, RawLake>,
    pub database: Option<String>,
    pub s3: Option<RawS3>,
    pub python_env: Option<PathBuf>,
    pub cache_dir: Option<PathBuf>,
    pub python: RawPython,
    pub limits: RawLimits,
    pub server: RawServer,
    pub web: RawWeb,
    pub skills: Vec<PathBuf>,
    pub prompts: Option<PathBuf>,
    pub record: Option<PathBuf>,
    pub glossary: Option<PathBuf>,
    pub otlp: Option<String>,
    pub audit: Option<String>,
    pub witness: Option<bool>,
    pub openai_footnotes: Option<bool>,
    pub log_days: Option<u64>,
    pub retention_days: Option<u32>,
}

/// One of `[models.NAME]`; what it leaves out is as for every model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawModel {
    pub model: String,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    pub window: Option<usize>,
    pub timeout: Option<u64>,
    pub stream_idle: Option<u64>,
    pub proxy: Option<String>,
    pub prices: Option<RawPrices>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPrices {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawConnection {
    pub url: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub allow_superuser: bool,
    #[serde(default)]
    pub functions: Vec<String>,
    pub timeout: Option<u64>,
    pub timezone: Option<String>,
    pub dialect: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEngine {
    pub url: String,
    pub timeout: Option<u64>,
    pub timezone: Option<String>,
    pub uploads_mb: Option<u64>,
}

/// One of `[lake.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawLake {
    pub path: String,
    #[serde(default)]
    pub description: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawMcp {
    pub command: Option<String>,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub url: Option<String>,
    pub key: Option<String>,
    pub tools: Vec<String>,
    pub writes: Vec<String>,
    pub timeout: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawS3 {
    pub bucket: String,
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub access_key: String,
    pub secret_key: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawPython {
    pub memory_mb: Option<u64>,
    pub pool: Option<usize>,
    pub max_jobs: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawLimits {
    pub max_rounds: Option<u32>,
    pub max_tool_calls: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_seconds: Option<u64>,
    pub observation_tokens: Option<usize>,
    pub upload_mb: Option<u64>,
    pub user_mb: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawServer {
    pub trusted_proxies: Vec<String>,
    pub hosts: Vec<String>,
    pub share_links: Option<bool>,
    pub share_days: Option<u32>,
}
