//! `[engine]` and `[lake.NAME]`: the engine that reads files where they lie, and the folders it may read (SPEC N5).

use ba_protocol::Secret;

use crate::build::timezone;
use crate::error::ConfigError;
use crate::raw::RawConfig;
use crate::types::{Engine, Lake};

type Result<T> = std::result::Result<T, ConfigError>;

/// The connection's name, which no other may have.
const NAME: &str = "engine";

pub(crate) fn engine(raw: &RawConfig) -> Result<Option<Engine>> {
    let Some(given) = &raw.engine else {
        return match raw.lake.keys().next() {
            Some(name) => Err(ConfigError::invalid(
                format!("lake.{name}"),
                "a lake is read by an engine: configure [engine] too",
            )),
            None => Ok(None),
        };
    };
    if !given.url.starts_with("grpc") || !given.url.contains("://") {
        return Err(ConfigError::invalid("engine", "url must look like grpc://… or grpc+tls://…"));
    }
    if raw.connections.contains_key(NAME) {
        return Err(ConfigError::invalid(
            "connections.engine",
            "this name is that of [engine]; choose another",
        ));
    }
    let lakes: Result<Vec<Lake>> = raw
        .lake
        .iter()
        .map(|(name, lake)| {
            Ok(Lake {
                name: lake_name(name)?,
                path: path(name, &lake.path)?,
                description: lake.description.clone(),
            })
        })
        .collect();
    Ok(Some(Engine {
        url: Secret::new(&given.url),
        timeout_seconds: given.timeout.unwrap_or(120).clamp(1, 3600),
        timezone: given.timezone.as_deref().map(|zone| timezone("engine", zone)).transpose()?,
        uploads_mb: given.uploads_mb.unwrap_or(256).clamp(1, 1 << 20),
        lakes: lakes?,
    }))
}

/// A word that needs no quotes in SQL, and cannot be an upload's.
fn lake_name(name: &str) -> Result<String> {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with("upload_");
    if plain {
        return Ok(name.to_owned());
    }
    let message = "use letters, digits and _ in a lake's name, a letter first, and not upload_";
    Err(ConfigError::invalid(format!("lake.{name}"), message))
}

/// Somewhere the engine can read, without anything that would end a name in SQL.
fn path(name: &str, given: &str) -> Result<String> {
    let known = ["s3://", "s3a://", "gs://", "abfss://", "hdfs://", "file:///"];
    let plain = |c: char| !c.is_control() && !matches!(c, '`' | '\\' | '\'' | '"');
    if known.iter().any(|k| given.starts_with(k)) && given.chars().all(plain) && !given.contains("..") {
        return Ok(given.to_owned());
    }
    Err(ConfigError::invalid(format!("lake.{name}"), "path must look like s3://bucket/folder"))
}
