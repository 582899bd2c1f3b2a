//! The tools a model may call, one file each. Each turns typed arguments into a `ToolOutput`; the pipeline formats it.

mod activate_skill;
mod run_python;

pub use activate_skill::ActivateSkill;
pub use run_python::{Python, RunPython};
