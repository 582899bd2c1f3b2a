//! The commands beside `ask` and `serve`: what they print, whom they work for, and their exit codes (SPEC K5, K6).

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_with(folder, arguments, "", &[])
}

fn run_with(folder: &Path, arguments: &[&str], input: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ba-agent"));
    command.args(arguments).current_dir(folder).env_clear().envs(environment.iter().copied());
    for name in ["PATH", "HOME", "XDG_CACHE_HOME"] {
        if let Ok(value) = std::env::var(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn said(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// A conversation about a small table, in `folder/ba-data`.
fn asked(folder: &Path) -> String {
    std::fs::write(folder.join("sales.csv"), "地区,销售额\n华东,100\n华南,50\n华东,9\n").unwrap();
    let output = run(folder, &["ask", "各地区销售额是多少？", "--file", "sales.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let line = text(&output.stderr);
    let id = line.lines().rev().find_map(|line| line.split_once("conversation: ")).unwrap().1;
    id.trim().to_owned()
}

// SPEC A6, K5, V8
#[test]
fn a_conversation_goes_out_and_comes_in_with_its_logs_and_proofs() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = asked(here.path());
    let exported = run(here.path(), &["export", &id]);
    assert_eq!(exported.status.code(), Some(0), "{}", said(&exported));
    let archive = here.path().join(format!("{id}.tar"));
    let listed = Command::new("tar").arg("tf").arg(&archive).output().unwrap();
    let names = text(&listed.stdout);
    assert!(names.contains(&format!("logs/conversation_{id}_")), "{names}");
    assert!(names.contains("calls.jsonl"), "{names}");

    let imported = run(there.path(), &["import", archive.to_str().unwrap()]);
    assert_eq!(imported.status.code(), Some(0), "{}", said(&imported));
    let new = text(&imported.stdout).split_whitespace().next().unwrap().to_owned();
    assert_ne!(new, id);
    let verified = run(there.path(), &["verify", &new]);
    let said_now = said(&verified);
    assert_eq!(verified.status.code(), Some(0), "{said_now}");
    assert!(said_now.contains("1 answers:") && said_now.contains(" 0 changed"), "{said_now}");
    assert!(!said_now.contains(" 0 figures hold"), "{said_now}");
    // The copy can be asked on.
    let more = run(there.path(), &["ask", "总销售额是多少？", "--conversation", &new]);
    assert!(more.status.success() && text(&more.stdout).contains("159"), "{}", said(&more));
}

// SPEC K6
#[test]
fn wrong_use_ends_with_two_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = "conv_000000000000";
    let cases: &[&[&str]] = &[
        &["trace", unknown],
        &["context", unknown],
        &["logs", unknown],
        &["export", unknown],
        &["import", "missing.tar"],
        &["trace", "not-an-id"],
        &["trace", unknown, "--user", "nobody"],
        &["context", unknown, "--user", "nobody"],
        &["user", "disable", "nobody"],
        &["key", "list", "nobody"],
        &["key", "revoke", "key_000000000000"],
        &["skill", "remove", "nothing"],
        &["skill", "install", "/no/such/folder"],
        &["eval", "no-such-folder"],
        &["serve", "--listen", "nowhere"],
        &["no-such-command"],
    ];
    for case in cases {
        let output = run_with(folder.path(), case, "", &[("BA_PYTHON_ENV", "no-python")]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{case:?}: {said}");
        assert!(!said.contains('\u{1b}'), "{case:?} writes colour codes into a pipe: {said}");
    }
    std::fs::write(folder.path().join("broken.tar"), "no archive").unwrap();
    let broken = run(folder.path(), &["import", "broken.tar"]);
    assert_eq!(broken.status.code(), Some(2), "{}", said(&broken));
    let wrong = run_with(folder.path(), &["user", "list"], "", &[("BA_MODEL", "nobody:x")]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
}

#[test]
fn a_failed_run_ends_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let model = [
        ("BA_MODEL", "openai-compatible:x"),
        ("BA_BASE_URL", "http://127.0.0.1:9/v1"),
        ("BA_PYTHON_ENV", "no-python"),
    ];
    let output = run_with(folder.path(), &["ask", "hello"], "", &model);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
fn a_signed_in_persons_conversation_is_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let id = asked(folder.path());
    let added = run_with(folder.path(), &["user", "add", "alice"], "correct horse battery\n", &[]);
    assert_eq!(added.status.code(), Some(0), "{}", said(&added));
    let exported = run(folder.path(), &["export", &id, "-o", "a.tar"]);
    assert_eq!(exported.status.code(), Some(0), "{}", said(&exported));
    let imported = run(folder.path(), &["import", "a.tar", "--user", "Alice"]);
    assert_eq!(imported.status.code(), Some(0), "{}", said(&imported));
    let hers = text(&imported.stdout).split_whitespace().next().unwrap().to_owned();
    for command in ["trace", "context", "verify"] {
        let output = run(folder.path(), &[command, &hers, "--user", "alice"]);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", said(&output));
        assert!(!text(&output.stdout).is_empty());
        let local = run(folder.path(), &[command, &hers]);
        assert_eq!(local.status.code(), Some(2), "{command} without --user: {}", said(&local));
    }
}

#[test]
fn hints_keep_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let environment = [("BA_PYTHON_ENV", "no-python")];
    let arguments = ["serve", "--listen", "0.0.0.0:0", "--data-dir", "elsewhere"];
    let output = run_with(folder.path(), &arguments, "", &environment);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("ba-agent user add NAME --data-dir '"), "{said}");
    assert!(said.contains("elsewhere'"), "{said}");
}

// SPEC H6
#[test]
fn nobody_else_reads_what_a_question_left() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    asked(folder.path());
    let data = folder.path().join("ba-data");
    let found = ba_store::open_to_others(&data, ba_store::Repair::No).unwrap();
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
    std::fs::set_permissions(data.join("logs"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = run(folder.path(), &["doctor"]);
    assert!(text(&doctor.stdout).contains("they are closed now"), "{}", said(&doctor));
    assert_eq!(std::fs::metadata(data.join("logs")).unwrap().permissions().mode() & 0o077, 0);
}
