//! From a file and an environment to a checked `Config`. The environment wins over the file, flags over both.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ba_protocol::Secret;
use ba_protocol::audit::AuditMode;
use url::Url;

use crate::error::ConfigError;
use crate::raw::{RawConfig, RawS3, RawServer};
use crate::types::*;

/// Where values come from. Tests give their own; the binary gives the process environment.
#[derive(Debug, Default)]
pub struct Sources {
    /// `--config`: must exist. Else `ba-agent.toml` in the current folder, when there is one.
    pub file: Option<PathBuf>,
    pub environment: BTreeMap<String, String>,
    /// `--listen` and `--data-dir`.
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
}

impl Sources {
    /// Reads the process environment: the only place that does.
    pub fn from_process() -> Self {
        Self { environment: std::env::vars().collect(), ..Self::default() }
    }

    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.environment.get(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty())
    }
}

type Result<T> = std::result::Result<T, ConfigError>;

/// Reads, merges and checks.
pub fn load(sources: &Sources) -> Result<Config> {
    let (mut raw, file) = read_file(sources)?;
    merge_environment(&mut raw, sources);
    let listen = sources.listen.clone().or(raw.listen.take());
    let listen = match listen {
        None => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8000),
        Some(given) => parse_listen(&given)?,
    };
    let data_dir =
        sources.data_dir.clone().or(raw.data_dir.take()).unwrap_or_else(|| PathBuf::from("ba-data"));
    // Everything below works with absolute paths: a job's folder means the same inside and outside the sandbox.
    let data_dir = std::path::absolute(&data_dir)
        .map_err(|e| ConfigError::invalid("data_dir", format!("{}: {e}", data_dir.display())))?;
    let models = crate::models::models(&raw, sources)?;
    let cache_dir = raw.cache_dir.clone().unwrap_or_else(|| default_cache(sources));
    Ok(Config {
        listen,
        data_dir,
        model: models.default,
        summary_model: models.summary,
        models: models.named,
        connections: connections(&raw)?,
        engine: crate::engine::engine(&raw)?,
        mcp: crate::mcp::servers(&raw, sources)?,
        storage: Storage {
            database: raw.database.take().map(Secret::new),
            s3: raw.s3.take().map(s3).transpose()?,
        },
        python: Python {
            env: raw.python_env.take(),
            cache_dir,
            memory_mb: raw.python.memory_mb.unwrap_or(2048),
            pool: raw.python.pool.unwrap_or(3).clamp(1, 64),
            max_jobs: raw.python.max_jobs.unwrap_or(8).clamp(1, 256),
        },
        limits: limits(&raw),
        server: Server {
            share_days: share_days(&raw.server, sources)?,
            trusted_proxies: raw.server.trusted_proxies,
            hosts: raw.server.hosts,
        },
        web: crate::web::web(raw.web, sources)?,
        skills: raw.skills,
        prompts: raw.prompts,
        record: raw.record,
        glossary: raw.glossary,
        otlp: raw.otlp.as_deref().map(|given| parse_url("otlp", given)).transpose()?,
        audit: audit_mode(raw.audit.as_deref())?,
        witness: raw.witness.unwrap_or(true),
        openai_footnotes: raw.openai_footnotes.unwrap_or(true),
        log_days: raw.log_days.unwrap_or(30),
        retention_days: retention_days(raw.retention_days, sources)?,
        file,
    })
}

fn read_file(sources: &Sources) -> Result<(RawConfig, Option<PathBuf>)> {
    let path = match &sources.file {
        Some(path) => path.clone(),
        None if Path::new("ba-agent.toml").is_file() => PathBuf::from("ba-agent.toml"),
        None => return Ok((RawConfig::default(), None)),
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|source| ConfigError::Unreadable { path: path.clone(), source })?;
    let raw = toml::from_str(&text).map_err(|e| {
        // toml's own message quotes the line, which may hold a secret: give the place and the reason only.
        let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ConfigError::Syntax { path: path.clone(), message: format!("line {line}: {}", e.message()) }
    })?;
    Ok((raw, Some(path)))
}

fn merge_environment(raw: &mut RawConfig, sources: &Sources) {
    let set = |slot: &mut Option<String>, name: &str| {
        if let Some(value) = sources.var(name) {
            *slot = Some(value);
        }
    };
    set(&mut raw.listen, "BA_LISTEN");
    set(&mut raw.model, "BA_MODEL");
    set(&mut raw.base_url, "BA_BASE_URL");
    set(&mut raw.api_key, "BA_API_KEY");
    set(&mut raw.summary_model, "BA_SUMMARY_MODEL");
    set(&mut raw.database, "BA_DATABASE");
    set(&mut raw.proxy, "BA_PROXY");
    set(&mut raw.otlp, "BA_OTLP");
    set(&mut raw.audit, "BA_AUDIT");
    let paths = [
        (&mut raw.data_dir, "BA_DATA_DIR"),
        (&mut raw.python_env, "BA_PYTHON_ENV"),
        (&mut raw.cache_dir, "BA_CACHE_DIR"),
        (&mut raw.prompts, "BA_PROMPTS"),
        (&mut raw.record, "BA_RECORD"),
        (&mut raw.glossary, "BA_GLOSSARY"),
    ];
    for (slot, name) in paths {
        if let Some(value) = sources.var(name) {
            *slot = Some(PathBuf::from(value));
        }
    }
}

fn retention_days(given: Option<u32>, sources: &Sources) -> Result<Option<u32>> {
    let days = match sources.var("BA_RETENTION_DAYS") {
        None => given,
        Some(text) => Some(text.parse().map_err(|_| {
            ConfigError::invalid("retention_days", format!("`{text}` is not a number of days, such as 90"))
        })?),
    };
    if days == Some(0) {
        let message = "0 would delete every conversation; leave it out to keep them".to_owned();
        return Err(ConfigError::invalid("retention_days", message));
    }
    Ok(days)
}

