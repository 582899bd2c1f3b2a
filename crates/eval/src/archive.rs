//! The archive of question sets: one compressed file beside its checksum, unpacked for a run. Refuses what differs from it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Why an archive could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not what its checksum says: fetch both files again")]
    Changed { path: PathBuf },
}

/// Unpacks `sets.tar.zst`, checked by `sets.tar.zst.sha256` beside it, into a folder.
pub fn unpack(path: &Path, folder: &Path) -> Result<(), ArchiveError> {
    let told = |path: &Path| {
        let path = path.to_owned();
        move |source| ArchiveError::Io { path, source }
    };
    let bytes = std::fs::read(path).map_err(told(path))?;
    let beside = PathBuf::from(format!("{}.sha256", path.display()));
    let known = std::fs::read_to_string(&beside).map_err(told(&beside))?;
    let found: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    if known.split_whitespace().next() != Some(found.as_str()) {
        return Err(ArchiveError::Changed { path: path.to_owned() });
    }
    let file = File::open(path).map_err(told(path))?;
    let decoder = zstd::Decoder::new(file).map_err(told(path))?;
    tar::Archive::new(decoder).unpack(folder).map_err(told(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_holds_a_set_and_a_changed_one_is_refused() {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evals/archive.tar.zst");
        let folder = tempfile::tempdir().unwrap();
        unpack(&archive, folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("questions.jsonl")).unwrap();
        let cases = crate::read(&text).unwrap();
        assert!(cases.len() > 10_000);
        for case in &cases {
            assert!(["train", "dev", "locked"].contains(&case.split.as_str()), "{}", case.id);
            assert!(case.files.iter().all(|f| folder.path().join(f).is_file()), "{}", case.id);
        }
        let copy = folder.path().join("copy.tar.zst");
        std::fs::write(&copy, b"other").unwrap();
        std::fs::copy(archive.with_extension("zst.sha256"), folder.path().join("copy.tar.zst.sha256"))
            .unwrap();
        assert!(matches!(unpack(&copy, folder.path()), Err(ArchiveError::Changed { .. })));
    }
}
