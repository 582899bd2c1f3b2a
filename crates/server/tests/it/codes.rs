//! Every code that can reach the page, written out for it (`web/src/i18n/codes.json`); its tests want words for each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ba_protocol::said;
use ba_server::{CODES, PROGRAM_CODES};
use serde_json::{Value, json};

const FILE: &str = "../../web/src/i18n/codes.json";

#[test]
fn the_page_knows_every_code() {
    let codes = json!({
        "notes": said::NOTES,
        "problems": said::PROBLEMS,
        "steps": said::STEPS,
        "summaries": said::SUMMARIES,
        "errors": CODES,
    });
    if std::env::var_os("UPDATE_CODES").is_some() {
        std::fs::write(FILE, serde_json::to_string_pretty(&codes).unwrap() + "\n").unwrap();
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    assert!(
        codes == kept,
        "the codes changed: run `UPDATE_CODES=1 cargo test -p ba-server codes`, give each words in web/src/i18n, and commit"
    );
}

/// A new error is listed, so that it gets words.
#[test]
fn every_error_of_the_sources_is_listed() {
    let mut found = BTreeSet::new();
    for folder in ["src", "../agent/src", "../store/src"] {
        for file in rust_files(Path::new(folder)) {
            let source = std::fs::read_to_string(&file).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            for start in [
                "ApiError::bad_request(",
                "ApiError::forbidden(",
                "ApiError::unavailable(",
                "Self::bad_request(",
                "ErrorInfo::new(",
            ] {
                found.extend(source.split(start).skip(1).filter_map(|rest| literal(rest.trim_start())));
            }
            for start in ["ApiError::new(", "Self::new("] {
                let after_status = |rest: &&str| rest.trim_start().starts_with("StatusCode::");
                let code = |rest: &str| rest.split_once(',').and_then(|(_, code)| literal(code.trim_start()));
                found.extend(source.split(start).skip(1).filter(after_status).filter_map(code));
            }
        }
    }
    let listed: BTreeSet<String> = CODES.iter().chain(PROGRAM_CODES).map(|code| (*code).to_owned()).collect();
    assert!(found.len() > 40, "the sources are read: {found:?}");
    assert_eq!(found.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(listed.len(), CODES.len() + PROGRAM_CODES.len(), "each code is in one list, once");
}

fn literal(text: &str) -> Option<String> {
    let (code, _) = text.strip_prefix('"')?.split_once('"')?;
    code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_').then(|| code.to_owned())
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") => vec![path],
            false => Vec::new(),
        })
        .collect()
}
