//! The folders of this machine that a program on our standard input may have read and written in. Links that lead out of
//! them are not followed.

use std::path::{Path, PathBuf};

use crate::error::{ApiError, Result};
use crate::routes::upload::FILE_TYPES;

/// Files that one folder brings at most.
const MAX_FILES: usize = 100;

pub struct Folders(Vec<PathBuf>);

impl Folders {
    /// Those of them that exist.
    pub fn new(given: &[PathBuf]) -> Self {
        Self(given.iter().filter_map(|folder| folder.canonicalize().ok()).collect())
    }

    /// One file, or the readable files right inside a folder, in the order of their names.
    pub fn files(&self, given: &str) -> Result<Vec<PathBuf>> {
        let path = self.inside(Path::new(given))?;
        if path.is_file() {
            return Ok(vec![path]);
        }
        let listed = std::fs::read_dir(&path).map_err(|error| {
            ApiError::bad_request("unreadable", format!("{} cannot be read: {error}", path.display()))
        })?;
        let is_taken = |file: &PathBuf| {
            let kind = file.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
            file.is_file() && FILE_TYPES.contains(&kind.as_str()) && self.inside(file).is_ok()
        };
        let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).filter(is_taken).collect();
        files.sort();
        files.truncate(MAX_FILES);
        if files.is_empty() {
            let message = format!("{} holds no file that can be read", path.display());
            return Err(ApiError::bad_request("no_file", message));
        }
        Ok(files)
    }

    /// Where a new file may be written: its folder must be there, and ours.
    pub fn target(&self, given: &str) -> Result<PathBuf> {
        let path = self.resolved(Path::new(given));
        let name =
            path.file_name().ok_or_else(|| ApiError::bad_request("bad_path", "the path names no file"))?;
        let folder = self.inside(path.parent().unwrap_or(Path::new(".")))?;
        Ok(folder.join(name))
    }

    /// Relative paths are below the first folder.
    fn resolved(&self, given: &Path) -> PathBuf {
        match self.0.first() {
            Some(first) if given.is_relative() => first.join(given),
            _ => given.to_owned(),
        }
    }

    fn inside(&self, given: &Path) -> Result<PathBuf> {
        let missing = |_| ApiError::not_found(&format!("{}", given.display()));
        let path = self.resolved(given).canonicalize().map_err(missing)?;
        if self.0.iter().any(|folder| path.starts_with(folder)) {
            return Ok(path);
        }
        let known: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        Err(ApiError::forbidden(
            "outside",
            format!("{} is outside the folders that were allowed: {}", path.display(), known.join(", ")),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_inside_is_read_or_written() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        for name in ["b.csv", "a.xlsx", "note.bin"] {
            std::fs::write(inside.join(name), "x").unwrap();
        }
        std::fs::write(outside.join("secret.csv"), "x").unwrap();
        std::os::unix::fs::symlink(outside.join("secret.csv"), inside.join("link.csv")).unwrap();
        let folders = Folders::new(std::slice::from_ref(&inside));
        let names = |files: Vec<PathBuf>| -> Vec<String> {
            files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(
            names(folders.files(".").unwrap()),
            ["a.xlsx", "b.csv"],
            "a link that leads out is not taken"
        );
        assert_eq!(names(folders.files("b.csv").unwrap()), ["b.csv"]);
        for hostile in ["link.csv", "../out/secret.csv", "/etc/passwd"] {
            assert_eq!(folders.files(hostile).unwrap_err().code(), "outside", "{hostile}");
        }
        assert_eq!(folders.files("nothing").unwrap_err().code(), "not_found");
        assert!(folders.target("new.pdf").unwrap().ends_with("in/new.pdf"));
        assert_eq!(folders.target("../out/new.pdf").unwrap_err().code(), "outside");
    }
}
