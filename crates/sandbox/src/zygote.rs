//! Starts the zygote by exec with a clean environment, and asks it and its mount broker for things.
//! Never parses what a job wrote.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::sync::{mpsc, oneshot};

use crate::sandbox::job_owner;
use crate::wire::Wire;
use crate::{SandboxConfig, SandboxError, seccomp};

const START_LIMIT: Duration = Duration::from_secs(120);
/// Room in `/scratch` (`/tmp`) and in `/dev/shm` of a job.
const TMP_BYTES: u64 = 128 << 20;

/// One zygote with its broker; dropping it ends both and every child.
pub(crate) struct Zygote {
    forker: Requests,
    broker: Requests,
    forks: AtomicU64,
    /// Anonymous memory right after the imports: the baseline of every job.
    pub(crate) resident: u64,
    process: parking_lot::Mutex<tokio::process::Child>,
    broken: AtomicBool,
}

/// Descriptors of a new child: its pid 1, the process that runs the work, and their mount namespace.
pub(crate) struct Forked {
    pub(crate) first: OwnedFd,
    pub(crate) worker: OwnedFd,
    pub(crate) namespace: OwnedFd,
}

/// A host path and where it goes inside: `None` is the working folder itself.
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
    pub(crate) target: Option<String>,
    pub(crate) read_only: bool,
}

impl Zygote {
    pub(crate) async fn start(config: &SandboxConfig, sources: &Path) -> Result<Self, SandboxError> {
        let failed = |error: io::Error| SandboxError::Start(error.to_string());
        std::fs::create_dir_all(&config.scratch).map_err(failed)?;
        let root_dir =
            tempfile::Builder::new().prefix("root-").tempdir_in(&config.scratch).map_err(failed)?;
        let (mut broker, broker_theirs) = Wire::pair().map_err(failed)?;
        let (mut forker, forker_theirs) = Wire::pair().map_err(failed)?;
        let mut process = command(config, sources, broker_theirs).spawn().map_err(failed)?;
        let errors = collect_errors(process.stderr.take());
        let settings = settings(config, sources, root_dir.path())?;
        broker.send(&settings, &[forker_theirs.as_fd()]).await.map_err(failed)?;
        drop(forker_theirs);
        let started = async {
            first_reply(&mut broker).await?;
            first_reply(&mut forker).await
        };
        let reply = match tokio::time::timeout(START_LIMIT, started).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(detail)) => {
                drop(process.kill().await);
                return Err(explain(config, detail, errors.await.unwrap_or_default()));
            }
            Err(_) => return Err(SandboxError::Start("the worker took too long".into())),
        };
        // The zygote has moved into the root it built there; the folder itself served its purpose.
        drop(root_dir);
        Ok(Self {
            forker: Requests::start(forker),
            broker: Requests::start(broker),
            forks: AtomicU64::new(0),
            resident: reply.get("resident").and_then(Value::as_u64).unwrap_or(0),
            process: parking_lot::Mutex::new(process),
            broken: AtomicBool::new(false),
        })
    }

    /// Forks a child that speaks on `control`.
    pub(crate) async fn fork(&self, control: OwnedFd) -> Result<Forked, SandboxError> {
        self.forks.fetch_add(1, Ordering::Relaxed);
        let (_, fds) = self.ask(&self.forker, json!({}), vec![control]).await?;
        let [first, worker, namespace] = <[OwnedFd; 3]>::try_from(fds)
            .map_err(|_| SandboxError::Internal("the zygote sent other descriptors".into()))?;
        Ok(Forked { first, worker, namespace })
    }

    /// Mounts host paths inside the namespace of a job.
    pub(crate) async fn attach(&self, namespace: &OwnedFd, mounts: &[Mount]) -> Result<(), SandboxError> {
        let mounts: Vec<Value> = mounts
            .iter()
            .map(|mount| {
                json!({"path": mount.path, "target": mount.target.as_deref().unwrap_or(""), "read_only": mount.read_only})
            })
            .collect();
        let namespace = namespace.try_clone().map_err(|e| SandboxError::internal("descriptor", e))?;
        self.ask(&self.broker, json!({ "mounts": mounts }), vec![namespace]).await.map(drop)
    }

    async fn ask(&self, to: &Requests, request: Value, fds: Vec<OwnedFd>) -> Result<Reply, SandboxError> {
        let result = to.ask(request, fds).await;
        if result.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        let (value, fds) = result.map_err(|error| SandboxError::internal("the worker is gone", error))?;
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(SandboxError::Internal(error.to_owned())),
            None => Ok((value, fds)),
        }
    }

    /// Ends the broker; the zygote and every child die with it.
    pub(crate) fn end(&self) {
        self.broken.store(true, Ordering::Relaxed);
        drop(self.process.lock().start_kill());
    }

    pub(crate) fn forks(&self) -> u64 {
        self.forks.load(Ordering::Relaxed)
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && matches!(self.process.lock().try_wait(), Ok(None))
    }
}

