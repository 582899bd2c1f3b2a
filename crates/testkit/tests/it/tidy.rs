//! Every source file says what it is for, and nothing left undone hides in the code.

use super::{files, root};

#[test]
fn every_rust_file_opens_with_its_purpose() {
    let bare: Vec<_> = files(&root().join("crates"), ".rs")
        .into_iter()
        .filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//!"))
        .collect();
    assert!(bare.is_empty(), "these files do not open with //!: {bare:#?}");
}

#[test]
fn no_source_file_is_past_five_hundred_lines() {
    let long: Vec<_> = files(&root().join("crates"), ".rs")
        .into_iter()
        .map(|path| (std::fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > 500)
        .collect();
    assert!(long.is_empty(), "split these by concept: {long:#?}");
}

#[test]
fn one_integration_binary_per_crate() {
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let tests = entry.unwrap().path().join("tests");
        let Ok(found) = std::fs::read_dir(&tests) else { continue };
        let extra: Vec<_> =
            found.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "rs")).collect();
        assert!(extra.is_empty(), "put these below tests/it/: {extra:?}");
    }
}

#[test]
fn unfinished_work_is_not_hidden_in_code() {
    let words = [concat!("FIX", "ME"), concat!("unimplemented", "!("), concat!("todo", "!(")];
    for ending in [".rs", ".ts", ".svelte", ".py"] {
        for path in ["crates", "python", "web", "skills"].iter().flat_map(|f| files(&root().join(f), ending))
        {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let found = words.iter().find(|w| text.contains(*w));
            assert_eq!(found, None, "{}", path.display());
        }
    }
}
