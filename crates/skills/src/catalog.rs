//! All skills of all roots, and which one answers to a name (SPEC S1). One bad skill never stops the others.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::error::LoadError;
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::name::SkillName;
use crate::skill::{SKILL_MD, Skill, Source};
use crate::tree::{self, Found};

/// Whether a root's skills need their content approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Part of the program, or declared trusted by whoever configures it.
    Always,
    /// Only content whose hash was approved is used.
    Pinned,
}

/// A folder of skills, or one skill's folder. Later roots shadow earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    pub source: Source,
    pub trust: Trust,
}

/// Why a skill is or is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    Active,
    Disabled,
    /// Never approved.
    NeedsApproval,
    /// Approved once, but its content is another now.
    Changed,
    /// Another skill of this name is used.
    Shadowed {
        by: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub skill: Arc<Skill>,
    pub status: Status,
    pub trust: Trust,
}

/// What was found at one moment. Cheap to share, never changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// By name; of one name, the later root first.
    pub entries: Vec<Entry>,
    pub problems: Vec<LoadError>,
}

/// Loaded skills by folder with the listing they were loaded from, so that an unchanged one is not read again.
pub type Cache = HashMap<PathBuf, (Vec<Found>, Arc<Skill>)>;

impl Catalog {
    pub fn scan(roots: &[Root], ledger: &Ledger, limits: &Limits, cache: &mut Cache) -> Self {
        let mut problems = Vec::new();
        let mut found: BTreeMap<SkillName, Vec<Entry>> = BTreeMap::new();
        let mut fresh = Cache::new();
        for root in roots {
            let mut dirs = Vec::new();
            if let Err(e) = skill_dirs(&root.path, Hidden::Skip, limits, &mut dirs) {
                // The data folder has no skills until one is installed.
                if root.source != Source::Installed || root.path.exists() {
                    problems.push(e);
                }
            }
            for dir in dirs {
                match load_cached(&dir, root.source, limits, cache, &mut fresh) {
                    Ok(skill) => {
                        let same_root = |e: &&Entry| e.skill.dir.starts_with(&root.path);
                        let entries = found.entry(skill.name.clone()).or_default();
                        if let Some(other) = entries.iter().find(same_root) {
                            let first = other.skill.dir.display();
                            problems.push(LoadError::new(
                                &dir,
                                format!("has the name of {first}, which came first"),
                            ));
                            continue;
                        }
                        let status = approval(&skill, root.trust, ledger);
                        entries.push(Entry { skill, status, trust: root.trust });
                    }
                    Err(e) => problems.push(e),
                }
            }
        }
        *cache = fresh;
        let entries = found.into_values().flat_map(shadow).collect();
        Self { entries, problems }
    }

    /// The skill that answers to a name.
    pub fn active(&self, name: &str) -> Option<&Arc<Skill>> {
        self.active_skills().find(|s| s.name.as_str() == name)
    }

    pub fn active_skills(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.entries.iter().filter(|e| e.status == Status::Active).map(|e| &e.skill)
    }

    /// The entry an administrator means by a name: the last root's.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.skill.name.as_str() == name)
    }

    /// What the model is told when it asks for a skill it cannot have.
    pub fn why_not(&self, name: &str) -> String {
        let reason = match self.entry(name).map(|e| &e.status) {
            Some(Status::Disabled) => format!("skill `{name}` is disabled"),
            Some(Status::NeedsApproval) => format!("skill `{name}` waits for an administrator's approval"),
            Some(Status::Changed) => {
                format!("skill `{name}` changed since it was approved and waits for a new approval")
            }
            _ => format!("no skill `{}`", name.chars().take(80).collect::<String>().escape_debug()),
        };
        let names: Vec<&str> = self
            .active_skills()
            .filter(|s| !s.front.disable_model_invocation)
            .map(|s| s.name.as_str())
            .collect();
        format!("{reason}; available: {}", if names.is_empty() { "none".into() } else { names.join(", ") })
    }
}

fn load_cached(
    dir: &Path,
    source: Source,
    limits: &Limits,
    old: &Cache,
    fresh: &mut Cache,
) -> Result<Arc<Skill>, LoadError> {
    let listing = tree::list(dir, limits)?;
    let skill = match old.get(dir) {
        Some((seen, skill)) if *seen == listing && skill.source == source => Arc::clone(skill),
        _ => Arc::new(Skill::load(dir, source, limits)?),
    };
    fresh.insert(dir.to_owned(), (listing, Arc::clone(&skill)));
    Ok(skill)
}

fn approval(skill: &Skill, trust: Trust, ledger: &Ledger) -> Status {
    let decision = ledger.skills.get(&skill.name);
    if decision.is_some_and(|d| d.disabled) {
        return Status::Disabled;
    }
    match (trust, decision.and_then(|d| d.approved.as_deref())) {
        (Trust::Always, _) => Status::Active,
        (Trust::Pinned, Some(hash)) if hash == skill.hash => Status::Active,
        (Trust::Pinned, Some(_)) => Status::Changed,
        (Trust::Pinned, None) => Status::NeedsApproval,
    }
}

/// The last active one of a name wins. One that waits for approval shadows nothing: what worked keeps working.
fn shadow(mut same: Vec<Entry>) -> Vec<Entry> {
    same.reverse();
    let mut winner: Option<PathBuf> = None;
    for entry in &mut same {
        match &winner {
            Some(by) if entry.status == Status::Active => entry.status = Status::Shadowed { by: by.clone() },
            None if entry.status == Status::Active => winner = Some(entry.skill.dir.clone()),
            _ => {}
        }
    }
    same
}

/// Whether folders such as `.claude/skills` are looked into: yes in something being installed, no in a root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    Skip,
    Look,
}

/// Folders with a `SKILL.md`, at most four levels down, sorted. Links are not followed.
pub(crate) fn skill_dirs(
    root: &Path,
    hidden: Hidden,
    limits: &Limits,
    out: &mut Vec<PathBuf>,
) -> Result<(), LoadError> {
    fn walk(
        dir: &Path,
        depth: usize,
        hidden: Hidden,
        limits: &Limits,
        out: &mut Vec<PathBuf>,
    ) -> Result<(), LoadError> {
        let is_skill = fs::symlink_metadata(dir.join(SKILL_MD)).is_ok();
        if is_skill {
            out.push(dir.to_owned());
        }
        if is_skill || depth == 0 || out.len() >= limits.skills_per_root {
            return Ok(());
        }
        for entry in tree::read_dir(dir)? {
            let is_dir = entry.file_type().is_ok_and(|t| t.is_dir());
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let skipped = matches!(name.as_ref(), ".git" | "node_modules" | "__pycache__" | ".venv");
            if is_dir && !skipped && (hidden == Hidden::Look || !name.starts_with('.')) {
                // An unreadable sub-folder hides only itself.
                let _ = walk(&entry.path(), depth - 1, hidden, limits, out);
            }
        }
        Ok(())
    }
    walk(root, 4, hidden, limits, out)
}
