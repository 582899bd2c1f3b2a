//! Reads a hostile tar archive: plain files only, counted, limited, and only those its manifest lists. Names are
//! looked up, never used as paths. What is read into memory has a budget; the rest goes to files.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use tar::{Entry, EntryType};
use tempfile::{NamedTempFile, TempPath};

use super::manifest::{CALLS, EVENTS, FORMAT, MANIFEST, Manifest, ROUNDS, VERSION};
use crate::error::{Result, StoreError};

const MAX_ENTRIES: usize = 20_000;
/// The manifest, which is read into memory.
pub(super) const MANIFEST_BYTES: u64 = 32 * 1024 * 1024;
/// A header that tar puts before an entry: its long name, or extended attributes.
pub(super) const HEADER_BYTES: u64 = 64 * 1024;

pub(super) struct Unpacked {
    pub manifest: Manifest,
    /// Rounds, events and calls, a JSON object a line. Closed, as are all files here: thousands do not hold a handle.
    pub lines: HashMap<&'static str, TempPath>,
    /// Temporary files by entry name.
    pub files: HashMap<String, TempPath>,
}

pub(super) fn unpack(archive: &Path, temp: &Path, limit: u64) -> Result<Unpacked> {
    let file = File::open(archive).map_err(|e| StoreError::io("opening the archive", e))?;
    let mut tar = tar::Archive::new(BufReader::new(file));
    let mut found: Option<Unpacked> = None;
    let mut wanted = HashSet::new();
    let mut left = limit;
    let mut long_name = None;
    // Raw: else the library reads a long name of any length into memory before it is asked.
    for (count, entry) in tar.entries().map_err(damaged)?.raw(true).enumerate() {
        let mut entry = entry.map_err(damaged)?;
        if count >= MAX_ENTRIES {
            return Err(StoreError::Invalid(format!("the archive has more than {MAX_ENTRIES} entries")));
        }
        let too_large = || StoreError::TooLarge { what: "the archive's content".to_owned(), limit };
        left = left.checked_sub(entry.size()).ok_or_else(too_large)?;
        let name = match next_name(&mut entry, &mut long_name)? {
            Some(name) => name,
            None => continue,
        };
        let Some(unpacked) = found.as_mut() else {
            let manifest = read_manifest(&name, &mut entry)?;
            wanted = listed(&manifest);
            found = Some(Unpacked { manifest, lines: HashMap::new(), files: HashMap::new() });
            continue;
        };
        match [ROUNDS, EVENTS, CALLS].into_iter().find(|lines| *lines == name) {
            Some(lines) => _ = unpacked.lines.insert(lines, to_file(&mut entry, temp)?),
            None if wanted.contains(&name) => _ = unpacked.files.insert(name, to_file(&mut entry, temp)?),
            None => {}
        }
    }
    found.ok_or_else(|| StoreError::Invalid("the archive is empty".to_owned()))
}

/// The name of a plain file; nothing for a header that only belongs to the entry after it.
fn next_name<R: Read>(entry: &mut Entry<'_, R>, long_name: &mut Option<Vec<u8>>) -> Result<Option<String>> {
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => {
            let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
            String::from_utf8(name)
                .map(Some)
                .map_err(|_| StoreError::Invalid("a name in the archive is not UTF-8".to_owned()))
        }
        EntryType::GNULongName => {
            let mut name = small(entry, "a file name of the archive", HEADER_BYTES)?;
            while name.last() == Some(&0) {
                name.pop();
            }
            *long_name = Some(name);
            Ok(None)
        }
        EntryType::XHeader => {
            let header = small(entry, "a header of the archive", HEADER_BYTES)?;
            *long_name = tar::PaxExtensions::new(&header)
                .flatten()
                .find(|field| field.key_bytes() == b"path")
                .map(|field| field.value_bytes().to_vec());
            Ok(None)
        }
        EntryType::XGlobalHeader => small(entry, "a header of the archive", HEADER_BYTES).map(|_| None),
        _ => Err(StoreError::Invalid("the archive holds something else than plain files".to_owned())),
    }
}

fn to_file(entry: &mut impl Read, temp: &Path) -> Result<TempPath> {
    let mut copy = NamedTempFile::new_in(temp).map_err(|e| StoreError::io("unpacking", e))?;
    io::copy(entry, &mut copy).map_err(|e| StoreError::io("unpacking", e))?;
    Ok(copy.into_temp_path())
}

fn read_manifest(name: &str, entry: &mut impl Read) -> Result<Manifest> {
    let refuse = |why: String| StoreError::Invalid(format!("this is not a conversation archive: {why}"));
    if name != MANIFEST {
        return Err(refuse(format!("its first entry is not {MANIFEST}")));
    }
    let text = small(entry, "the archive's manifest", MANIFEST_BYTES)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| refuse(e.to_string()))?;
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

/// The whole of something that has a budget.
fn small(entry: &mut impl Read, what: &str, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = entry.take(limit + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if read as u64 > limit {
        return Err(StoreError::TooLarge { what: what.to_owned(), limit });
    }
    Ok(bytes)
}

fn damaged(error: io::Error) -> StoreError {
    // The reader's own words quote what it found, which may be anything.
    tracing::info!(%error, "an archive cannot be read");
    StoreError::Invalid("this is not a conversation archive, or it is damaged".to_owned())
}
