//! Creates, reuses and repairs the locked Python environment. Never changes an environment it was only lent.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::{PythonEnv, SandboxError, worker_files};

/// Written last: an environment without it was interrupted.
const COMPLETE: &str = "ba-complete";
const OLDEST: (u32, u32) = (3, 11);

/// Where the environment comes from.
#[derive(Debug, Clone)]
pub struct PrepareOptions {
    /// Folder shared by all data folders; the environment lies in `python-<lock hash>` inside it.
    pub cache: PathBuf,
    /// An environment made by somebody else (`BA_PYTHON_ENV`): used as it is or refused, never changed.
    pub env_override: Option<PathBuf>,
    /// Interpreter to build from; found on the usual paths when absent.
    pub python: Option<PathBuf>,
}

/// One step of the preparation, for a progress display.
#[derive(Debug, Clone, PartialEq)]
pub struct PrepareStep {
    pub message: String,
    /// From 0 to 1.
    pub fraction: f64,
}

type Progress<'a> = &'a (dyn Fn(PrepareStep) + Send + Sync);

fn failed(what: &str, error: impl std::fmt::Display) -> SandboxError {
    SandboxError::Environment(format!("{what}: {error}"))
}

/// Gives the environment of the locked packages, making or repairing it when needed.
pub async fn prepare_python(
    options: &PrepareOptions,
    progress: Progress<'_>,
) -> Result<PythonEnv, SandboxError> {
    let lock = worker_files::requirements()?;
    if let Some(prefix) = &options.env_override {
        return inspect(prefix, &lock)
            .await
            .map_err(|detail| SandboxError::BrokenEnvironment { path: prefix.clone(), detail });
    }
    let hash = hex::encode(Sha256::digest(&lock));
    let prefix = options.cache.join(format!("python-{}", &hash[..16]));
    fs::create_dir_all(&options.cache).map_err(|e| failed("the cache folder", e))?;
    let _turn = exclusive(&options.cache.join(format!("python-{}.lock", &hash[..16]))).await?;
    if prefix.join(COMPLETE).is_file() {
        progress(step("checking the Python environment", 0.0));
        match inspect(&prefix, &lock).await {
            Ok(env) => {
                progress(step("the Python environment is ready", 1.0));
                return Ok(env);
            }
            Err(detail) => progress(step(&format!("repairing the Python environment: {detail}"), 0.0)),
        }
    }
    build(&prefix, &lock, options.python.as_deref(), progress).await?;
    trim(&prefix).await?;
    let env = inspect(&prefix, &lock).await.map_err(|detail| failed("the new environment", detail))?;
    fs::write(prefix.join(COMPLETE), &hash).map_err(|e| failed("the environment", e))?;
    progress(step("the Python environment is ready", 1.0));
    Ok(env)
}

fn step(message: &str, fraction: f64) -> PrepareStep {
    PrepareStep { message: message.to_owned(), fraction }
}

/// One process at a time; the lock goes with the descriptor.
async fn exclusive(path: &Path) -> Result<OwnedFd, SandboxError> {
    let file = fs::File::create(path).map_err(|e| failed("the lock", e))?;
    let locked = tokio::task::spawn_blocking(move || {
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).map(|()| file)
    });
    let file = locked.await.map_err(|e| failed("the lock", e))?.map_err(|e| failed("the lock", e))?;
    Ok(file.into())
}

#[derive(Deserialize)]
struct Inspection {
    base_prefix: PathBuf,
    site_packages: PathBuf,
    version: String,
    problems: Vec<String>,
}

