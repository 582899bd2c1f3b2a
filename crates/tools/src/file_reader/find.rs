//! Finds the file a path names, inside the conversation only. Links, `..` and absolute paths lead nowhere.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use ba_agent::ToolError;
use ba_protocol::{CodeFile, CodeId, ConversationId, ToolFailure, Turn, Upload};
use ba_store::Store;
use rustix::fs::{Mode, OFlags};

pub(super) enum Found {
    Upload {
        upload: Box<Upload>,
        path: PathBuf,
    },
    Code {
        file: CodeFile,
        text: String,
    },
    File {
        name: String,
        path: PathBuf,
    },
    /// A file of the working folder: open, since code that runs beside this call may put anything else in its place.
    Work {
        name: String,
        file: File,
    },
    /// An earlier round of the conversation (SPEC W8).
    Answer {
        number: usize,
        round: Box<Turn>,
    },
}

/// In this order: upload by id or name, code, artifact, stored tool data, file of the working folder.
pub(super) async fn find(
    store: &Store,
    conversation: &ConversationId,
    given: &str,
) -> Result<Found, ToolError> {
    let wanted = given.trim().trim_start_matches("./");
    if wanted.is_empty() {
        return Err(ToolFailure::validation("EMPTY_PATH", "path is empty").into());
    }
    if let Some(number) = answer_number(wanted) {
        return match store.turn(conversation, number).await? {
            Some(round) => Ok(Found::Answer { number, round: Box::new(round) }),
            None => {
                let rounds = store.turns(conversation).await?.len();
                let text =
                    format!("there is no round {number}; this conversation has {rounds} finished rounds");
                Err(ToolFailure::not_found("ANSWER_NOT_FOUND", text).into())
            }
        };
    }
    match store.upload(conversation, wanted).await {
        Ok(upload) => {
            let path = store.upload_path(&upload).await?;
            return Ok(Found::Upload { upload: Box::new(upload), path });
        }
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(id) = code_id(wanted) {
        match store.code(conversation, &id, None).await {
            Ok((file, text)) => return Ok(Found::Code { file, text }),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    if store.artifact(conversation, wanted).await.is_ok() {
        let path = store.artifact_path(conversation, wanted).await?;
        return Ok(Found::File { name: wanted.to_owned(), path });
    }
    if let Ok(path) = store.tool_data_path(conversation, wanted).await {
        let name = wanted.rsplit('/').next().unwrap_or(wanted).to_owned();
        return Ok(Found::File { name, path });
    }
    let folder = store.work_dir(conversation).await?;
    match inside(&folder, wanted) {
        Some(file) => Ok(Found::Work { name: wanted.rsplit('/').next().unwrap_or(wanted).to_owned(), file }),
        None => Err(unknown(store, conversation, wanted).await.into()),
    }
}

/// `answer_3`.
fn answer_number(wanted: &str) -> Option<usize> {
    let digits = wanted.strip_prefix("answer_")?;
    digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// `code_sales`, `data/code_sales.py` or `sales.py`'s id.
fn code_id(wanted: &str) -> Option<CodeId> {
    let last = wanted.rsplit('/').next().unwrap_or(wanted);
    let stem = last.split_once('.').map_or(last, |(stem, _)| stem);
    CodeId::parse(stem).or_else(|_| CodeId::parse(&format!("code_{stem}"))).ok()
}

/// A regular file below the folder, opened part by part so that no link is followed, however names change meanwhile.
fn inside(folder: &Path, wanted: &str) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut here = rustix::fs::open(folder, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    for part in Path::new(wanted).components() {
        let Component::Normal(part) = part else { return None };
        here = rustix::fs::openat(&here, part, flags, Mode::empty()).ok()?;
    }
    let file = File::from(here);
    file.metadata().ok()?.is_file().then_some(file)
}

async fn unknown(store: &Store, conversation: &ConversationId, wanted: &str) -> ToolFailure {
    let mut names: Vec<String> = Vec::new();
    for upload in store.uploads(conversation).await.unwrap_or_default() {
        names.push(format!("{} ({})", upload.file_id, upload.filename));
    }
    names.extend(store.codes(conversation).await.unwrap_or_default().iter().map(|c| c.code_id.to_string()));
    names.extend(store.artifacts(conversation).await.unwrap_or_default().into_iter().map(|a| a.name));
    let known = if names.is_empty() {
        "there are no files yet".to_owned()
    } else {
        names[..names.len().min(30)].join(", ")
    };
    let wanted = ba_protocol::text::shorten(&ba_protocol::text::one_line(wanted), 120);
    ToolFailure::not_found("FILE_NOT_FOUND", format!("no file `{wanted}` in this conversation"))
        .with_hint(format!("files: {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_below_the_folder_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("work");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(folder.join("sub/a.txt"), "x").unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), folder.join("up")).unwrap();
        assert!(inside(&folder, "sub/a.txt").is_some());
        for bad in ["../secret", "link", "up/secret", "/etc/passwd", "sub", "sub/../../secret", "missing"] {
            assert!(inside(&folder, bad).is_none(), "{bad}");
        }
    }

    /// SPEC F4: code of the same round swaps a folder for a link while the file is looked for.
    #[test]
    fn a_folder_that_becomes_a_link_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("work"), dir.path().join("outside"));
        std::fs::create_dir_all(folder.join("real")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(folder.join("real/a.txt"), "own").unwrap();
        std::fs::write(outside.join("a.txt"), "secret").unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (now, names) = (folder.join("now"), [folder.join("real"), folder.join("link")]);
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    for name in &names {
                        std::fs::rename(name, &now).unwrap();
                        std::fs::rename(&now, name).unwrap();
                    }
                }
            });
            for _ in 0..20_000 {
                if let Some(file) = inside(&folder, "now/a.txt") {
                    assert_eq!(std::io::read_to_string(file).unwrap(), "own");
                }
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    #[test]
    fn answers_have_numbers() {
        assert_eq!(answer_number("answer_12"), Some(12));
        for other in ["answer_", "answer_+1", "answer_1.md", "the_answer_1"] {
            assert_eq!(answer_number(other), None, "{other}");
        }
    }

    #[test]
    fn code_is_found_by_id_and_by_file_name() {
        assert_eq!(code_id("code_sales").unwrap().as_str(), "code_sales");
        assert_eq!(code_id("data/code_sales.py").unwrap().as_str(), "code_sales");
        assert_eq!(code_id("sales.py").unwrap().as_str(), "code_sales");
        assert!(code_id("销售.py").is_none());
    }
}
