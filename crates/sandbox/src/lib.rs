//! Starts, confines, feeds, limits and kills the Python workers. Does not know what the code means.

mod cgroup;
mod child;
mod config;
mod error;
mod folder;
mod job;
mod marks;
mod monitor;
mod pool;
mod prepare;
mod queue;
mod readers;
mod report;
mod run;
mod sandbox;
mod seccomp;
mod selftest;
mod session;
mod wire;
mod worker_files;
mod zygote;

pub use config::{PythonEnv, SandboxConfig, Witness};
pub use error::SandboxError;
pub use job::{
    Input, Job, JobError, JobErrorKind, JobEvent, JobOutcome, Limits, OutputChunk, OutputFile, Query,
    RejectedFile, SessionKey, StateNote, Stream, Usage, Variable, Work,
};
pub use prepare::{PrepareOptions, PrepareStep, prepare_python};
pub use sandbox::Sandbox;
