//! Creates, reuses and repairs the locked Python environment. Never touches an environment it was only lent.

use std::path::PathBuf;

use crate::{PythonEnv, SandboxError};

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
    pub fraction: f64,
}

pub async fn prepare_python(
    options: &PrepareOptions,
    progress: &(dyn Fn(PrepareStep) + Send + Sync),
) -> Result<PythonEnv, SandboxError> {
    let _ = (options, progress);
    Err(SandboxError::Environment("not yet available".into()))
}
