//! Reads the objects of an archive one line at a time: however many there are, one is in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::{Result, StoreError};

/// One round, event or call as JSON.
pub(super) const LINE_BYTES: u64 = 64 * 1024 * 1024;

pub(super) struct Lines {
    source: Option<BufReader<File>>,
    what: &'static str,
}

impl Lines {
    /// Of a file that may be missing: then there are none.
    pub(super) fn open(path: Option<&Path>, what: &'static str) -> Result<Self> {
        let file = path.map(File::open).transpose().map_err(|e| StoreError::io("unpacking", e))?;
        Ok(Self { source: file.map(BufReader::new), what })
    }

    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let Some(source) = &mut self.source else { return Ok(None) };
        let mut line = Vec::new();
        let read = source
            .by_ref()
            .take(LINE_BYTES + 1)
            .read_until(b'\n', &mut line)
            .map_err(|e| StoreError::io("unpacking", e))?;
        if read as u64 > LINE_BYTES {
            let what = format!("a {} of the archive", self.what);
            return Err(StoreError::TooLarge { what, limit: LINE_BYTES });
        }
        if read == 0 {
            return Ok(None);
        }
        serde_json::from_slice(&line)
            .map(Some)
            .map_err(|e| StoreError::Invalid(format!("a {} of the archive cannot be read: {e}", self.what)))
    }
}
