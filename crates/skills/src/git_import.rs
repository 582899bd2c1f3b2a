//! Fetches a git address as a zip archive with the `git` program. Bare and shallow: no hooks, no checkout, no
//! submodules, no prompts, no configuration of the machine. What comes back is still hostile.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::ManageError;
use crate::import::{GitAllow, GitUrl};
use crate::limits::Limits;
use crate::tree;

const CLONE_TIME: Duration = Duration::from_secs(120);
const ARCHIVE_TIME: Duration = Duration::from_secs(30);

/// The archive of the default branch, or of one folder in it.
pub fn fetch(git: &GitUrl, scratch: &Path, limits: &Limits) -> Result<Vec<u8>, ManageError> {
    let (url, folder) = check(git, limits)?;
    let bare = scratch.join("bare.git");
    let mut clone = command();
    clone.args([
        "clone",
        "--quiet",
        "--bare",
        "--depth",
        "1",
        "--no-tags",
        "--single-branch",
        "--template=",
        "--",
        url,
    ]);
    clone.arg(&bare).stdout(Stdio::null());
    finish(clone, CLONE_TIME, Some((&bare, limits.archive_bytes * 4)), 0)?;
    let tree = if folder.is_empty() { "HEAD".to_owned() } else { format!("HEAD:{folder}") };
    let mut archive = command();
    archive.arg("--git-dir").arg(&bare).args(["archive", "--format=zip", &tree]);
    finish(archive, ARCHIVE_TIME, None, limits.archive_bytes)
}

/// Splits `url#folder` and refuses addresses that could run programs, carry secrets or reach local files.
fn check<'a>(git: &'a GitUrl, limits: &Limits) -> Result<(&'a str, &'a str), ManageError> {
    let (url, folder) = git.url.split_once('#').unwrap_or((&git.url, ""));
    let refuse = |why: &str| Err(ManageError::Git(why.to_owned()));
    let rest = match (url.strip_prefix("https://"), url.strip_prefix("file://"), git.allow) {
        (Some(rest), _, _) | (None, Some(rest), GitAllow::LocalToo) => rest,
        _ => return refuse("only https:// addresses are allowed"),
    };
    if rest.is_empty() || url.len() > 1000 || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return refuse("the address is not plain");
    }
    if rest.split('/').next().unwrap_or_default().contains('@') {
        return refuse("the address holds a name or key; use one without");
    }
    if !folder.is_empty() {
        tree::check_relative(folder, limits).map_err(ManageError::Git)?;
    }
    Ok((url, folder))
}

fn command() -> Command {
    let mut git = Command::new("git");
    git.env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "true")
        .env("GIT_ALLOW_PROTOCOL", "https:file")
        .env("LC_ALL", "C")
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "http.followRedirects=false",
            "-c",
            "safe.directory=*",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    git
}

/// Runs to the end, killed when it takes too long or its folder grows past the cap. Returns up to `keep` bytes of
/// output; more is refused.
fn finish(
    mut git: Command,
    time: Duration,
    watch: Option<(&Path, u64)>,
    keep: u64,
) -> Result<Vec<u8>, ManageError> {
    let mut child = git.spawn().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            ManageError::Git("the `git` program is not installed; install it, or use a zip".into())
        }
        _ => ManageError::io("start git", &e),
    })?;
    let output = reader(child.stdout.take(), keep + 1);
    let errors = reader(child.stderr.take(), 2000);
    let status = wait(&mut child, time, watch);
    let (output, errors) = (joined(output), joined(errors));
    if !status? {
        let errors = String::from_utf8_lossy(&errors);
        let last = errors.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("git failed");
        return Err(ManageError::Git(last.chars().take(300).collect()));
    }
    if output.len() as u64 > keep {
        return Err(ManageError::Archive(format!("it is larger than {} MB", keep >> 20)));
    }
    Ok(output)
}

type Reader = Option<std::thread::JoinHandle<Vec<u8>>>;

/// Drains a pipe so that git never blocks on it, keeping the first bytes.
fn reader(pipe: Option<impl Read + Send + 'static>, keep: u64) -> Reader {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut kept = Vec::new();
        // A pipe that breaks ends the output; the exit status tells whether that was a failure.
        let _ = (&mut pipe).take(keep).read_to_end(&mut kept);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        kept
    }))
}

fn joined(reader: Reader) -> Vec<u8> {
    reader.and_then(|r| r.join().ok()).unwrap_or_default()
}

fn wait(child: &mut Child, time: Duration, watch: Option<(&Path, u64)>) -> Result<bool, ManageError> {
    let start = Instant::now();
    let stopped = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Err(e) => break ManageError::io("wait for git", &e),
            Ok(None) if start.elapsed() > time => {
                break ManageError::Git(format!("it took more than {} s", time.as_secs()));
            }
            Ok(None) if watch.is_some_and(|(dir, cap)| size_of(dir) > cap) => {
                break ManageError::Git("the repository is too large; use a zip of the skill".into());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    // Already gone is as good as killed.
    let _ = child.kill();
    let _ = child.wait();
    Err(stopped)
}

fn size_of(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size_of(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_pass() {
        let limits = Limits::default();
        let ok = |url: &str, allow| check(&GitUrl { url: url.into(), allow }, &limits).is_ok();
        assert!(ok("https://example.com/skills.git", GitAllow::HttpsOnly));
        assert!(ok("https://example.com/skills.git#skills/rfm", GitAllow::HttpsOnly));
        assert!(ok("file:///srv/skills", GitAllow::LocalToo));
        for bad in [
            "file:///etc",
            "http://example.com/x",
            "ext::sh -c id",
            "ssh://git@example.com/x",
            "git@example.com:x.git",
            "--upload-pack=id",
            "https://user:key@example.com/x",
            "https://",
            "https://example.com/x#../..",
            "https://example.com/a b",
            "https://example.com/x\n",
        ] {
            assert!(!ok(bad, GitAllow::HttpsOnly), "{bad}");
        }
    }
}
