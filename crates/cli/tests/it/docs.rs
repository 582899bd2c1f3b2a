//! The commands that README and docs show are run as written, against the real binary (those that need no network, no key
//! and no build). What cannot be run is at least a command that exists.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut paths = vec![root().join("README.md")];
    paths.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The ```sh blocks of a document.
fn blocks(text: &str) -> Vec<String> {
    let after = text.split("\n```sh\n").skip(1);
    after.map(|rest| rest.split("\n```").next().unwrap_or_default().to_owned()).collect()
}

/// Only our own commands and requests to our own server, complete as written.
fn is_runnable(block: &str) -> bool {
    let needs_more =
        ["make ", "…", "example.org", "serve", "cargo ", "pip ", "git ", "apt-get", "docker", "/opt/"];
    let ours = block.contains("ba-agent ") || block.contains("http://127.0.0.1:8000");
    ours && !needs_more.iter().any(|word| block.contains(word))
}

struct Server {
    child: std::process::Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(folder: &Path) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ba-agent"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(folder)
        .env("BA_MODEL", "offline")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.find_map(|line| line.ok().filter(|line| line.contains("ready: http://"))).unwrap();
    let address = ready.split("ready: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    Server { child, address }
}

// SPEC K1, K4
#[test]
fn the_commands_of_the_documents_work() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    let server = serve(folder.path());
    let mut ran = 0;
    for (path, text) in documents() {
        let runnable: Vec<String> = blocks(&text).into_iter().filter(|block| is_runnable(block)).collect();
        if runnable.is_empty() {
            continue;
        }
        ran += runnable.len();
        // One shell for a document: later blocks use what earlier ones set.
        let mut script = String::from("set -eo pipefail\n");
        for block in runnable {
            script.push_str(&block.replace("http://127.0.0.1:8000", &server.address));
            script.push_str("\necho; echo END-OF-BLOCK\n");
        }
        let bin = Path::new(env!("CARGO_BIN_EXE_ba-agent")).parent().unwrap();
        let search = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("PATH", search)
            .env("BA_MODEL", "offline")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (said, wrong) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {said}\n{wrong}", path.display());
        for answer in said.split("END-OF-BLOCK").filter(|answer| answer.contains("\"success\":false")) {
            let code =
                answer.split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("");
            assert!(text.contains(&format!("`{code}`")), "{}: not said there: {answer}", path.display());
        }
    }
    assert!(ran >= 6, "only {ran} blocks were found");
}

/// `ba-agent verb …` anywhere in a document, in blocks or in the text.
#[test]
fn every_command_that_a_document_names_exists() {
    let help = Command::new(env!("CARGO_BIN_EXE_ba-agent")).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let known: Vec<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let mut named = 0;
    for (path, text) in documents() {
        for rest in text.split("ba-agent ").skip(1) {
            let verb: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
            let after = rest[verb.len()..].chars().next();
            let is_command =
                text.contains(&format!("`ba-agent {verb}")) || text.contains(&format!("\nba-agent {verb}"));
            if verb.len() < 3 || !is_command || !matches!(after, Some(' ' | '`' | '\n')) {
                continue;
            }
            named += 1;
            assert!(known.contains(&verb.as_str()), "{}: there is no `ba-agent {verb}`", path.display());
        }
    }
    assert!(named > 10, "only {named} commands were found");
}
