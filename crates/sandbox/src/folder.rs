//! The working folder seen from outside: prepared, measured and read without ever following a link.
//! Everything a job left there is hostile, its names included.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};

use crate::{Input, Limits, OutputFile, RejectedFile, SandboxError};

const MAX_DEPTH: usize = 8;
const MAX_NAME: usize = 200;

/// Something in the folder, by its path from the folder.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    kind: FileType,
    bytes: u64,
    links: u64,
    stamp: Stamp,
}

/// Changes whenever the file does; a job cannot set `ctime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    ctime: (i64, i64),
    bytes: u64,
}

pub(crate) type Snapshot = BTreeMap<PathBuf, Stamp>;

/// Why a folder may not be used further.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    Files,
    Bytes,
    Depth,
    /// One call left more than it may.
    Left,
}

pub(crate) fn unusable(path: &Path, error: impl std::fmt::Display) -> SandboxError {
    SandboxError::Input { what: path.display().to_string(), detail: error.to_string() }
}

pub(crate) fn absolute(path: &Path) -> Result<PathBuf, SandboxError> {
    std::path::absolute(path).map_err(|e| unusable(path, e))
}

/// Makes the folder and gives it to the job's user when the server is root.
pub(crate) fn prepare(folder: &Path, owner: Option<u32>) -> Result<(), SandboxError> {
    fs::create_dir_all(folder).map_err(|e| unusable(folder, e))?;
    if let Some(uid) = owner {
        let meta = fs::symlink_metadata(folder).map_err(|e| unusable(folder, e))?;
        if !meta.is_dir() {
            return Err(unusable(folder, "not a folder"));
        }
        if meta.uid() != uid {
            std::os::unix::fs::lchown(folder, Some(uid), Some(uid)).map_err(|e| unusable(folder, e))?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
                .map_err(|e| unusable(folder, e))?;
        }
    }
    Ok(())
}

/// Lets the job's group, and nobody else, read an input when the server is root. Works on the file that was opened, never on
/// what its name may mean a moment later.
pub(crate) fn open_input(path: &Path, group: Option<u32>) -> Result<(), SandboxError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| unusable(path, e))?;
    let stat = rustix::fs::fstat(&file).map_err(|e| unusable(path, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(unusable(path, "not a plain file"));
    }
    if let Some(gid) = group {
        let mode = stat.st_mode & 0o7777;
        if mode & 0o004 == 0 && !(stat.st_gid == gid && mode & 0o040 != 0) {
            let gid = rustix::fs::Gid::from_raw(gid);
            rustix::fs::fchown(&file, None, Some(gid)).map_err(|e| unusable(path, e))?;
            let mode = Mode::from_raw_mode((mode & 0o7707) | 0o040);
            rustix::fs::fchmod(&file, mode).map_err(|e| unusable(path, e))?;
        }
    }
    Ok(())
}

/// Names must be plain, so that they can stand in the working folder.
pub(crate) fn check_inputs(inputs: &[Input]) -> Result<(), SandboxError> {
    for name in inputs.iter().flat_map(|input| &input.names) {
        let plain = !name.is_empty()
            && name.len() <= 255
            && name != "."
            && name != ".."
            && !name.contains(['/', '\0'])
            && !name.chars().any(char::is_control);
        if !plain {
            return Err(SandboxError::Input {
                what: format!("input name {name:?}"),
                detail: "not a plain name".into(),
            });
        }
    }
    Ok(())
}

/// Makes the empty files that inputs are mounted on; returns those that were not there before.
pub(crate) fn add_placeholders(folder: &Path, names: &[String]) -> Result<Vec<String>, SandboxError> {
    let dir = open_folder(folder).map_err(|e| unusable(folder, e))?;
    let mut made = Vec::new();
    for name in names {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
        match rustix::fs::openat(&dir, name.as_str(), flags, Mode::from_raw_mode(0o444)) {
            Ok(_) => made.push(name.clone()),
            Err(rustix::io::Errno::EXIST) => {
                if make_way(&dir, name).map_err(|e| unusable(&folder.join(name), e))? {
                    rustix::fs::openat(&dir, name.as_str(), flags, Mode::from_raw_mode(0o444))
                        .map_err(|e| unusable(&folder.join(name), e))?;
                    made.push(name.clone());
                }
            }
            Err(error) => return Err(unusable(&folder.join(name), error)),
        }
    }
    Ok(made)
}

/// Clears the place of an upload: a plain file stays and is covered, a folder is renamed, anything else goes.
fn make_way(dir: &OwnedFd, name: &str) -> rustix::io::Result<bool> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(false),
        FileType::Directory => {
            let free = (1..1000).map(|number| format!("{name}.folder{number}")).find(|other| {
                rustix::fs::renameat_with(dir, name, dir, other.as_str(), RenameFlags::NOREPLACE).is_ok()
            });
            free.ok_or(rustix::io::Errno::EXIST)?;
        }
        _ => rustix::fs::unlinkat(dir, name, AtFlags::empty())?,
    }
    Ok(true)
}

