//! The tools a model may call, one file each. Each turns typed arguments into a `ToolOutput`; the pipeline formats it.

mod run_python;

pub use run_python::{Python, RunPython};
