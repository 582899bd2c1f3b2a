//! Lists and reads a skill's folder as hostile input: regular files only, inside the folder, within the limits.
//! Never follows a link, never returns a path that leaves the folder.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::LoadError;
use crate::limits::Limits;

/// Folders that belong to tools, not to the skill.
const SKIPPED: [&str; 6] = [".git", "__pycache__", "node_modules", ".venv", ".DS_Store", "__MACOSX"];

/// One regular file, by its path relative to the skill, `/`-separated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: String,
    pub size: u64,
    /// Changes whenever the file may have changed; includes the change time, which its owner cannot set.
    pub stamp: [i128; 4],
}

/// Every file of a skill, sorted by path.
pub fn list(root: &Path, limits: &Limits) -> Result<Vec<Found>, LoadError> {
    let mut found = Vec::new();
    let mut total = 0u64;
    let mut open = vec![(root.to_owned(), String::new(), 0usize)];
    while let Some((folder, prefix, depth)) = open.pop() {
        if depth > limits.depth {
            return Err(LoadError::new(&folder, format!("folders are nested deeper than {}", limits.depth)));
        }
        for entry in read_dir(&folder)? {
            let name = entry
                .file_name()
                .into_string()
                .map_err(|_| LoadError::new(&entry.path(), "the file name is not UTF-8"))?;
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            check_relative(&path, limits).map_err(|m| LoadError::new(&entry.path(), m))?;
            let meta = fs::symlink_metadata(entry.path()).map_err(|e| unreadable(&entry.path(), &e))?;
            if meta.is_dir() {
                open.push((entry.path(), format!("{path}/"), depth + 1));
                continue;
            }
            if !meta.is_file() {
                return Err(LoadError::new(&entry.path(), "links and special files are refused"));
            }
            total += meta.len();
            if meta.len() > limits.file_bytes || total > limits.total_bytes || found.len() >= limits.files {
                return Err(LoadError::new(&entry.path(), oversize(limits)));
            }
            found.push(Found { path, size: meta.len(), stamp: stamp(&meta) });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

pub(crate) fn oversize(limits: &Limits) -> String {
    format!(
        "a skill holds at most {} files, {} MB together and {} MB each",
        limits.files,
        limits.total_bytes >> 20,
        limits.file_bytes >> 20
    )
}

fn stamp(meta: &fs::Metadata) -> [i128; 4] {
    let time = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
    [
        i128::from(meta.len()),
        time(meta.mtime(), meta.mtime_nsec()),
        time(meta.ctime(), meta.ctime_nsec()),
        i128::from(meta.ino()),
    ]
}

/// Sub-folders and files of a folder, sorted by name.
pub(crate) fn read_dir(folder: &Path) -> Result<Vec<fs::DirEntry>, LoadError> {
    let mut entries = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| unreadable(folder, &e))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

fn unreadable(path: &Path, error: &std::io::Error) -> LoadError {
    LoadError::new(path, format!("cannot be read: {error}"))
}

/// A path of plain components below the skill: no `..`, no root, no drive, no control characters.
pub fn check_relative(path: &str, limits: &Limits) -> Result<(), String> {
    if path.is_empty() || path.len() > limits.path_bytes {
        return Err(format!("a path must have 1 to {} bytes", limits.path_bytes));
    }
    if path.contains(['\\', '\0', ':']) || path.chars().any(char::is_control) {
        return Err(format!("`{}` has characters a path may not have", path.escape_debug()));
    }
    if path.split('/').any(|part| part.is_empty() || part == "." || part == ".." || part.ends_with(' ')) {
        return Err(format!("`{}` leaves the skill's folder or is not plain", path.escape_debug()));
    }
    Ok(())
}

/// Reads a listed file, refusing links that appeared since and files that grew.
pub fn read(root: &Path, path: &str, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    let file = absolute(root, path, limits)?;
    let meta = fs::symlink_metadata(&file).map_err(|e| unreadable(&file, &e))?;
    if !meta.is_file() {
        return Err(LoadError::new(&file, "links and special files are refused"));
    }
    let mut bytes = Vec::new();
    fs::File::open(&file)
        .and_then(|f| f.take(limits.file_bytes + 1).read_to_end(&mut bytes))
        .map_err(|e| unreadable(&file, &e))?;
    if bytes.len() as u64 > limits.file_bytes {
        return Err(LoadError::new(&file, oversize(limits)));
    }
    Ok(bytes)
}

/// The place of a checked relative path.
pub fn absolute(root: &Path, path: &str, limits: &Limits) -> Result<PathBuf, LoadError> {
    check_relative(path, limits).map_err(|m| LoadError::new(root, m))?;
    Ok(root.join(path))
}

/// Programs have no place in a skill: its scripts are text and run in the sandbox.
pub fn is_program(bytes: &[u8]) -> bool {
    const MAGIC: [&[u8]; 9] = [
        b"\x7fELF",
        b"MZ",
        b"\xfe\xed\xfa\xce",
        b"\xfe\xed\xfa\xcf",
        b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"\0asm",
        b"!<arch>\n",
    ];
    MAGIC.iter().any(|m| bytes.starts_with(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_below_the_folder_pass() {
        let limits = Limits::default();
        for good in ["SKILL.md", "scripts/rfm.py", "references/说明.md", "a b/c.txt"] {
            assert!(check_relative(good, &limits).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "./a",
            "C:\\x",
            "a\\b",
            "a\0b",
            "a\nb",
            "c:x",
            "a/ ",
            &"x".repeat(300),
        ] {
            assert!(check_relative(bad, &limits).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn links_special_and_large_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "x").unwrap();
        let limits = Limits { file_bytes: 10, files: 2, ..Limits::default() };
        assert_eq!(list(dir.path(), &limits).unwrap().len(), 1);
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        assert!(list(dir.path(), &limits).unwrap_err().message.contains("links"));
        assert!(read(dir.path(), "link", &limits).unwrap_err().message.contains("links"));
        fs::remove_file(dir.path().join("link")).unwrap();
        fs::write(dir.path().join("big"), "x".repeat(11)).unwrap();
        assert!(list(dir.path(), &limits).unwrap_err().message.contains("at most"));
        assert!(read(dir.path(), "big", &limits).is_err());
    }

    #[test]
    fn a_very_deep_tree_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/c/d/e/f/g/h/i")).unwrap();
        assert!(list(dir.path(), &Limits::default()).unwrap_err().message.contains("deeper"));
    }
}
