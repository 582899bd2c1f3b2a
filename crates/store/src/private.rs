//! What the store writes is for its own account alone (SPEC H6): folders 0700, files 0600.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What others on the machine may not have.
const OTHERS: u32 = 0o077;

/// Makes a folder, and those above it that are missing, for the owner alone.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a new empty file, or empties an old one, for the owner alone.
pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Takes away what others may do with it. What belongs to somebody else, and links, are left as they are.
pub(crate) fn close_to_others(path: &Path) -> io::Result<bool> {
    let meta = std::fs::symlink_metadata(path)?;
    let mine = meta.uid() == rustix::process::geteuid().as_raw();
    if meta.is_symlink() || !mine || meta.mode() & OTHERS == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(path, Permissions::from_mode(meta.mode() & 0o7700))?;
    Ok(true)
}

/// Whether to look only, or to put things right as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    No,
    Yes,
}

/// Everything under a data folder that other accounts could read or reach by its own mode. Two kinds of files are meant
/// to be read by the sandbox's own account and are passed over: the program's Python sources under `sandbox/`, and files
/// lent to its group.
pub fn open_to_others(root: &Path, repair: Repair) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    note(root, repair, &mut found)?;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() || (folder == root && entry.file_name() == "sandbox") {
                continue;
            }
            note(&path, repair, &mut found)?;
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(found)
}

fn note(path: &Path, repair: Repair, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let me = rustix::process::geteuid().as_raw();
    let lent =
        meta.is_file() && meta.gid() != rustix::process::getegid().as_raw() && meta.mode() & 0o037 == 0;
    if meta.uid() != me || lent || meta.mode() & OTHERS == 0 {
        return Ok(());
    }
    found.push(path.to_owned());
    if repair == Repair::Yes {
        close_to_others(path)?;
    }
    Ok(())
}

/// Removes a folder with all in it, also where model-written code took away its own right to look inside.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(path);
            std::fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn unlock(folder: &Path) {
    let real = std::fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir());
    if !real || std::fs::set_permissions(folder, Permissions::from_mode(0o700)).is_err() {
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        unlock(&entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_could_read_is_found_and_closed() {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), Permissions::from_mode(0o700)).unwrap();
        let (folder, sources) = (root.path().join("blobs"), root.path().join("sandbox"));
        for dir in [&folder, &sources] {
            std::fs::create_dir(dir).unwrap();
            std::fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
        }
        let file = folder.join("a");
        std::fs::write(&file, "x").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        let mut found = open_to_others(root.path(), Repair::No).unwrap();
        found.sort();
        assert_eq!(found, [folder.clone(), file.clone()]);
        assert_eq!(open_to_others(root.path(), Repair::Yes).unwrap().len(), 2);
        assert_eq!(open_to_others(root.path(), Repair::No).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o400);
    }
}
