//! The one list of tools, in the order the model reads them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ba_agent::pipeline::Counter;
use ba_agent::{Registry, Tool, Typed};
use ba_config::Config;
use ba_data::{ConnectionConfig, Connections, SecretUrl, Tables};
use ba_skills::SkillLibrary;
use ba_store::Store;
use ba_tools::{ActivateSkill, FileReader, Python, QueryDatabase, RunPython};

use super::embedded::{ShippedSkills, unpack};

pub struct Tools {
    pub registry: Registry,
    pub tables: Option<Tables>,
}

pub fn registry(
    config: &Config,
    store: &Store,
    python: &Python,
    skills: &Arc<SkillLibrary>,
    counter: &Counter,
) -> anyhow::Result<Tools> {
    let tables = match python {
        Python::Ready(sandbox) => Some(Tables::new(sandbox.clone(), config.data_dir.join("sandbox/tables"))),
        Python::Refused(_) => None,
    };
    let connections = connections(config)?;
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Typed::new(FileReader { tables: tables.clone(), store: store.clone() })),
        Arc::new(Typed::new(QueryDatabase { tables: tables.clone(), connections, store: store.clone() })),
        Arc::new(Typed::new(RunPython { python: python.clone(), store: store.clone() })),
        Arc::new(Typed::new(ActivateSkill::new(skills.clone(), counter.clone()))),
    ];
    Ok(Tools { registry: Registry::new(tools)?, tables })
}

/// The databases of the configuration; nothing is connected before the first query.
pub fn connections(config: &Config) -> anyhow::Result<Connections> {
    let configs = config.connections.iter().map(|c| ConnectionConfig {
        name: c.name.clone(),
        url: SecretUrl::new(c.url.expose()),
        description: c.description.clone(),
        allow_superuser: c.allow_superuser,
        timeout: Duration::from_secs(c.timeout_seconds),
    });
    Ok(Connections::new(configs.collect())?)
}

/// The skills inside the binary, as a folder.
pub fn shipped_skills(data_dir: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(Some(unpack::<ShippedSkills>(&data_dir.join("shipped/skills"))?))
}
