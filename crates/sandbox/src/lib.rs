//! Starts, confines, feeds, limits and kills the Python workers. Does not know what the code means.

mod config;
mod error;
mod job;
mod prepare;
mod sandbox;

pub use config::{PythonEnv, SandboxConfig, Witness};
pub use error::SandboxError;
pub use job::{
    Input, Job, JobError, JobErrorKind, JobEvent, JobOutcome, Limits, OutputChunk, OutputFile, RejectedFile,
    SessionKey, StateNote, Stream, Usage, Work,
};
pub use prepare::{PrepareOptions, PrepareStep, prepare_python};
pub use sandbox::Sandbox;
