//! Brings skills in from a folder, a zip archive or a git address. Only listed regular files are copied, each
//! through the same checks; nothing of what is brought in is ever run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog::{Hidden, skill_dirs};
use crate::error::{LoadError, ManageError};
use crate::limits::Limits;
use crate::skill::{Skill, Source};
use crate::{git_import, tree, zip_import};

/// Where a skill is installed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Folder(PathBuf),
    /// The archive's bytes, and its name for people.
    Zip {
        name: String,
        bytes: Vec<u8>,
    },
    /// `https://host/repo.git`, with an optional `#folder/in/it`.
    Git(GitUrl),
}

/// A git address and which kinds of address are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitUrl {
    pub url: String,
    pub allow: GitAllow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitAllow {
    /// Only `https://`.
    HttpsOnly,
    /// Also `file://`, for administrators at the command line.
    LocalToo,
}

impl Origin {
    /// What a person typed at the command line: a git address, a `.zip` file or a folder.
    pub fn from_argument(argument: &str) -> Result<Self, ManageError> {
        if argument.contains("://") || argument.ends_with(".git") {
            return Ok(Self::Git(GitUrl { url: argument.to_owned(), allow: GitAllow::LocalToo }));
        }
        let path = Path::new(argument);
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        let limit = Limits::default().archive_bytes;
        let size = fs::metadata(path).map_err(|e| ManageError::io(format!("read {argument}"), &e))?.len();
        if size > limit {
            return Err(ManageError::Archive(format!("it is larger than {} MB", limit >> 20)));
        }
        let bytes = fs::read(path).map_err(|e| ManageError::io(format!("read {argument}"), &e))?;
        Ok(Self::Zip { name: argument.to_owned(), bytes })
    }

    /// One line for the ledger and the log.
    pub fn describe(&self) -> String {
        match self {
            Self::Folder(path) => format!("folder {}", path.display()),
            Self::Zip { name, .. } => {
                format!("zip {}", name.chars().take(200).collect::<String>().escape_debug())
            }
            Self::Git(git) => format!("git {}", git.url.chars().take(300).collect::<String>().escape_debug()),
        }
    }
}

/// Skills staged for installation. The folder goes away with this value.
pub struct Staged {
    pub skills: Vec<Skill>,
    _folder: tempfile::TempDir,
}

/// Unpacks, checks and copies every skill found into a folder below `staging`, one sub-folder each.
pub fn stage(origin: &Origin, staging: &Path, limits: &Limits) -> Result<Staged, ManageError> {
    let folder = tempfile::Builder::new()
        .prefix(".staging-")
        .tempdir_in(staging)
        .map_err(|e| ManageError::io("make a staging folder", &e))?;
    let unpacked = folder.path().join("unpacked");
    let from = match origin {
        Origin::Folder(path) => path.clone(),
        Origin::Zip { bytes, .. } => {
            zip_import::unpack(bytes, &unpacked, limits)?;
            unpacked
        }
        Origin::Git(git) => {
            let archive = git_import::fetch(git, folder.path(), limits)?;
            zip_import::unpack(&archive, &unpacked, limits)?;
            unpacked
        }
    };
    let mut dirs = Vec::new();
    skill_dirs(&from, Hidden::Look, limits, &mut dirs)?;
    if dirs.is_empty() {
        return Err(LoadError::new(&from, "no folder with a SKILL.md was found").into());
    }
    let mut skills: Vec<Skill> = Vec::new();
    for (n, dir) in dirs.iter().enumerate() {
        let skill = Skill::load(dir, Source::Installed, limits)?;
        // The folder's name is kept while it is read; only now does it get its final one.
        let target = folder.path().join(format!("{n}")).join(skill.name.as_str());
        copy(dir, &target, limits)?;
        let copied = Skill::load(&target, Source::Installed, limits)?;
        if copied.hash != skill.hash {
            return Err(LoadError::new(dir, "changed while it was copied").into());
        }
        if skills.iter().any(|s| s.name == copied.name) {
            return Err(LoadError::new(dir, format!("there are two skills called `{}`", copied.name)).into());
        }
        skills.push(Skill { name: skill.name, ..copied });
    }
    Ok(Staged { skills, _folder: folder })
}

fn copy(from: &Path, to: &Path, limits: &Limits) -> Result<(), ManageError> {
    for file in tree::list(from, limits)? {
        let bytes = tree::read(from, &file.path, limits)?;
        write_file(to, &file.path, &bytes, limits)?;
    }
    Ok(())
}

/// Creates a new file below `root`; never overwrites one.
pub(crate) fn write_file(root: &Path, path: &str, bytes: &[u8], limits: &Limits) -> Result<(), ManageError> {
    let place = tree::absolute(root, path, limits)?;
    let failed = |e: &std::io::Error| ManageError::io(format!("write {}", path.escape_debug()), e);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(|e| failed(&e))?;
    }
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).open(&place).map_err(|e| failed(&e))?;
    std::io::Write::write_all(&mut file, bytes).map_err(|e| failed(&e))
}
