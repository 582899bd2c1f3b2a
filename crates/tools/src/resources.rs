//! What the sandbox used for a call, as telemetry tells it (SPEC E11).

use ba_agent::tool::ResourceUse;
use ba_sandbox::Usage;

#[expect(clippy::cast_precision_loss, reason = "figures to show")]
pub(crate) fn resources(usage: &Usage) -> ResourceUse {
    let wall = usage.wall.as_secs_f64();
    let cpu_percent = if wall > 0.0 { usage.cpu.as_secs_f64() / wall * 100.0 } else { 0.0 };
    ResourceUse { memory_mb: usage.peak_memory as f64 / 1_048_576.0, cpu_percent }
}
