//! One sandbox for all tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ba_data::Tables;
use ba_sandbox::{PrepareOptions, Sandbox, SandboxConfig, prepare_python};
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap())
}

pub fn block<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}

pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    runtime().spawn(future);
}

fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("ba-agent")
}

pub fn tables() -> Tables {
    static SHARED: OnceLock<(Tables, TempDir)> = OnceLock::new();
    let (tables, _) = SHARED.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        let env_override = std::env::var_os("BA_PYTHON_ENV").map(PathBuf::from);
        let options = PrepareOptions { cache: cache(), env_override, python: None };
        let python = block(prepare_python(&options, &|step| eprintln!("{}", step.message))).unwrap();
        let mut config = SandboxConfig::new(python, scratch.path().join("sandbox"));
        config.pool = 2;
        config.worker_dir = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"));
        let sandbox = block(Sandbox::start(config)).unwrap();
        (Tables::new(sandbox, scratch.path().join("queries")), scratch)
    });
    tables.clone()
}

pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}
