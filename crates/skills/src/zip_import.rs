//! Unpacks a zip archive as hostile input. Refuses links, absolute and climbing names, repeats, encryption, and
//! anything past the limits; sizes are counted while reading, never believed.

use std::collections::HashSet;
use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::error::ManageError;
use crate::import::write_file;
use crate::limits::Limits;
use crate::tree;

/// An archive may hold several skills; together they stay within this many times the limits of one.
const SKILLS_PER_ARCHIVE: u64 = 4;
/// A text file rarely packs better than 1:100; a bomb does so a thousandfold.
const MAX_RATIO: u64 = 200;
/// Below this a high ratio is harmless.
const RATIO_FREE_BYTES: u64 = 256 * 1024;

pub fn unpack(archive: &[u8], to: &Path, limits: &Limits) -> Result<(), ManageError> {
    if archive.len() as u64 > limits.archive_bytes {
        return refuse(format!("it is larger than {} MB", limits.archive_bytes >> 20));
    }
    let mut zip = ZipArchive::new(Cursor::new(archive))
        .map_err(|e| ManageError::Archive(format!("it is not a readable zip: {e}")))?;
    let most = limits.files * SKILLS_PER_ARCHIVE as usize;
    if zip.len() > most {
        return refuse(format!("it has more than {most} entries"));
    }
    let mut left = limits.total_bytes * SKILLS_PER_ARCHIVE;
    let mut seen = HashSet::new();
    for index in 0..zip.len() {
        let mut entry =
            zip.by_index(index).map_err(|e| ManageError::Archive(format!("entry {index}: {e}")))?;
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(e) => return refuse(format!("entry {index} has no readable name: {e}")),
        };
        let plain = name.trim_end_matches('/');
        let shown = plain.chars().take(120).collect::<String>();
        let shown = shown.escape_debug();
        if let Err(why) = tree::check_relative(plain, limits) {
            return refuse(why);
        }
        if entry.is_symlink() || !is_regular(entry.unix_mode()) {
            return refuse(format!(
                "`{shown}` is a link or a special file (for a git address, name a folder in it: `#folder`)"
            ));
        }
        if entry.is_dir() {
            continue;
        }
        if !seen.insert(plain.to_owned()) {
            return refuse(format!("`{shown}` is there twice"));
        }
        let (packed, cap) = (entry.compressed_size(), limits.file_bytes.min(left));
        let mut bytes = Vec::new();
        let read = (&mut entry).take(cap + 1).read_to_end(&mut bytes);
        read.map_err(|e| ManageError::Archive(format!("`{shown}`: {e}")))?;
        let size = bytes.len() as u64;
        if size > cap {
            return refuse(tree::oversize(limits));
        }
        if size > RATIO_FREE_BYTES && size / packed.max(1) > MAX_RATIO {
            return refuse(format!("`{shown}` unpacks to more than {MAX_RATIO} times its size"));
        }
        left -= size;
        write_file(to, plain, &bytes, limits)?;
    }
    Ok(())
}

fn refuse<T>(why: String) -> Result<T, ManageError> {
    Err(ManageError::Archive(why))
}

/// The file-type bits say a plain file or folder, or nothing.
fn is_regular(mode: Option<u32>) -> bool {
    const TYPE: u32 = 0o170_000;
    mode.is_none_or(|m| matches!(m & TYPE, 0 | 0o100_000 | 0o040_000))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    fn zip(build: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        build(&mut writer);
        writer.finish().unwrap().into_inner()
    }

    fn one(name: &str, bytes: &[u8]) -> Vec<u8> {
        zip(|z| {
            z.start_file(name, SimpleFileOptions::default()).unwrap();
            z.write_all(bytes).unwrap();
        })
    }

    fn try_unpack(archive: &[u8], limits: &Limits) -> Result<tempfile::TempDir, String> {
        let outer = tempfile::tempdir().unwrap();
        let result = unpack(archive, &outer.path().join("in"), limits).map_err(|e| e.to_string());
        let beside: Vec<_> = std::fs::read_dir(outer.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .filter(|n| n != "in")
            .collect();
        assert!(beside.is_empty(), "escaped: {beside:?}");
        result.map(|()| outer)
    }

    #[test]
    fn a_good_archive_unpacks() {
        let archive = zip(|z| {
            z.add_directory("rfm/", SimpleFileOptions::default()).unwrap();
            z.start_file("rfm/SKILL.md", SimpleFileOptions::default()).unwrap();
            z.write_all(b"hello").unwrap();
        });
        let dir = try_unpack(&archive, &Limits::default()).unwrap();
        assert_eq!(std::fs::read(dir.path().join("in/rfm/SKILL.md")).unwrap(), b"hello");
    }

    /// Writes a raw entry name the writer itself would clean up.
    fn renamed(from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let mut archive = one(from, b"x");
        while let Some(at) = archive.windows(from.len()).position(|w| w == from.as_bytes()) {
            archive[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        archive
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for (from, to) in [
            ("aaaaaaa", "../evil"),
            ("aaaaa", "/evil"),
            ("aaaaaaaaaaa", "a/../../bad"),
            ("aaaaaa", "C:\\bad"),
            ("aaaaaaa", "..\\evil"),
            ("aaaa", "a\0bc"),
        ] {
            let error = try_unpack(&renamed(from, to), &Limits::default()).unwrap_err();
            assert!(error.contains("refused"), "{to}: {error}");
        }
    }

    #[test]
    fn links_and_devices_are_refused() {
        let link = zip(|z| z.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap());
        assert!(try_unpack(&link, &Limits::default()).unwrap_err().contains("link"));
        assert!(!is_regular(Some(0o010_644)), "a fifo");
        assert!(is_regular(Some(0o100_755)) && is_regular(Some(0o644)) && is_regular(None));
    }

    #[test]
    fn bombs_are_refused() {
        let limits = Limits::default();
        let ratio = one("zeros", &vec![0; 4 << 20]);
        assert!(try_unpack(&ratio, &limits).unwrap_err().contains("200 times"));
        let large = one("zeros", &vec![0; 6 << 20]);
        assert!(try_unpack(&large, &limits).unwrap_err().contains("at most"));
        let small = Limits { total_bytes: 1000, file_bytes: 900, ..limits };
        let many = zip(|z| {
            for n in 0..10 {
                z.start_file(
                    format!("f{n}"),
                    SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
                )
                .unwrap();
                z.write_all(&[7; 800]).unwrap();
            }
        });
        assert!(try_unpack(&many, &small).unwrap_err().contains("at most"));
        let entries = zip(|z| {
            (0..2100).for_each(|n| z.start_file(format!("f{n}"), SimpleFileOptions::default()).unwrap())
        });
        assert!(try_unpack(&entries, &limits).unwrap_err().contains("entries"));
    }

    #[test]
    fn a_lying_size_and_garbage_are_refused() {
        let good = one("file", &[b'x'; 1000]);
        for at in 0..good.len() {
            let mut broken = good.clone();
            broken[at] ^= 0xff;
            // Some bytes do not matter; none may panic or escape.
            let _ = try_unpack(&broken, &Limits::default());
        }
        assert!(try_unpack(b"not a zip", &Limits::default()).unwrap_err().contains("not a readable zip"));
        assert!(try_unpack(&good[..good.len() / 2], &Limits::default()).is_err());
    }
}
