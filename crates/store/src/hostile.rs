//! The one place where files that untrusted code made are opened. Links, devices, pipes and folders are refused.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::error::{Result, StoreError};

/// Opens a regular file for reading. A path inside `folder` is resolved beneath it without following any link;
/// another absolute path must not be a link itself.
pub(crate) fn open_regular(folder: Option<&Path>, path: &Path) -> Result<File> {
    // Without NONBLOCK a pipe would hang us.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let inside = folder.and_then(|f| relative_to(f, path).map(|rest| (f, rest)));
    let opened = match inside {
        Some((folder, rest)) => {
            let base = File::open(folder).map_err(|e| StoreError::io("opening the working folder", e))?;
            let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            openat2(&base, rest, flags, Mode::empty(), beneath)
        }
        None if path.is_absolute() => openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS),
        None => return Err(StoreError::Invalid("a relative path needs a folder".to_owned())),
    };
    let shown = path.display();
    let file = match opened {
        Ok(fd) => File::from(fd),
        Err(Errno::LOOP | Errno::XDEV) => {
            return Err(StoreError::Invalid(format!(
                "{shown} is a link or leaves its folder; only plain files are kept"
            )));
        }
        Err(Errno::NOENT | Errno::NOTDIR) => return Err(StoreError::not_found(format!("file {shown}"))),
        Err(e) => return Err(StoreError::io(format!("opening {shown}"), e.into())),
    };
    let meta = file.metadata().map_err(|e| StoreError::io(format!("reading {shown}"), e))?;
    if meta.is_file() { Ok(file) } else { Err(StoreError::Invalid(format!("{shown} is not a plain file"))) }
}

fn relative_to(folder: &Path, path: &Path) -> Option<PathBuf> {
    if path.is_relative() {
        return Some(path.to_owned());
    }
    path.strip_prefix(folder).ok().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_files_inside_the_folder_open() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("work");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(root.path().join("secret"), "s").unwrap();
        std::fs::write(folder.join("a.csv"), "a").unwrap();
        std::fs::write(folder.join("sub/b.csv"), "b").unwrap();
        symlink(root.path().join("secret"), folder.join("link")).unwrap();
        symlink(root.path(), folder.join("up")).unwrap();
        rustix::fs::mkfifoat(CWD, folder.join("pipe"), Mode::RUSR).unwrap();
        let open = |p: &str| open_regular(Some(&folder), Path::new(p));
        assert!(open("a.csv").is_ok());
        assert!(open("sub/b.csv").is_ok());
        assert!(open_regular(Some(&folder), &folder.join("a.csv")).is_ok());
        for bad in ["link", "up/secret", "../secret", "pipe", "sub", "missing", "a.csv/x"] {
            assert!(open(bad).is_err(), "{bad}");
        }
        assert!(open_regular(Some(&folder), &folder.join("link")).is_err());
        assert!(open_regular(None, &folder.join("link")).is_err());
        assert!(open_regular(None, Path::new("/dev/zero")).is_err());
    }
}