fn command(config: &SandboxConfig, sources: &Path, control: OwnedFd) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(&config.python.python);
    let main = format!(
        "import sys; sys.path.insert(0, {}); from ba_worker import boot; sys.exit(boot.main())",
        Value::from(sources.to_string_lossy())
    );
    // -I: no environment, no user site, no current folder on the path.
    command.args(["-I", "-B", "-c", &main]).env_clear().current_dir("/").kill_on_drop(true);
    for (name, value) in ENVIRONMENT {
        command.env(name, value);
    }
    command.stdin(Stdio::from(control)).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// All that a job can see in its environment.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", "/scratch"),
    ("TMPDIR", "/scratch"),
    ("PATH", "/nonexistent"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("MPLBACKEND", "Agg"),
    ("MPLCONFIGDIR", "/scratch/matplotlib"),
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("NUMEXPR_NUM_THREADS", "1"),
    ("ARROW_NUM_THREADS", "1"),
    ("ARROW_DEFAULT_MEMORY_POOL", "system"),
    ("JE_ARROW_MALLOC_CONF", "background_thread:false"),
    // No semaphores and no processes of its own: scikit-learn works in the process of the job.
    ("JOBLIB_MULTIPROCESSING", "0"),
    ("LOKY_MAX_CPU_COUNT", "1"),
];

fn settings(config: &SandboxConfig, sources: &Path, root: &Path) -> Result<Value, SandboxError> {
    let programs: Vec<String> = seccomp::programs()?
        .iter()
        .map(|code| base64::engine::general_purpose::STANDARD.encode(code))
        .collect();
    let builtins: Vec<&str> = ["tables"]
        .into_iter()
        .filter(|name| sources.join("ba_worker").join(name).join("__init__.py").is_file())
        .collect();
    Ok(json!({
        "root_dir": root,
        // Only the libraries: a system interpreter's prefix would be the whole of /usr.
        "read_only": [
            config.python.base_prefix.join("lib"),
            config.python.base_prefix.join("lib64"),
            config.python.prefix.join("lib"),
            config.python.prefix.join("lib64"),
        ],
        "sources": sources,
        // Null: the jobs keep the server's own user.
        "job_uid": job_owner(config),
        "tmp_bytes": TMP_BYTES,
        "tasks": 96,
        "memory_limit": config.memory_limit,
        "seccomp": programs,
        "builtins": builtins,
    }))
}

async fn first_reply(wire: &mut Wire) -> Result<Value, String> {
    match wire.next_json().await {
        Ok(Some((value, _))) => match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(error.to_owned()),
            None => Ok(value),
        },
        Ok(None) => Err("it ended".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn collect_errors(stderr: Option<tokio::process::ChildStderr>) -> tokio::task::JoinHandle<String> {
    tokio::spawn(async move {
        let mut text = Vec::new();
        if let Some(stderr) = stderr {
            let _ = stderr.take(64 << 10).read_to_end(&mut text).await;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        if !text.trim().is_empty() {
            tracing::warn!(worker = %text.trim(), "the Python worker wrote to its error stream");
        }
        text
    })
}

/// Says what to enable where the machine forbids namespaces.
fn explain(config: &SandboxConfig, detail: String, errors: String) -> SandboxError {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut hints = Vec::new();
    if read("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
        hints.push("enable user namespaces: sysctl kernel.unprivileged_userns_clone=1");
    }
    if read("/proc/sys/user/max_user_namespaces") == "0" {
        hints.push("enable user namespaces: sysctl user.max_user_namespaces=10000");
    }
    if read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        hints.push("AppArmor forbids user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile that allows them");
    }
    let namespaces = detail.contains("unshare") || detail.contains("mount") || detail.contains("uid_map");
    if namespaces && hints.is_empty() {
        hints.push("user and mount namespaces are needed; inside a container, run it with --security-opt seccomp=unconfined --cap-add SYS_ADMIN or as a privileged one");
    }
    if namespaces {
        return SandboxError::Unconfined(format!("{detail} ({})", hints.join("; ")));
    }
    if detail.contains("ModuleNotFoundError") || detail.contains("ImportError") {
        return SandboxError::BrokenEnvironment { path: config.python.prefix.clone(), detail };
    }
    SandboxError::Start(format!("{detail} {}", errors.trim()).trim().to_owned())
}

type Reply = (Value, Vec<OwnedFd>);
type Pending = (Value, Vec<OwnedFd>, oneshot::Sender<io::Result<Reply>>);

/// One request after the other on a wire, whoever asks and whoever stops waiting.
struct Requests {
    sender: mpsc::Sender<Pending>,
}

impl Requests {
    fn start(mut wire: Wire) -> Self {
        let (sender, mut receiver) = mpsc::channel::<Pending>(64);
        tokio::spawn(async move {
            let mut id = 0u64;
            while let Some((mut request, fds, answer)) = receiver.recv().await {
                id += 1;
                request["id"] = id.into();
                let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
                let result = match wire.send(&request, &borrowed).await {
                    Ok(()) => wire
                        .next_json()
                        .await
                        .and_then(|reply| reply.ok_or(io::ErrorKind::UnexpectedEof.into())),
                    Err(error) => Err(error),
                };
                let stop = result.is_err();
                let _ = answer.send(result);
                if stop {
                    break;
                }
            }
        });
        Self { sender }
    }

    async fn ask(&self, request: Value, fds: Vec<OwnedFd>) -> io::Result<Reply> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (sender, receiver) = oneshot::channel();
        self.sender.send((request, fds, sender)).await.map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }
}
