//! An empty file for each conversation with live variables, so that a server that starts again can tell what is gone. Never holds
//! anything of a conversation but its name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::SessionKey;

/// More are not remembered: a note is not worth reading a million names at the start.
const MOST: usize = 10_000;

pub(crate) struct Marks {
    folder: PathBuf,
}

/// The mark of one conversation.
pub(crate) struct Mark {
    path: Option<PathBuf>,
    is_set: bool,
}

impl Marks {
    pub(crate) fn new(scratch: &Path) -> Self {
        let folder = scratch.join("states");
        if let Err(error) = fs::create_dir_all(&folder) {
            tracing::warn!(%error, "lost Python state will not be told of after a restart");
        }
        Self { folder }
    }

    pub(crate) fn of(&self, key: &SessionKey) -> Mark {
        let plain = !key.0.is_empty()
            && key.0.len() <= 100
            && key.0.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let path = plain.then(|| self.folder.join(&key.0));
        let is_set = path.as_ref().is_some_and(|path| path.exists());
        Mark { path, is_set }
    }

    /// Conversations whose variables went with an earlier server.
    pub(crate) fn left_behind(&self) -> Vec<SessionKey> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|e| e.file_name().into_string().ok()).map(SessionKey).take(MOST).collect()
    }
}

impl Mark {
    pub(crate) fn set(&mut self) {
        if let Some(path) = self.path.as_ref().filter(|_| !self.is_set) {
            self.is_set = fs::File::create(path).is_ok();
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(path) = self.path.as_ref().filter(|_| self.is_set) {
            let _ = fs::remove_file(path);
            self.is_set = false;
        }
    }
}
