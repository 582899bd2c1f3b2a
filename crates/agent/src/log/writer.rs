//! Writes the lines of the conversation log, in batches, and removes files nobody wants any more. Knows nothing of
//! what the lines mean.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, SystemTime};

use super::{Entry, Redactor};

/// Lines that are written together.
const BATCH: usize = 256;
/// Files kept open between batches.
const OPEN: usize = 32;

struct Open {
    file: File,
    part: u32,
    bytes: u64,
}

pub(super) fn write_all(folder: &Path, max_bytes: u64, redactor: &Redactor, queue: &Receiver<Entry>) {
    let mut open: HashMap<String, Open> = HashMap::new();
    while let Ok(first) = queue.recv() {
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut waiting = Vec::new();
        for entry in std::iter::once(first).chain(queue.try_iter().take(BATCH)) {
            let (file, line) = match entry {
                Entry::Line { file, line } => (file, redactor.clean(line).to_string()),
                Entry::Flush(done) => {
                    waiting.push(done);
                    continue;
                }
            };
            match texts.last_mut() {
                Some((last, text)) if *last == file => {
                    text.push_str(&line);
                    text.push('\n');
                }
                _ => texts.push((file, format!("{line}\n"))),
            }
        }
        for (file, text) in texts {
            if let Err(error) = append(&mut open, folder, &file, max_bytes, text.as_bytes()) {
                open.remove(&file);
                tracing::warn!(%error, file, "the conversation log could not be written");
            }
        }
        if open.len() > OPEN {
            open.clear();
        }
        waiting.into_iter().for_each(|done| {
            let _ = done.send(());
        });
    }
}

fn append(
    open: &mut HashMap<String, Open>,
    folder: &Path,
    stem: &str,
    max_bytes: u64,
    bytes: &[u8],
) -> io::Result<()> {
    let full = open.get(stem).filter(|o| o.bytes >= max_bytes).map(|o| o.part + 1);
    if full.is_some() || !open.contains_key(stem) {
        open.insert(stem.to_owned(), open_part(folder, stem, full.unwrap_or(0), max_bytes)?);
    }
    let Some(to) = open.get_mut(stem) else { return Ok(()) };
    to.file.write_all(bytes)?;
    to.bytes += bytes.len() as u64;
    Ok(())
}

/// The first part from `part` on that has room.
fn open_part(folder: &Path, stem: &str, mut part: u32, max_bytes: u64) -> io::Result<Open> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    loop {
        let name = if part == 0 { format!("{stem}.jsonl") } else { format!("{stem}.{part}.jsonl") };
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(folder.join(name))?;
        let bytes = file.metadata()?.len();
        if bytes < max_bytes {
            return Ok(Open { file, part, bytes });
        }
        part += 1;
    }
}

/// Removes log files that were last written longer ago than `keep`; gives how many.
pub fn expire(folder: &Path, keep: Duration) -> io::Result<usize> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let Some(oldest) = SystemTime::now().checked_sub(keep) else { return Ok(0) };
    let mut removed = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with("conversation_") && n.ends_with(".jsonl"));
        let written = entry.metadata().and_then(|m| m.modified());
        if ours && written.is_ok_and(|at| at < oldest) && std::fs::remove_file(entry.path()).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_logs_go_and_new_ones_and_strangers_stay() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["conversation_a_1.jsonl", "conversation_b_2.jsonl", "notes.txt"] {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != "conversation_b_2.jsonl" {
                file.set_modified(SystemTime::now() - Duration::from_secs(1_000)).unwrap();
            }
        }
        assert_eq!(expire(folder.path(), Duration::from_secs(500)).unwrap(), 1);
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["conversation_b_2.jsonl", "notes.txt"]);
        assert_eq!(expire(&folder.path().join("missing"), Duration::ZERO).unwrap(), 0);
    }

    #[test]
    fn every_line_is_written_and_full_files_go_on_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, queue) = std::sync::mpsc::sync_channel(4);
        let place = folder.path().to_owned();
        let writer = std::thread::spawn(move || write_all(&place, 2_000, &Redactor::default(), &queue));
        for n in 0..1_000 {
            let line = serde_json::json!({"n": n});
            lines.send(Entry::Line { file: format!("conversation_{}", n % 40), line }).unwrap();
        }
        for n in 0..1_000 {
            lines
                .send(Entry::Line { file: "conversation_x".into(), line: serde_json::json!({"n": n}) })
                .unwrap();
        }
        drop(lines);
        writer.join().unwrap();
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        let text: String = files.iter().map(|f| std::fs::read_to_string(f.path()).unwrap()).collect();
        assert_eq!(text.lines().count(), 2_000);
        assert!(folder.path().join("conversation_x.1.jsonl").exists());
    }
}
