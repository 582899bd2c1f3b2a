//! What the calls of a run brought, gathered for its answer: their outcomes, files, and notes on the data they used.

use ba_protocol::api::CallSummary;
use ba_protocol::data_note::{self, DataNote};
use ba_protocol::{Artifact, ToolResult, ToolTelemetry};

use crate::pipeline::Told;

#[derive(Default)]
pub(crate) struct Tally {
    pub calls: Vec<CallSummary>,
    pub artifacts: Vec<Artifact>,
    pub data_notes: Vec<DataNote>,
    pub told: Told,
}

impl Tally {
    pub fn add(&mut self, result: &ToolResult, telemetry: Option<&ToolTelemetry>) {
        self.calls.push(CallSummary {
            tool_name: result.tool_name.clone(),
            tool_call_id: result.tool_call_id.clone(),
            success: result.success,
            duration_ms: telemetry.map_or(0.0, |t| t.duration_ms),
            cache_hit: telemetry.is_some_and(|t| t.cache_hit),
        });
        for artifact in &result.artifacts {
            // The newest of each name.
            self.artifacts.retain(|a| a.name != artifact.name);
            self.artifacts.push(artifact.clone());
        }
        data_note::merge(&mut self.data_notes, &result.data_notes);
    }
}
