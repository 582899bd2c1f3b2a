//! One sandbox for all tests that do not need their own.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use ba_sandbox::{
    Input, Job, JobOutcome, Limits, PrepareOptions, PythonEnv, Sandbox, SandboxConfig, SessionKey, Stream,
    Work, prepare_python,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Tests share one runtime, because the shared sandbox lives on it.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap())
}

pub fn block<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}

pub fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("ba-agent")
}

pub fn python() -> PythonEnv {
    static ENV: OnceLock<PythonEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
        let options = PrepareOptions { cache: cache(), env_override, python: None };
        block(prepare_python(&options, &|step| eprintln!("{:3.0} % {}", step.fraction * 100.0, step.message)))
            .unwrap()
    })
    .clone()
}

pub fn config(scratch: &Path) -> SandboxConfig {
    SandboxConfig { pool: 2, ..SandboxConfig::new(python(), scratch) }
}

pub fn sandbox() -> Sandbox {
    static SHARED: OnceLock<(Sandbox, TempDir)> = OnceLock::new();
    let (sandbox, _) = SHARED.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        let config = config(scratch.path());
        (block(Sandbox::start(config)).unwrap(), scratch)
    });
    sandbox.clone()
}

/// A conversation's working folder and what runs in it.
pub struct Desk {
    pub dir: TempDir,
    pub session: Option<SessionKey>,
    pub inputs: Vec<Input>,
    pub limits: Limits,
    pub sandbox: Sandbox,
}

impl Desk {
    pub fn new() -> Self {
        Self::on(sandbox())
    }

    pub fn on(sandbox: Sandbox) -> Self {
        let limits = Limits { wall: Duration::from_secs(30), ..Limits::default() };
        Self { dir: tempfile::tempdir().unwrap(), session: None, inputs: Vec::new(), limits, sandbox }
    }

    pub fn session(mut self, name: &str) -> Self {
        self.session = Some(SessionKey::new(format!("{name}-{:?}", self.dir.path())));
        self
    }

    /// Without the import allow-list, as every adversarial test wants it.
    pub fn open(mut self) -> Self {
        self.limits.import_allow_list = false;
        self
    }

    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn input(&mut self, names: &[&str], content: impl AsRef<[u8]>) {
        let path = self.dir.path().join(format!("stored-{}", self.inputs.len()));
        std::fs::write(&path, content).unwrap();
        self.inputs.push(Input { names: names.iter().map(|n| (*n).to_owned()).collect(), path });
    }

    pub fn job(&self, work: Work) -> Job {
        Job {
            owner: "tester".into(),
            session: self.session.clone(),
            work,
            inputs: self.inputs.clone(),
            folder: self.folder(),
            limits: self.limits.clone(),
        }
    }

    pub async fn run(&self, code: &str) -> JobOutcome {
        self.sandbox.run(self.job(Work::UserCode { code: code.to_owned() }), &|_| {}).await.unwrap()
    }

    pub fn py(&self, code: &str) -> JobOutcome {
        block(self.run(code))
    }
}

pub fn text(outcome: &JobOutcome, stream: Stream) -> String {
    outcome.output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect()
}

/// Standard output of a job that must have gone well.
pub fn stdout(outcome: &JobOutcome) -> String {
    assert!(outcome.error.is_none(), "{:#?}", outcome.error);
    text(outcome, Stream::Stdout)
}

pub fn repr(outcome: &JobOutcome) -> String {
    assert!(outcome.error.is_none(), "{:#?}", outcome.error);
    outcome.value.as_ref().and_then(|v| v["repr"].as_str()).unwrap_or_default().to_owned()
}
