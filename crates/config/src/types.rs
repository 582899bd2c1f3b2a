//! The validated configuration, as structs per concern.

use std::net::SocketAddr;
use std::path::PathBuf;

use ba_protocol::Secret;
use ba_protocol::audit::AuditMode;
use url::Url;

pub use crate::presets::Dialect;
use crate::web::Web;

#[derive(Debug, Clone)]
pub struct Config {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub model: ModelChoice,
    /// Cheaper model for summaries; `None` uses the main one.
    pub summary_model: Option<ModelChoice>,
    /// `[models.NAME]`: others that a question, a skill or the summaries may choose (SPEC W6).
    pub models: Vec<NamedModel>,
    pub connections: Vec<Connection>,
    pub engine: Option<Engine>,
    pub mcp: Vec<McpServer>,
    pub storage: Storage,
    pub python: Python,
    pub limits: Limits,
    pub server: Server,
    pub web: Web,
    /// Folders with skills, beside the shipped ones.
    pub skills: Vec<PathBuf>,
    /// A prompts document to use instead of the built-in one.
    pub prompts: Option<PathBuf>,
    /// Where the model's turns are recorded, for `replay:<file>`.
    pub record: Option<PathBuf>,
    /// Words of the business for the offline analyst, added to its own (docs/offline-analyst.md).
    pub glossary: Option<PathBuf>,
    /// An OTLP/HTTP collector for traces and metrics; off when absent (SPEC M3).
    pub otlp: Option<Url>,
    /// What is done with figures that nothing proves (SPEC V5).
    pub audit: AuditMode,
    /// Whether headline figures of a language model's answers are computed a second time (SPEC V6).
    pub witness: bool,
    /// Whether OpenAI-compatible answers name such figures in footnotes.
    pub openai_footnotes: bool,
    /// Days that conversation logs are kept; 0 keeps them.
    pub log_days: u64,
    /// Conversations untouched for so many days are deleted (SPEC H8); kept for ever when absent.
    pub retention_days: Option<u32>,
    /// What was read, for `doctor`.
    pub file: Option<PathBuf>,
}

/// A model with a name of its own.
#[derive(Debug, Clone)]
pub struct NamedModel {
    pub name: String,
    pub choice: ModelChoice,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one or two per process")]
pub enum ModelChoice {
    Offline,
    Replay(PathBuf),
    Remote(RemoteModel),
}

impl ModelChoice {
    /// `provider:model`, as configured.
    pub fn name(&self) -> String {
        match self {
            ModelChoice::Offline => "offline".to_owned(),
            ModelChoice::Replay(file) => format!("replay:{}", file.display()),
            ModelChoice::Remote(remote) => format!("{}:{}", remote.provider, remote.model),
        }
    }
}

#[derive(Debug, Clone)]
pub struct RemoteModel {
    pub provider: String,
    pub dialect: Dialect,
    pub model: String,
    pub base_url: Url,
    pub api_key: Option<Secret>,
    /// Context window in tokens; `None` is asked of the endpoint, else guessed from the model's name.
    pub window: Option<usize>,
    pub prices: Option<Prices>,
    pub proxy: Option<Url>,
    /// For one answer with all its retries.
    pub timeout_seconds: u64,
    /// The longest silence of a stream.
    pub idle_seconds: u64,
}

/// Per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
}

/// A database `query_database` may read (SPEC K3).
#[derive(Debug, Clone)]
pub struct Connection {
    pub name: String,
    pub url: Secret,
    pub description: String,
    /// Said in words in the file: a superuser is refused otherwise.
    pub allow_superuser: bool,
    /// Functions of the database's own that queries may call besides the usual ones.
    pub functions: Vec<String>,
    pub timeout_seconds: u64,
    /// The zone its sessions work in, such as `Asia/Shanghai`; the server's own when absent.
    pub timezone: Option<String>,
    /// The SQL of a server whose address does not tell it: `spark`, `postgres`, `mysql` or `trino`.
    pub dialect: Option<String>,
}

