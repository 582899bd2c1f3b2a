//! The worker's Python sources, carried inside the binary so that a lone file works.

use std::fs;
use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use crate::SandboxError;

#[derive(RustEmbed)]
#[folder = "../../python"]
struct Sources;

/// The locked requirements as shipped.
pub(crate) fn requirements() -> Result<Vec<u8>, SandboxError> {
    Sources::get("requirements.lock")
        .map(|file| file.data.into_owned())
        .ok_or_else(|| SandboxError::Environment("the lock file is missing from this build".into()))
}

/// The package with its templates and fonts; not its tests, and no caches.
fn ships(name: &str) -> bool {
    name.starts_with("ba_worker/") && !name.contains("__pycache__")
}

/// Writes the sources below `scratch` unless they are there already, and returns their folder.
pub(crate) fn unpack(scratch: &Path) -> Result<PathBuf, SandboxError> {
    let mut names: Vec<_> = Sources::iter().filter(|name| ships(name)).collect();
    names.sort();
    let mut hash = Sha256::new();
    for name in &names {
        if let Some(file) = Sources::get(name) {
            hash.update(name.as_bytes());
            hash.update(&file.data);
        }
    }
    let folder = scratch.join(format!("worker-{}", &hex::encode(hash.finalize())[..16]));
    if folder.is_dir() {
        return Ok(folder);
    }
    let failed = |error: std::io::Error| SandboxError::internal("unpacking the worker", error);
    fs::create_dir_all(scratch).map_err(failed)?;
    let partial = tempfile::Builder::new().prefix("worker-").tempdir_in(scratch).map_err(failed)?;
    for name in &names {
        if let Some(file) = Sources::get(name) {
            let path = partial.path().join(name.as_ref());
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            fs::write(path, &file.data).map_err(failed)?;
        }
    }
    open_to_all(partial.path()).map_err(failed)?;
    match fs::rename(partial.path(), &folder) {
        Ok(()) => {}
        // Another process was faster; its copy has the same hash.
        Err(_) if folder.is_dir() => {}
        Err(error) => return Err(failed(error)),
    }
    Ok(folder)
}

/// The worker reads its sources after it gave up its own user.
fn open_to_all(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_to_all(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_twice_gives_the_same_complete_folder() {
        let dir = tempfile::tempdir().unwrap();
        let first = unpack(dir.path()).unwrap();
        assert!(first.join("ba_worker/boot.py").is_file());
        assert!(first.join("ba_worker/report/report.typ").is_file(), "templates and fonts ship too");
        assert!(!first.join("tests").exists());
        assert_eq!(first, unpack(dir.path()).unwrap());
        assert!(!requirements().unwrap().is_empty());
    }
}
