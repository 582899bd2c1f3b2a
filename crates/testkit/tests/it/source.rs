//! Rust sources as the house rules read them: what the compiler sees outside tests, without comments and the insides of strings.
//! No parser: rules that would need one are not checked this way.

use std::path::{Path, PathBuf};

use super::{files, root};

/// One source file of a crate's `src`, tests left out.
pub struct Source {
    /// From the workspace's root, with `/`.
    pub path: String,
    /// Comments blanked, lines kept.
    pub with_strings: String,
    /// The insides of strings blanked as well.
    pub code: String,
}

impl Source {
    /// The folder below `crates`.
    pub fn krate(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }
}

/// What ships: every crate's `src` but testkit's, without files and modules of tests.
pub fn shipped() -> Vec<Source> {
    let is_test = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy();
        name == "tests" || name.ends_with("_tests") || path.components().any(|c| c.as_os_str() == "tests")
    };
    let mut all: Vec<Source> = files(&root().join("crates"), ".rs")
        .into_iter()
        .filter(|path| path.components().any(|c| c.as_os_str() == "src") && !is_test(&relative(path)))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = without_tests(&text);
            Source {
                path: relative(&path).to_string_lossy().replace('\\', "/"),
                with_strings: blank(text, false),
                code: blank(text, true),
            }
        })
        .filter(|source| source.krate() != "testkit")
        .collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(all.len() > 300, "the sources were not found: {}", all.len());
    all
}

pub fn relative(path: &Path) -> PathBuf {
    path.strip_prefix(root()).unwrap_or(path).to_owned()
}

/// Our files end with their tests.
fn without_tests(text: &str) -> &str {
    let start = text.match_indices("#[cfg(test)]").find(|(at, mark)| {
        let mut after = text[at + mark.len()..].lines().map(str::trim).filter(|l| !l.is_empty());
        after.find(|line| !line.starts_with("#[")).is_some_and(|line| line.starts_with("mod "))
    });
    start.map_or(text, |(at, _)| &text[..at])
}

/// Comments become spaces, and the insides of strings when `strings` says so; lines stay where they are.
pub fn blank(text: &str, strings: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (length, hide) = if rest.starts_with(b"//") {
            (rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with(b"/*") {
            (find(rest, b"*/").map_or(rest.len(), |end| end + 2), true)
        } else if let Some(length) = raw_string(rest, at.checked_sub(1).map(|before| bytes[before])) {
            (length, strings)
        } else if rest[0] == b'"' {
            (string(rest), strings)
        } else {
            character(rest).map_or((1, false), |length| (length, strings))
        };
        if hide {
            for byte in &mut out[at..at + length] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at += length.max(1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// `"…"` with its quotes.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// `r"…"` and `r#"…"#`, also after a `b`.
fn raw_string(text: &[u8], before: Option<u8>) -> Option<usize> {
    let in_word = before.is_some_and(|b| (b.is_ascii_alphanumeric() && b != b'b') || b == b'_');
    let hashes = text.get(1..)?.iter().take_while(|b| **b == b'#').count();
    if text[0] != b'r' || in_word || text.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    find(&text[2 + hashes..], &end).map(|at| 2 + hashes + at + end.len())
}

/// `'"'` and `'\\'`, which are no strings; a lifetime is left alone.
fn character(text: &[u8]) -> Option<usize> {
    match text {
        [b'\'', b'\\', ..] => text.iter().skip(3).position(|b| *b == b'\'').map(|at| at + 4),
        [b'\'', _, b'\'', ..] => Some(3),
        _ => None,
    }
}

#[test]
fn comments_and_strings_are_told_from_code() {
    let text =
        "let a = \"x // y\"; // fs\nlet b = r#\"q\"w\"#; let c = '\"'; let d = '{'; /* fs */ fn f<'a>() {}\n";
    assert_eq!(blank(text, false).matches("fs").count(), 0);
    let code = blank(text, true);
    assert!(!code.contains("x //") && !code.contains("q\"w") && code.contains("fn f<'a>() {}"), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
    assert_eq!(without_tests("fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n"), "fn a() {}\n");
}