/// An engine that reads Parquet files where they lie (SPEC N5).
#[derive(Debug, Clone)]
pub struct Engine {
    pub url: Secret,
    pub timeout_seconds: u64,
    pub timezone: Option<String>,
    /// From how many MB of Parquet on a statement over uploads is asked here; those of storage in S3 only.
    pub uploads_mb: u64,
    pub lakes: Vec<Lake>,
}

/// A folder of Parquet files, as one table.
#[derive(Debug, Clone)]
pub struct Lake {
    pub name: String,
    pub path: String,
    pub description: String,
}

/// A program whose tools the model may call (SPEC I2).
#[derive(Debug, Clone)]
pub struct McpServer {
    pub name: String,
    pub reach: McpReach,
    /// Tools that only read, and those that a person must allow first.
    pub tools: Vec<String>,
    pub writes: Vec<String>,
    pub timeout_seconds: u64,
}

#[derive(Debug, Clone)]
pub enum McpReach {
    Command { program: String, arguments: Vec<String>, environment: Vec<(String, Secret)> },
    Http { url: Url, key: Option<Secret> },
}

impl McpReach {
    /// What was given in the file; the little that is passed on of our own environment is none.
    fn secrets(&self) -> Vec<&Secret> {
        match self {
            Self::Command { environment, .. } => {
                let given =
                    environment.iter().filter(|(name, _)| !crate::mcp::PASSED.contains(&name.as_str()));
                given.map(|(_, value)| value).collect()
            }
            Self::Http { key, .. } => key.iter().collect(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Storage {
    /// PostgreSQL for several replicas; SQLite in the data folder when absent.
    pub database: Option<Secret>,
    pub s3: Option<S3>,
}

#[derive(Debug, Clone)]
pub struct S3 {
    pub bucket: String,
    pub endpoint: Option<Url>,
    pub region: String,
    pub access_key: Secret,
    pub secret_key: Secret,
}

#[derive(Debug, Clone)]
pub struct Python {
    /// An environment to use instead of the one made in the cache folder.
    pub env: Option<PathBuf>,
    /// Where environments are made.
    pub cache_dir: PathBuf,
    pub memory_mb: u64,
    pub pool: usize,
    pub max_jobs: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub max_rounds: u32,
    pub max_tool_calls: u32,
    pub max_tokens: u64,
    pub max_seconds: u64,
    pub observation_tokens: usize,
    pub upload_mb: u64,
    /// All files of one person together.
    pub user_mb: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Server {
    /// Proxies whose forwarded headers are believed.
    pub trusted_proxies: Vec<String>,
    /// Host names the server answers to, beside its own address.
    pub hosts: Vec<String>,
    /// How many days a share link may live; nobody may make one when absent (SPEC D4).
    pub share_days: Option<u32>,
}

impl Config {
    /// Every secret, so that logs can mask them by value.
    pub fn secrets(&self) -> Vec<String> {
        let named = self.models.iter().map(|m| &m.choice);
        let all = [Some(&self.model), self.summary_model.as_ref()].into_iter().flatten().chain(named);
        let keys = all.filter_map(|m| match m {
            ModelChoice::Remote(remote) => remote.api_key.as_ref(),
            _ => None,
        });
        let connections = self.connections.iter().map(|c| &c.url).chain(self.engine.iter().map(|e| &e.url));
        let storage = self.storage.database.iter().chain(self.storage.s3.iter().map(|s| &s.secret_key));
        let search = self.web.search.iter().filter_map(|p| p.key.as_ref());
        let mcp = self.mcp.iter().flat_map(|server| server.reach.secrets());
        keys.chain(connections)
            .chain(storage)
            .chain(search)
            .chain(mcp)
            .map(|s| s.expose().to_owned())
            .collect()
    }
}