/// Looks at every locked package: right version, every file there with its size.
async fn inspect(prefix: &Path, lock: &[u8]) -> Result<PythonEnv, String> {
    let python = prefix.join("bin/python");
    let lock_file = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    fs::write(lock_file.path(), lock).map_err(|e| e.to_string())?;
    let output = Command::new(&python)
        .args([
            "-I",
            "-B",
            "-c",
            concat!(include_str!("prepare/unneeded.py"), include_str!("prepare/inspect.py")),
        ])
        .arg(lock_file.path())
        .env_clear()
        .output()
        .await
        .map_err(|e| format!("{}: {e}", python.display()))?;
    let found: Inspection = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("it does not start: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
    if !found.problems.is_empty() {
        return Err(found.problems.join("; "));
    }
    Ok(PythonEnv {
        prefix: fs::canonicalize(prefix).map_err(|e| e.to_string())?,
        base_prefix: found.base_prefix,
        python,
        site_packages: found.site_packages,
        version: found.version,
    })
}

/// Removes what no job can use, a third of the bytes.
async fn trim(prefix: &Path) -> Result<(), SandboxError> {
    let script = concat!(include_str!("prepare/unneeded.py"), include_str!("prepare/trim.py"));
    run(Command::new(prefix.join("bin/python")).args(["-I", "-B", "-c", script]), |_| {}).await
}

async fn build(
    prefix: &Path,
    lock: &[u8],
    python: Option<&Path>,
    progress: Progress<'_>,
) -> Result<(), SandboxError> {
    if prefix.exists() {
        fs::remove_dir_all(prefix).map_err(|e| failed("removing the broken environment", e))?;
    }
    let requirements =
        tempfile::Builder::new().suffix(".txt").tempfile().map_err(|e| failed("requirements", e))?;
    fs::write(requirements.path(), lock).map_err(|e| failed("requirements", e))?;
    let python = find_python(python).await?;
    progress(step("creating the Python environment", 0.02));
    let file = requirements.path().as_os_str();
    let total = String::from_utf8_lossy(lock).lines().filter(|line| line.contains("==")).count();
    if run(Command::new("uv").arg("--version"), |_| {}).await.is_ok() {
        let mut venv = Command::new("uv");
        run(venv.args(["venv", "--quiet", "--python"]).arg(&python).arg(prefix), |_| {}).await?;
        let mut install = Command::new("uv");
        install.args(["pip", "install", "--no-deps", "--require-hashes", "--compile-bytecode", "--python"]);
        install.arg(prefix.join("bin/python")).arg("-r").arg(file);
        progress(step("installing packages with uv", 0.1));
        return run(&mut install, |line| progress(step(line, 0.5))).await;
    }
    run(Command::new(&python).args(["-m", "venv"]).arg(prefix), |_| {}).await?;
    let mut install = Command::new(prefix.join("bin/python"));
    install.args([
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--require-hashes",
        "--no-input",
        "--progress-bar",
        "off",
    ]);
    install.args(["--disable-pip-version-check", "-r"]).arg(file);
    let seen = std::sync::atomic::AtomicUsize::new(0);
    run(&mut install, |line| {
        if let Some(package) = line.trim().strip_prefix("Collecting ") {
            let number = seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            let name = package.split_whitespace().next().unwrap_or(package);
            let share = number as f64 / total.max(1) as f64;
            progress(step(&format!("fetching {name} ({number}/{total})"), 0.05 + 0.65 * share.min(1.0)));
        } else if line.starts_with("Installing") {
            progress(step("installing packages", 0.75));
        }
    })
    .await
}

/// An interpreter that is new enough and can make environments.
async fn find_python(given: Option<&Path>) -> Result<PathBuf, SandboxError> {
    let names = ["python3", "python3.13", "python3.12", "python3.11", "/usr/bin/python3"];
    let candidates: Vec<PathBuf> = match given {
        Some(path) => vec![path.to_owned()],
        None => names.iter().map(PathBuf::from).collect(),
    };
    for candidate in candidates {
        let script = "import sys, venv, ensurepip; print(sys.version_info[0], sys.version_info[1])";
        let Ok(output) = Command::new(&candidate).args(["-I", "-c", script]).output().await else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().filter_map(|n| n.parse::<u32>().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next())
            && (major, minor) >= OLDEST
        {
            return Ok(candidate);
        }
    }
    Err(SandboxError::Environment(format!(
        "Python {}.{} or newer with venv is needed (Debian: apt install python3 python3-venv)",
        OLDEST.0, OLDEST.1
    )))
}

/// Runs a command, passes its lines on, and fails with the last of them.
async fn run(command: &mut Command, on_line: impl Fn(&str)) -> Result<(), SandboxError> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|e| failed(&name, e))?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(failed(&name, "no output"));
    };
    let (mut out, mut err) = (BufReader::new(stdout).lines(), BufReader::new(stderr).lines());
    let mut last = Vec::new();
    let (mut out_open, mut err_open) = (true, true);
    while out_open || err_open {
        let line = tokio::select! {
            line = out.next_line(), if out_open => { out_open = matches!(line, Ok(Some(_))); line }
            line = err.next_line(), if err_open => { err_open = matches!(line, Ok(Some(_))); line }
        };
        if let Ok(Some(line)) = line {
            on_line(&line);
            last.push(line);
            if last.len() > 12 {
                last.remove(0);
            }
        }
    }
    let status = child.wait().await.map_err(|e| failed(&name, e))?;
    if status.success() { Ok(()) } else { Err(failed(&name, last.join("\n"))) }
}
