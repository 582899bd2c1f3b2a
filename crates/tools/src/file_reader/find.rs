//! Finds the file a path names, inside the conversation only. Links, `..` and absolute paths lead nowhere.

use ba_agent::ToolError;
use std::path::{Component, Path, PathBuf};

use ba_protocol::{CodeFile, CodeId, ConversationId, Round, ToolFailure, Upload};
use ba_store::Store;

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
    /// An earlier round of the conversation (SPEC W8).
    Answer {
        number: usize,
        round: Box<Round>,
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
        return match store.round(conversation, number).await? {
            Some(round) => Ok(Found::Answer { number, round: Box::new(round) }),
            None => {
                let rounds = store.rounds(conversation).await?.len();
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
        Some(path) => Ok(Found::File { name: wanted.rsplit('/').next().unwrap_or(wanted).to_owned(), path }),
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

/// A regular file below the folder, reached without a link.
fn inside(folder: &Path, wanted: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in Path::new(wanted).components() {
        let Component::Normal(part) = part else { return None };
        path.push(part);
        if std::fs::symlink_metadata(&path).ok()?.is_symlink() {
            return None;
        }
    }
    std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file).map(|_| path)
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
