//! Reads a hostile tar archive: plain files only, counted, limited, and only those its manifest lists. Names are
//! looked up, never used as paths.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tempfile::NamedTempFile;

use super::manifest::{EVENTS, FORMAT, MANIFEST, Manifest, ROUNDS, VERSION};
use crate::error::{Result, StoreError};

const MAX_ENTRIES: usize = 20_000;
/// What is read into memory: manifest, rounds, events.
const MAX_TEXT: u64 = 256 * 1024 * 1024;

pub(super) struct Unpacked {
    pub manifest: Manifest,
    pub rounds: String,
    pub events: String,
    /// Temporary files by entry name.
    pub files: HashMap<String, NamedTempFile>,
}

pub(super) fn unpack(archive: &Path, temp: &Path, limit: u64) -> Result<Unpacked> {
    let file = File::open(archive).map_err(|e| StoreError::io("opening the archive", e))?;
    let mut tar = tar::Archive::new(io::BufReader::new(file));
    let mut found: Option<Unpacked> = None;
    let mut wanted = HashSet::new();
    let mut left = limit;
    for (count, entry) in tar.entries().map_err(damaged)?.enumerate() {
        let mut entry = entry.map_err(damaged)?;
        if count >= MAX_ENTRIES {
            return Err(StoreError::Invalid(format!("the archive has more than {MAX_ENTRIES} entries")));
        }
        if !entry.header().entry_type().is_file() {
            return Err(StoreError::Invalid("the archive holds something else than plain files".to_owned()));
        }
        let too_large = || StoreError::TooLarge { what: "the archive's content".to_owned(), limit };
        left = left.checked_sub(entry.size()).ok_or_else(too_large)?;
        let name = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|_| StoreError::Invalid("a name in the archive is not UTF-8".to_owned()))?;
        let Some(unpacked) = found.as_mut() else {
            let manifest = read_manifest(&name, &mut entry)?;
            wanted = listed(&manifest);
            found = Some(Unpacked {
                manifest,
                rounds: String::new(),
                events: String::new(),
                files: HashMap::new(),
            });
            continue;
        };
        match name.as_str() {
            ROUNDS => unpacked.rounds = text(&mut entry)?,
            EVENTS => unpacked.events = text(&mut entry)?,
            _ if wanted.contains(&name) => {
                let mut copy = NamedTempFile::new_in(temp).map_err(|e| StoreError::io("unpacking", e))?;
                io::copy(&mut entry, &mut copy).map_err(|e| StoreError::io("unpacking", e))?;
                unpacked.files.insert(name, copy);
            }
            _ => {}
        }
    }
    found.ok_or_else(|| StoreError::Invalid("the archive is empty".to_owned()))
}

fn read_manifest(name: &str, entry: &mut impl Read) -> Result<Manifest> {
    let refuse = |why: String| StoreError::Invalid(format!("this is not a conversation archive: {why}"));
    if name != MANIFEST {
        return Err(refuse(format!("its first entry is not {MANIFEST}")));
    }
    let manifest: Manifest = serde_json::from_str(&text(entry)?).map_err(|e| refuse(e.to_string()))?;
    if manifest.format != FORMAT {
        return Err(refuse("it has another format".to_owned()));
    }
    if manifest.version > VERSION {
        return Err(StoreError::Invalid(format!(
            "the archive has version {}, this program knows up to {VERSION}",
            manifest.version
        )));
    }
    Ok(manifest)
}

fn listed(manifest: &Manifest) -> HashSet<String> {
    let uploads = manifest.uploads.iter().map(|f| &f.entry);
    let codes = manifest.codes.iter().map(|f| &f.entry);
    let artifacts = manifest.artifacts.iter().map(|f| &f.entry);
    uploads.chain(codes).chain(artifacts).cloned().collect()
}

fn text(entry: &mut impl Read) -> Result<String> {
    let mut text = String::new();
    let read = entry.take(MAX_TEXT + 1).read_to_string(&mut text).map_err(damaged)?;
    if read as u64 > MAX_TEXT {
        return Err(StoreError::TooLarge { what: "a text of the archive".to_owned(), limit: MAX_TEXT });
    }
    Ok(text)
}

fn damaged(error: io::Error) -> StoreError {
    StoreError::Invalid(format!("the archive cannot be read: {error}"))
}
