//! The skills of a server: what there is, kept up to date without a restart, and the decisions people make about it.
//! Reading is a shared snapshot; changes happen one at a time and whole.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};

use crate::catalog::{Cache, Catalog, Entry, Root, Trust};
use crate::error::ManageError;
use crate::import::{self, Origin};
use crate::ledger::{Decision, Ledger};
use crate::limits::Limits;
use crate::name::SkillName;
use crate::skill::{Skill, Source};

#[derive(Debug, Clone)]
pub struct LibraryConfig {
    /// Folder of the shipped skills, when there is one on disk.
    pub shipped: Option<PathBuf>,
    /// The server's data folder; installed skills live in `skills/` below it.
    pub data_dir: PathBuf,
    /// More folders, and whether their content is trusted as it stands.
    pub folders: Vec<(PathBuf, Trust)>,
    pub limits: Limits,
}

pub struct SkillLibrary {
    roots: Vec<Root>,
    installed: PathBuf,
    ledger_file: PathBuf,
    limits: Limits,
    catalog: RwLock<Arc<Catalog>>,
    /// Held through every change and every scan.
    cache: Mutex<Cache>,
    looked: Mutex<Option<Instant>>,
}

/// How often a busy server looks at the folders.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Whether an installed skill of the same name gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Refuse,
    Yes,
}