/// Takes placeholders away again, but only while they are empty.
pub(crate) fn remove_placeholders(folder: &Path, names: &[String]) {
    let Ok(dir) = open_folder(folder) else { return };
    for name in names {
        if let Ok(stat) = rustix::fs::statat(&dir, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
            && stat.st_size == 0
            && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        {
            let _ = rustix::fs::unlinkat(&dir, name.as_str(), AtFlags::empty());
        }
    }
}

fn open_folder(folder: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// The limits for a folder that already holds more than they allow: it may be used and cleaned, and must not grow.
pub(crate) fn widened(folder: &Path, limits: &Limits) -> Limits {
    let most = Limits { files: limits.files.saturating_mul(50), folder_bytes: u64::MAX, ..limits.clone() };
    let Ok(entries) = walk(folder, &most) else { return limits.clone() };
    let bytes = entries.iter().map(Entry::weight).sum();
    Limits {
        files: limits.files.max(entries.len() as u64),
        folder_bytes: limits.folder_bytes.max(bytes),
        ..limits.clone()
    }
}

/// Lists the folder within the limits. Stops at the first excess, so that a million files cost little.
pub(crate) fn walk(folder: &Path, limits: &Limits) -> Result<Vec<Entry>, Excess> {
    let mut walker = Walker { entries: Vec::new(), bytes: 0, files: limits.files, most: limits.folder_bytes };
    if let Ok(dir) = open_folder(folder) {
        walker.visit(&dir, Path::new(""), 0)?;
    }
    Ok(walker.entries)
}

/// Opens a folder of the job without following a link, even when its mode forbids reading.
fn open_below(dir: &OwnedFd, name: &std::ffi::OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Err(rustix::io::Errno::ACCESS) => {
            rustix::fs::chmodat(dir, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
            rustix::fs::openat(dir, name, flags, Mode::empty())
        }
        other => other,
    }
}

struct Walker {
    entries: Vec<Entry>,
    bytes: u64,
    files: u64,
    most: u64,
}

impl Walker {
    fn visit(&mut self, dir: &OwnedFd, at: &Path, depth: usize) -> Result<(), Excess> {
        if depth > MAX_DEPTH {
            return Err(Excess::Depth);
        }
        let Ok(reader) = Dir::read_from(dir) else { return Ok(()) };
        for item in reader.flatten() {
            let name = OsString::from_vec(item.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let path = at.join(&name);
            let entry = Entry::new(path.clone(), &stat);
            let kind = entry.kind;
            self.bytes = self.bytes.saturating_add(entry.weight());
            self.entries.push(entry);
            if self.entries.len() as u64 > self.files {
                return Err(Excess::Files);
            }
            if self.bytes > self.most {
                return Err(Excess::Bytes);
            }
            if kind == FileType::Directory
                && let Ok(below) = open_below(dir, &name)
            {
                self.visit(&below, &path, depth + 1)?;
            }
        }
        Ok(())
    }
}

impl Entry {
    #[allow(clippy::unnecessary_cast, reason = "the count is narrower on other architectures")]
    fn new(path: PathBuf, stat: &Stat) -> Self {
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let ctime = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0));
        Self {
            path,
            kind: FileType::from_raw_mode(stat.st_mode),
            bytes,
            links: stat.st_nlink as u64,
            stamp: Stamp { inode: stat.st_ino, ctime, bytes },
        }
    }

    /// What it counts: a hole is as large as it says, for whoever copies it.
    fn weight(&self) -> u64 {
        if self.kind == FileType::RegularFile { self.bytes } else { 0 }
    }
}

/// Whether what a call created or changed is more than it may leave.
pub(crate) fn left_too_much(before: &Snapshot, after: &[Entry], inputs: &[String], limits: &Limits) -> bool {
    let mine = |e: &&Entry| {
        before.get(&e.path) != Some(&e.stamp)
            && !e.path.to_str().is_some_and(|p| inputs.iter().any(|i| i == p))
    };
    after.iter().filter(mine).map(Entry::weight).sum::<u64>() > limits.left_bytes
}

pub(crate) fn snapshot(entries: &[Entry]) -> Snapshot {
    entries.iter().map(|entry| (entry.path.clone(), entry.stamp.clone())).collect()
}

/// What the job created or changed; what is unfit is removed and named.
pub(crate) fn collect(
    folder: &Path,
    before: &Snapshot,
    after: &[Entry],
    inputs: &[String],
) -> (Vec<OutputFile>, Vec<RejectedFile>) {
    let (mut files, mut rejected) = (Vec::new(), Vec::new());
    let Ok(dir) = open_folder(folder) else { return (files, rejected) };
    for entry in after {
        let known = before.get(&entry.path);
        if known == Some(&entry.stamp) || entry.path.to_str().is_some_and(|p| inputs.iter().any(|i| i == p)) {
            continue;
        }
        match judge(entry) {
            Verdict::Offer(name) => files.push(OutputFile {
                kind: kind_of(&name),
                name,
                bytes: entry.bytes,
                created: known.is_none(),
            }),
            Verdict::Ignore => {}
            Verdict::Reject(reason) => {
                remove(&dir, &entry.path);
                rejected.push(RejectedFile {
                    name: entry.path.to_string_lossy().into_owned(),
                    reason: reason.into(),
                });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    (files, rejected)
}

enum Verdict {
    Offer(String),
    Ignore,
    Reject(&'static str),
}

fn judge(entry: &Entry) -> Verdict {
    match entry.kind {
        FileType::Directory => return Verdict::Ignore,
        FileType::RegularFile => {}
        FileType::Symlink => return Verdict::Reject("symbolic links are not allowed"),
        _ => return Verdict::Reject("not a plain file"),
    }
    if entry.links != 1 {
        return Verdict::Reject("hard links are not allowed");
    }
    let Some(name) = entry.path.to_str() else { return Verdict::Reject("the name is not valid text") };
    if name.len() > MAX_NAME || name.chars().any(unfit) || name.contains('\\') {
        return Verdict::Reject("the name is not allowed");
    }
    if name.split('/').any(|part| part.starts_with('.')) {
        return Verdict::Ignore;
    }
    Verdict::Offer(name.to_owned())
}

/// Control characters and those that change how a name reads.
fn unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

fn kind_of(name: &str) -> String {
    match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some(extension) if extension.len() <= 12 => extension.to_ascii_lowercase(),
        _ => "file".into(),
    }
}

/// Takes away everything that a call created or changed, however much and however deep.
pub(crate) fn remove_changes(folder: &Path, before: &Snapshot, inputs: &[String]) {
    if let Ok(dir) = open_folder(folder) {
        remove_below(&dir, &dir, Path::new(""), before, inputs);
    }
}

fn remove_below(top: &OwnedFd, dir: &OwnedFd, at: &Path, before: &Snapshot, inputs: &[String]) {
    let Ok(reader) = Dir::read_from(dir) else { return };
    for item in reader.flatten() {
        let name = OsString::from_vec(item.file_name().to_bytes().to_vec());
        let path = at.join(&name);
        if name == "." || name == ".." || path.to_str().is_some_and(|p| inputs.iter().any(|i| i == p)) {
            continue;
        }
        let Ok(stat) = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let entry = Entry::new(path.clone(), &stat);
        match (entry.kind, before.get(&path)) {
            // Known folders are as deep as the limits allow, so this recursion is short.
            (FileType::Directory, Some(_)) => {
                if let Ok(below) = open_below(dir, &name) {
                    remove_below(top, &below, &path, before, inputs);
                }
            }
            (FileType::Directory, None) => remove_tree(top, dir, &name),
            (_, Some(stamp)) if *stamp == entry.stamp => {}
            _ => drop(rustix::fs::unlinkat(dir, &name, AtFlags::empty())),
        }
    }
}

/// Removes a tree of any depth with two open descriptors: inner folders are moved up, then emptied.
fn remove_tree(top: &OwnedFd, dir: &OwnedFd, name: &std::ffi::OsStr) {
    let fresh = |number: usize| OsString::from(format!(".removing-{number}"));
    let mut moved = 0;
    if rustix::fs::renameat(dir, name, top, fresh(moved)).is_err() {
        return;
    }
    let mut pending = vec![fresh(moved)];
    while let Some(name) = pending.pop() {
        if let Ok(below) = open_below(top, &name) {
            for item in Dir::read_from(&below).into_iter().flatten().flatten() {
                let inner = OsString::from_vec(item.file_name().to_bytes().to_vec());
                if inner == "." || inner == ".." {
                    continue;
                }
                if rustix::fs::unlinkat(&below, &inner, AtFlags::empty()).is_err() {
                    moved += 1;
                    if rustix::fs::renameat(&below, &inner, top, fresh(moved)).is_ok() {
                        pending.push(fresh(moved));
                    }
                }
            }
        }
        let _ = rustix::fs::unlinkat(top, &name, AtFlags::REMOVEDIR);
    }
}

/// Removes one entry by walking down folder descriptors, so that no link on the way is followed.
fn remove(dir: &OwnedFd, path: &Path) {
    let Some(name) = path.file_name() else { return };
    let Ok(mut at) = dir.try_clone() else { return };
    for part in path.parent().into_iter().flat_map(Path::components) {
        match open_below(&at, part.as_os_str()) {
            Ok(next) => at = next,
            Err(_) => return,
        }
    }
    let _ = rustix::fs::unlinkat(&at, name, AtFlags::empty());
}

#[cfg(test)]
mod tests;
