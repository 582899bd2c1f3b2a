//! Hostile folders: links, odd names, too much of everything.

use std::os::unix::fs::symlink;

use super::*;

fn limits() -> Limits {
    Limits { files: 50, folder_bytes: 1 << 20, ..Limits::default() }
}

#[test]
fn only_new_and_changed_plain_files_are_offered() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old.txt"), "1").unwrap();
    fs::write(dir.path().join("edited.txt"), "1").unwrap();
    let before = snapshot(&walk(dir.path(), &limits()).unwrap());
    fs::write(dir.path().join("edited.txt"), "22").unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("out/表.XLSX"), "x").unwrap();
    fs::write(dir.path().join(".hidden"), "x").unwrap();
    fs::write(dir.path().join("upload_001"), "").unwrap();
    let after = walk(dir.path(), &limits()).unwrap();
    let (files, rejected) = collect(dir.path(), &before, &after, &["upload_001".into()]);
    let names: Vec<_> = files.iter().map(|f| (f.name.as_str(), f.kind.as_str(), f.created)).collect();
    assert_eq!(names, [("edited.txt", "txt", false), ("out/表.XLSX", "xlsx", true)]);
    assert!(rejected.is_empty());
}

#[test]
fn links_pipes_and_odd_names_are_removed_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let secret = tempfile::NamedTempFile::new_in(dir.path().parent().unwrap()).unwrap();
    symlink("/etc/shadow", dir.path().join("report.csv")).unwrap();
    symlink("/etc", dir.path().join("folder")).unwrap();
    fs::hard_link(secret.path(), dir.path().join("hard.csv")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::write(dir.path().join("a\nb.csv"), "x").unwrap();
    fs::write(dir.path().join("gpj.\u{202e}exe"), "x").unwrap();
    let after = walk(dir.path(), &limits()).unwrap();
    let (files, rejected) = collect(dir.path(), &Snapshot::new(), &after, &[]);
    assert!(files.is_empty(), "{files:?}");
    assert_eq!(rejected.len(), 6);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert!(secret.path().exists(), "the target of a link stays");
}

#[test]
fn walking_stops_at_the_limits() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..60 {
        fs::write(dir.path().join(number.to_string()), "").unwrap();
    }
    assert_eq!(walk(dir.path(), &limits()).unwrap_err(), Excess::Files);
    let big = tempfile::tempdir().unwrap();
    fs::write(big.path().join("big"), vec![1; 2 << 20]).unwrap();
    assert_eq!(walk(big.path(), &limits()).unwrap_err(), Excess::Bytes);
    let deep = tempfile::tempdir().unwrap();
    fs::create_dir_all(deep.path().join("a/b/c/d/e/f/g/h/i/j")).unwrap();
    assert_eq!(walk(deep.path(), &limits()).unwrap_err(), Excess::Depth);
}

#[test]
fn a_hole_counts_as_if_it_were_filled() {
    let dir = tempfile::tempdir().unwrap();
    fs::File::create(dir.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(walk(dir.path(), &limits()).unwrap_err(), Excess::Bytes);
    // It can still be used and cleaned; it may not grow.
    let wide = widened(dir.path(), &limits());
    assert_eq!(wide.folder_bytes, 1 << 40);
    assert!(walk(dir.path(), &wide).is_ok());
    fs::write(dir.path().join("more"), "x").unwrap();
    assert_eq!(walk(dir.path(), &wide).unwrap_err(), Excess::Bytes);
}

#[test]
fn an_input_that_became_a_link_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secret"), "x").unwrap();
    symlink(dir.path().join("secret"), dir.path().join("input")).unwrap();
    assert!(open_input(&dir.path().join("input"), None).is_err());
    assert!(open_input(&dir.path().join("secret"), None).is_ok());
}

#[test]
fn placeholders_replace_links_and_leave_content_alone() {
    let dir = tempfile::tempdir().unwrap();
    let names = vec!["a.csv".to_owned(), "b.csv".to_owned(), "c.csv".to_owned()];
    symlink("/etc/shadow", dir.path().join("a.csv")).unwrap();
    fs::write(dir.path().join("b.csv"), "mine").unwrap();
    let made = add_placeholders(dir.path(), &names).unwrap();
    assert_eq!(made, ["a.csv", "c.csv"]);
    assert!(fs::symlink_metadata(dir.path().join("a.csv")).unwrap().is_file());
    remove_placeholders(dir.path(), &names);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn input_names_must_be_plain() {
    for name in ["", "..", "a/b", "a\0b", "a\nb"] {
        let input = Input { names: vec![name.into()], path: "/x".into() };
        assert!(check_inputs(&[input]).is_err(), "{name:?}");
    }
    let input = Input { names: vec!["销售 数据.csv".into()], path: "/x".into() };
    assert!(check_inputs(&[input]).is_ok());
}
