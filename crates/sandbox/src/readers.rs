//! Processes that answered a query and wait for the next one over the same files of the same owner. They know nothing that the
//! files do not say, so any of them may go at any time. Never given user code, nor made of a process that ran any.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tempfile::TempDir;

use crate::child::Child;
use crate::job::Query;
use crate::monitor::Load;
use crate::{SandboxError, folder};

/// One that nobody asked for so long goes.
const IDLE: Duration = Duration::from_secs(60);
/// One that grew beyond this is not kept.
const MOST_MEMORY: u64 = 96 << 20;

/// Whose, and which files exactly: a file that was replaced is another one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Basis {
    owner: String,
    files: Vec<(Vec<String>, PathBuf, Identity)>,
}

#[derive(Clone, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Basis {
    pub(crate) fn of(query: &Query) -> Result<Self, SandboxError> {
        let identity = |path: &Path| {
            let found = std::fs::metadata(path).map_err(|error| folder::unusable(path, error))?;
            Ok(Identity {
                device: found.dev(),
                inode: found.ino(),
                size: found.size(),
                changed: (found.mtime(), found.mtime_nsec()),
            })
        };
        let files = query
            .inputs
            .iter()
            .map(|input| Ok((input.names.clone(), input.path.clone(), identity(&input.path)?)))
            .collect::<Result<_, SandboxError>>()?;
        Ok(Self { owner: query.owner.clone(), files })
    }
}

/// The process goes before its folder.
pub(crate) struct Reader {
    pub(crate) child: Option<Child>,
    folder: TempDir,
    basis: Basis,
    used: Instant,
}

impl Reader {
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

pub(crate) struct Readers {
    idle: Mutex<Vec<Reader>>,
    /// Kept at the same time; the least recently used goes first.
    most: usize,
    folders: PathBuf,
}

impl Readers {
    pub(crate) fn new(scratch: &Path, most: usize) -> Self {
        Self { idle: Mutex::default(), most, folders: scratch.join("readers") }
    }

    /// The one that has these files at hand; otherwise one that still needs a process.
    pub(crate) fn take(&self, basis: Basis) -> Result<Reader, SandboxError> {
        loop {
            let found = {
                let mut idle = self.idle.lock();
                let place = idle.iter().rposition(|reader| reader.basis == basis);
                place.map(|place| idle.remove(place))
            };
            let Some(mut reader) = found else { break };
            let sound = |child: &mut Child| child.zygote.is_alive() && !child.wire.is_disturbed();
            if reader.child.as_mut().is_some_and(sound) {
                return Ok(reader);
            }
        }
        let failed = |error| SandboxError::internal("the folder of a query", error);
        std::fs::create_dir_all(&self.folders).map_err(failed)?;
        let folder = TempDir::new_in(&self.folders).map_err(failed)?;
        Ok(Reader { child: None, folder, basis, used: Instant::now() })
    }

    pub(crate) fn keep(&self, mut reader: Reader, child: Child, load: Load) {
        if load.memory > MOST_MEMORY {
            return;
        }
        reader.child = Some(child);
        reader.used = Instant::now();
        let mut idle = self.idle.lock();
        idle.push(reader);
        let over = idle.len().saturating_sub(self.most);
        let gone: Vec<Reader> = idle.drain(..over).collect();
        drop(idle);
        drop(gone);
    }

    pub(crate) fn sweep(&self) {
        let mut idle = self.idle.lock();
        let (kept, gone): (Vec<_>, Vec<_>) = idle.drain(..).partition(|reader| reader.used.elapsed() < IDLE);
        *idle = kept;
        drop(idle);
        drop(gone);
    }

    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut *self.idle.lock());
        drop(gone);
    }
}
