//! Why a skill was not loaded, installed or activated. Every message names the file, and the line where there is one.

use std::path::{Path, PathBuf};

use crate::name::SkillName;

/// A skill folder or its `SKILL.md` cannot be used. Other skills load all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", file.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct LoadError {
    pub file: PathBuf,
    /// Counted from 1, in the whole file.
    pub line: Option<u64>,
    pub message: String,
}

impl LoadError {
    pub fn new(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into() }
    }

    pub fn at(file: &Path, line: u64, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), message: message.into() }
    }
}

/// An install, approval or removal that did not happen. Nothing is left half done.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the archive was refused: {0}")]
    Archive(String),
    #[error("the git source was refused: {0}")]
    Git(String),
    #[error("no skill `{name}`; known: {known}")]
    Unknown { name: String, known: String },
    #[error("`{0}` is already installed; remove it first, or ask to replace it")]
    Exists(SkillName),
    #[error("`{name}` is shipped with the program: it can be disabled or shadowed, not {verb}")]
    Shipped { name: SkillName, verb: &'static str },
    #[error("`{name}` comes from a configured folder ({}): change it there", folder.display())]
    Configured { name: SkillName, folder: PathBuf },
    #[error("`{name}` changed while it was being reviewed: {reviewed} is now {found}")]
    Changed { name: SkillName, reviewed: String, found: String },
    #[error("cannot {what}: {detail}")]
    Io { what: String, detail: String },
}

impl ManageError {
    pub(crate) fn io(what: impl Into<String>, error: &std::io::Error) -> Self {
        Self::Io { what: what.into(), detail: error.to_string() }
    }

    /// Stable code for the API.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Load(_) => "skill_invalid",
            Self::Archive(_) => "skill_archive_refused",
            Self::Git(_) => "skill_git_refused",
            Self::Unknown { .. } => "skill_not_found",
            Self::Exists(_) => "skill_exists",
            Self::Shipped { .. } | Self::Configured { .. } => "skill_not_managed",
            Self::Changed { .. } => "skill_changed",
            Self::Io { .. } => "skill_io",
        }
    }
}
