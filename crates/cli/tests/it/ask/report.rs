//! `ba-agent report`: an answer of the offline analyst as every kind of document, and wrong use.

use std::path::Path;

use super::ask;

fn conversation(said: &str) -> &str {
    said.lines().rev().find_map(|line| line.split_once("conversation: ")).unwrap().1.trim()
}

/// A format, the name asked for, the name it gets, and the bytes it begins with. Text with pictures and a notebook with its data
/// are archives, and are called so.
const KINDS: [(&str, &str, &str, &[u8]); 7] = [
    ("pdf", "a.pdf", "a.pdf", b"%PDF-"),
    ("docx", "a.docx", "a.docx", b"PK"),
    ("pptx", "a.pptx", "a.pptx", b"PK"),
    ("xlsx", "a.xlsx", "a.xlsx", b"PK"),
    ("ipynb", "a.ipynb", "a.zip", b"PK"),
    ("html", "a.html", "a.html", b"<!doctype html>"),
    ("md", "b.md", "b.zip", b"PK"),
];

#[test]
fn an_answer_leaves_as_every_kind_of_document() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sales.csv");
    std::fs::write(&file, "地区,销售额\n华东,150600\n华南,87300\n华北,64250\n").unwrap();
    let asked = ask(folder.path(), &[], &["ask", "各地区销售额", "--file", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(asked.status.success(), "{said}");
    let id = conversation(&said);

    for (format, wanted, name, start) in KINDS {
        let made = ask(folder.path(), &[], &["report", id, "--format", format, "-o", wanted]);
        assert!(made.status.success(), "{format}: {}", String::from_utf8_lossy(&made.stderr));
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        assert!(bytes.len() > 500 && bytes.starts_with(start), "{format}");
    }
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.contains("华东") && page.contains("150,600") && page.contains("href=\"#proof-"));
    refusals(folder.path(), id);
}

fn refusals(folder: &Path, id: &str) {
    let wrong: [(&[&str], &str); 3] = [
        (&["report", id, "--format", "exe"], "pdf, docx"),
        (&["report", "conv_000000000000", "--format", "md"], "not found"),
        (&["report", id, "--lang", "xx"], "zh or en"),
    ];
    for (arguments, told) in wrong {
        let output = ask(folder, &[], arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(told), "{said}");
    }
}
