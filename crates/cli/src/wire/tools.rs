//! The one list of tools, in the order the model reads them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ba_agent::pipeline::Counter;
use ba_agent::{Registry, Tool, Typed};
use ba_config::Config;
use ba_skills::SkillLibrary;
use ba_store::Store;
use ba_tools::{ActivateSkill, Python, RunPython};

use super::embedded::{ShippedSkills, unpack};

pub struct Tools {
    pub registry: Registry,
    /// What the model must know beside the tools: connections.
    pub prompt_extras: Vec<String>,
}

pub fn registry(
    _config: &Config,
    store: &Store,
    python: &Python,
    skills: &Arc<SkillLibrary>,
    counter: &Counter,
) -> anyhow::Result<Tools> {
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Typed::new(RunPython { python: python.clone(), store: store.clone() })),
        Arc::new(Typed::new(ActivateSkill::new(skills.clone(), counter.clone()))),
    ];
    Ok(Tools { registry: Registry::new(tools)?, prompt_extras: Vec::new() })
}

/// The skills inside the binary, as a folder.
pub fn shipped_skills(data_dir: &Path) -> anyhow::Result<Option<PathBuf>> {
    Ok(Some(unpack::<ShippedSkills>(&data_dir.join("shipped/skills"))?))
}