/// The longest life of a share link, where the administrator allows any.
fn share_days(raw: &RawServer, sources: &Sources) -> Result<Option<u32>> {
    let allowed = match sources.var("BA_SHARE_LINKS").as_deref() {
        None => raw.share_links.unwrap_or(false),
        Some("true" | "1") => true,
        Some("false" | "0") => false,
        Some(other) => {
            let message = format!("`{other}` is neither true nor false");
            return Err(ConfigError::invalid("server.share_links", message));
        }
    };
    let days = raw.share_days.unwrap_or(30);
    if !(1..=3650).contains(&days) {
        let message = format!("{days} is not a number of days from 1 to 3650");
        return Err(ConfigError::invalid("server.share_days", message));
    }
    Ok(allowed.then_some(days))
}

fn audit_mode(given: Option<&str>) -> Result<AuditMode> {
    match given {
        None | Some("gate") => Ok(AuditMode::Gate),
        Some("mark") => Ok(AuditMode::Mark),
        Some("off") => Ok(AuditMode::Off),
        Some(other) => Err(ConfigError::invalid("audit", format!("`{other}` is none of gate, mark and off"))),
    }
}

fn parse_listen(given: &str) -> Result<SocketAddr> {
    let text = given.replace("localhost", "127.0.0.1");
    let text = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text };
    text.parse().map_err(|_| {
        ConfigError::invalid(
            "listen",
            format!("`{given}` is not an address and port, such as 127.0.0.1:8000"),
        )
    })
}

fn connections(raw: &RawConfig) -> Result<Vec<Connection>> {
    let mut all = Vec::new();
    for (name, given) in &raw.connections {
        let key = format!("connections.{name}");
        let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !plain {
            return Err(ConfigError::invalid(key, "use letters, digits, _ and - in a connection's name"));
        }
        if !given.url.contains(':') {
            return Err(ConfigError::invalid(
                key,
                "url must look like postgres://…, mysql://…, sqlite:…, clickhouse://…, grpc://… or trino://…",
            ));
        }
        all.push(Connection {
            name: name.clone(),
            url: Secret::new(&given.url),
            description: given.description.clone(),
            allow_superuser: given.allow_superuser,
            functions: given.functions.clone(),
            timeout_seconds: given.timeout.unwrap_or(60).clamp(1, 3600),
            timezone: given.timezone.as_deref().map(|zone| timezone(&key, zone)).transpose()?,
            dialect: dialect(&key, &given.url, given.dialect.as_deref())?,
        });
    }
    Ok(all)
}

/// The shape of a zone's name or of an offset; whether there is such a zone is seen when the connection is opened.
pub(crate) fn timezone(key: &str, given: &str) -> Result<String> {
    let zone = given.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '+' | '-' | ':');
    if zone.is_empty() || zone.len() > 64 || !zone.chars().all(plain) {
        let message = "timezone must be a zone such as Asia/Shanghai, or an offset such as +08:00";
        return Err(ConfigError::invalid(key, message));
    }
    Ok(zone.to_owned())
}

/// Arrow Flight SQL is one protocol for servers of many dialects: there it must be said, elsewhere the address says it.
fn dialect(key: &str, url: &str, given: Option<&str>) -> Result<Option<String>> {
    const KNOWN: [&str; 4] = ["spark", "postgres", "mysql", "trino"];
    let flight = url.starts_with("grpc");
    match given {
        None if flight => {
            Err(ConfigError::invalid(key, "a grpc:// address needs dialect: spark, postgres, mysql or trino"))
        }
        Some(_) if !flight => Err(ConfigError::invalid(key, "dialect is only for grpc:// addresses")),
        Some(name) if !KNOWN.contains(&name) => {
            Err(ConfigError::invalid(key, "dialect must be spark, postgres, mysql or trino"))
        }
        given => Ok(given.map(str::to_owned)),
    }
}

fn s3(raw: RawS3) -> Result<S3> {
    Ok(S3 {
        bucket: raw.bucket,
        endpoint: raw.endpoint.map(|u| parse_url("s3.endpoint", &u)).transpose()?,
        region: raw.region.unwrap_or_else(|| "us-east-1".to_owned()),
        access_key: Secret::new(raw.access_key),
        secret_key: Secret::new(raw.secret_key),
    })
}

fn limits(raw: &RawConfig) -> Limits {
    let given = &raw.limits;
    Limits {
        max_rounds: given.max_rounds.unwrap_or(30).clamp(1, 100),
        max_tool_calls: given.max_tool_calls.unwrap_or(48).clamp(1, 1_000),
        max_tokens: given.max_tokens.unwrap_or(2_000_000),
        max_seconds: given.max_seconds.unwrap_or(1_800).clamp(10, 86_400),
        observation_tokens: given.observation_tokens.unwrap_or(4_000).clamp(200, 100_000),
        upload_mb: given.upload_mb.unwrap_or(512).clamp(1, 102_400),
        user_mb: given.user_mb.unwrap_or(102_400).clamp(1, 1 << 30),
    }
}

pub(crate) fn parse_url(name: &str, given: &str) -> Result<Url> {
    // The value is not repeated: it may hold a password.
    let url =
        Url::parse(given).map_err(|e| ConfigError::invalid(name, format!("not a valid address: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ConfigError::invalid(name, "the address must begin with http:// or https://"));
    }
    Ok(url)
}

fn default_cache(sources: &Sources) -> PathBuf {
    let base = sources
        .var("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| sources.var("HOME").map(|home| Path::new(&home).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("ba-agent")
}