impl SkillLibrary {
    /// Loads what is there. A broken skill, ledger or folder is a problem in the catalog, not a failure.
    pub fn open(config: LibraryConfig) -> Result<Self, ManageError> {
        let installed = config.data_dir.join("skills");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&installed)
            .map_err(|e| ManageError::io(format!("make {}", installed.display()), &e))?;
        let shipped = config.shipped.map(|path| Root { path, source: Source::Shipped, trust: Trust::Always });
        let own = Root { path: installed.clone(), source: Source::Installed, trust: Trust::Pinned };
        let folders =
            config.folders.into_iter().map(|(path, trust)| Root { path, source: Source::Configured, trust });
        let library = Self {
            roots: shipped.into_iter().chain([own]).chain(folders).collect(),
            ledger_file: config.data_dir.join("skills.json"),
            installed,
            limits: config.limits,
            catalog: RwLock::default(),
            cache: Mutex::default(),
            looked: Mutex::default(),
        };
        library.refresh();
        Ok(library)
    }

    /// The present snapshot.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read())
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Looks at the folders again; unchanged skills are not read. True when something changed.
    pub fn refresh(&self) -> bool {
        let mut cache = self.cache.lock();
        let (ledger, problem) = match Ledger::read(&self.ledger_file) {
            Ok(ledger) => (ledger, None),
            Err(e) => (Ledger::default(), Some(e)),
        };
        let mut fresh = Catalog::scan(&self.roots, &ledger, &self.limits, &mut cache);
        fresh.problems.extend(problem);
        if **self.catalog.read() == fresh {
            return false;
        }
        *self.catalog.write() = Arc::new(fresh);
        true
    }

    /// `refresh`, at most once a second: what a turn calls before it shows the list.
    pub fn refresh_sometimes(&self) {
        let mut looked = self.looked.lock();
        if looked.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
            *looked = Some(Instant::now());
            drop(looked);
            self.refresh();
        }
    }

    /// Installs every skill found in `origin`. They wait for approval; what they replace is gone.
    pub fn install(&self, origin: &Origin, replace: Replace) -> Result<Vec<Arc<Skill>>, ManageError> {
        let staged = import::stage(origin, &self.installed, &self.limits)?;
        let names: Vec<SkillName> = staged.skills.iter().map(|s| s.name.clone()).collect();
        {
            let _one_at_a_time = self.cache.lock();
            if let Some(taken) = names.iter().find(|n| self.installed.join(n.as_str()).exists())
                && replace == Replace::Refuse
            {
                return Err(ManageError::Exists(taken.clone()));
            }
            let mut ledger = Ledger::read(&self.ledger_file)?;
            for skill in &staged.skills {
                self.put_in_place(&skill.dir, &skill.name)?;
                let decision = ledger.skills.entry(skill.name.clone()).or_default();
                decision.origin = Some(origin.describe());
                decision.installed_at = Some(Timestamp::now());
            }
            ledger.write(&self.ledger_file)?;
        }
        self.refresh();
        let catalog = self.catalog();
        let installed = |name: &SkillName| {
            catalog.entries.iter().find(|e| e.skill.name == *name && e.skill.source == Source::Installed)
        };
        Ok(names.iter().filter_map(installed).map(|e| Arc::clone(&e.skill)).collect())
    }

    /// Renames the staged folder into place; the old one goes to the staging folder, which is deleted.
    fn put_in_place(&self, staged: &Path, name: &SkillName) -> Result<(), ManageError> {
        let place = self.installed.join(name.as_str());
        let failed = |e: &std::io::Error| ManageError::io(format!("install `{name}`"), e);
        let old = staged.with_extension("old");
        let replaced = place.exists();
        if replaced {
            fs::rename(&place, &old).map_err(|e| failed(&e))?;
        }
        fs::rename(staged, &place).map_err(|e| {
            if replaced {
                // Best effort: the old skill comes back.
                let _ = fs::rename(&old, &place);
            }
            failed(&e)
        })
    }

    /// Pins the content a person has reviewed. `reviewed` is the hash they were shown.
    pub fn approve(&self, name: &str, reviewed: &str, by: &str) -> Result<(), ManageError> {
        self.refresh();
        let entry = self.known(name)?;
        if entry.skill.hash != reviewed {
            let (reviewed, found) = (reviewed.chars().take(80).collect(), entry.skill.hash.clone());
            return Err(ManageError::Changed { name: entry.skill.name.clone(), reviewed, found });
        }
        self.decide(&entry.skill.name, |decision| {
            decision.approved = Some(reviewed.to_owned());
            decision.approved_at = Some(Timestamp::now());
            decision.approved_by = Some(by.to_owned());
        })
    }

    pub fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), ManageError> {
        let entry = self.known(name)?;
        self.decide(&entry.skill.name, |decision| decision.disabled = !enabled)
    }

    /// Deletes an installed skill and what was decided about it.
    pub fn remove(&self, name: &str) -> Result<(), ManageError> {
        let entry = self.known(name)?;
        let catalog = self.catalog();
        let installed = catalog
            .entries
            .iter()
            .find(|e| e.skill.name.as_str() == name && e.skill.source == Source::Installed);
        let Some(installed) = installed else {
            let name = entry.skill.name.clone();
            return Err(match entry.skill.source {
                Source::Shipped => ManageError::Shipped { name, verb: "removed" },
                _ => ManageError::Configured { name, folder: entry.skill.dir.clone() },
            });
        };
        {
            let _one_at_a_time = self.cache.lock();
            fs::remove_dir_all(&installed.skill.dir)
                .map_err(|e| ManageError::io(format!("remove `{name}`"), &e))?;
            let mut ledger = Ledger::read(&self.ledger_file)?;
            ledger.skills.remove(&installed.skill.name);
            ledger.write(&self.ledger_file)?;
        }
        self.refresh();
        Ok(())
    }

    /// What was decided about a skill, for the list.
    pub fn decision(&self, name: &SkillName) -> Option<Decision> {
        Ledger::read(&self.ledger_file).ok()?.skills.remove(name)
    }

    fn known(&self, name: &str) -> Result<Entry, ManageError> {
        let catalog = self.catalog();
        catalog.entry(name).cloned().ok_or_else(|| {
            let mut known: Vec<&str> = catalog.entries.iter().map(|e| e.skill.name.as_str()).collect();
            known.dedup();
            ManageError::Unknown { name: name.chars().take(80).collect(), known: known.join(", ") }
        })
    }

    fn decide(&self, name: &SkillName, change: impl FnOnce(&mut Decision)) -> Result<(), ManageError> {
        {
            let _one_at_a_time = self.cache.lock();
            let mut ledger = Ledger::read(&self.ledger_file)?;
            change(ledger.skills.entry(name.clone()).or_default());
            ledger.write(&self.ledger_file)?;
        }
        self.refresh();
        Ok(())
    }
}
