//! Tells the model each note on data once in a run, however many calls use the table.

use std::collections::HashSet;

use ba_protocol::DataNote;
use parking_lot::Mutex;

const MOST_AT_ONCE: usize = 8;

/// The notes on data that the model has read in this run; calls that run side by side share it.
#[derive(Default)]
pub struct Told(Mutex<HashSet<String>>);

impl Told {
    /// Those of `notes` that the model has not read, which it is about to; the others wait for another call.
    pub fn fresh<'n>(&self, notes: &'n [DataNote]) -> Vec<&'n DataNote> {
        let mut told = self.0.lock();
        let new = notes.iter().filter(|n| told.insert(key(n)));
        new.take(MOST_AT_ONCE).collect()
    }
}

fn key(note: &DataNote) -> String {
    format!("{}\n{}", note.file_id.as_ref().map_or("", |id| id.as_str()), note.line())
}
