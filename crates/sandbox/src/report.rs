//! Reads the result a child sends. It may be forged by user code, so every field is checked and bounded.

use std::time::Duration;

use serde_json::Value;

use crate::{JobError, JobErrorKind, JobOutcome, Variable};

const MAX_TEXT: usize = 16_000;
const MAX_TABLES: usize = 20;
const MAX_CHECKS: usize = 12;
const MAX_VARIABLES: usize = 40;

#[derive(Debug, Default)]
pub(crate) struct Report {
    value: Option<Value>,
    error: Option<JobError>,
    pub(crate) dropped: u64,
    tables: Vec<Value>,
    checks: Vec<Value>,
    pub(crate) variables: Vec<Variable>,
    cpu: Option<Duration>,
}

impl Report {
    pub(crate) fn read(value: &Value) -> Self {
        let cpu = value.get("cpu").and_then(Value::as_f64).filter(|s| s.is_finite() && *s >= 0.0);
        Self {
            value: value.get("value").filter(|v| !v.is_null()).cloned(),
            error: value.get("error").filter(|v| !v.is_null()).map(read_error),
            dropped: value.get("dropped").and_then(Value::as_u64).unwrap_or(0),
            tables: list(value, "tables", MAX_TABLES),
            checks: list(value, "checks", MAX_CHECKS),
            variables: list(value, "variables", MAX_VARIABLES).iter().filter_map(read_variable).collect(),
            cpu: cpu.map(|seconds| Duration::from_secs_f64(seconds.min(1e6))),
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// An error that the supervisor itself saw.
    pub(crate) fn stopped(kind: JobErrorKind, message: String) -> JobError {
        let type_name = match kind {
            JobErrorKind::Timeout => "TimeoutError",
            JobErrorKind::OutOfMemory => "MemoryError",
            JobErrorKind::Quota => "QuotaExceeded",
            _ => "ProcessDied",
        };
        JobError { kind, type_name: type_name.into(), message, traceback: String::new(), line: None }
    }

    pub(crate) fn apply(self, outcome: &mut JobOutcome) {
        outcome.value = self.value;
        outcome.error = self.error;
        (outcome.tables, outcome.checks) = (self.tables, self.checks);
        // The job's own clock is finer than the host's ticks, but it cannot have used more than there was.
        if let Some(cpu) = self.cpu {
            outcome.usage.cpu = outcome.usage.cpu.max(cpu.min(outcome.usage.wall));
        }
    }
}

fn list(value: &Value, name: &str, most: usize) -> Vec<Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten().take(most).cloned().collect()
}

fn read_variable(value: &Value) -> Option<Variable> {
    let text = |name: &str| -> Option<String> {
        Some(value.get(name)?.as_str()?.chars().filter(|c| !c.is_control()).take(300).collect())
    };
    Some(Variable { name: text("name")?, kind: text("kind")?, about: text("about").unwrap_or_default() })
}

fn read_error(value: &Value) -> JobError {
    let text = |name: &str| -> String {
        value.get(name).and_then(Value::as_str).unwrap_or_default().chars().take(MAX_TEXT).collect()
    };
    let kind = match value.get("kind").and_then(Value::as_str) {
        Some("import_refused") => JobErrorKind::ImportRefused,
        Some("out_of_memory") => JobErrorKind::OutOfMemory,
        Some("quota") => JobErrorKind::Quota,
        _ => JobErrorKind::Exception,
    };
    JobError {
        kind,
        type_name: text("type").chars().take(200).collect(),
        message: text("message"),
        traceback: text("traceback"),
        line: value.get("line").and_then(Value::as_u64),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forged_fields_are_bounded() {
        let report = Report::read(&json!({
            "error": {"kind": "timeout", "type": "x".repeat(1000), "message": "m".repeat(100_000), "line": -3},
            "cpu": 1e300,
            "dropped": "many",
            "tables": vec![json!({}); 1000],
            "variables": vec![json!({"name": "x\n".repeat(1000), "kind": "int"}), json!({"name": 3})],
        }));
        assert_eq!(report.variables.len(), 1);
        assert_eq!(report.variables[0].name.len(), 300);
        let mut outcome = JobOutcome::default();
        outcome.usage.wall = Duration::from_secs(1);
        report.apply(&mut outcome);
        let error = outcome.error.unwrap();
        assert_eq!(error.kind, JobErrorKind::Exception, "limits are the supervisor's to report");
        assert_eq!(error.type_name.len(), 200);
        assert_eq!(error.message.len(), MAX_TEXT);
        assert_eq!(error.line, None);
        assert_eq!(outcome.tables.len(), MAX_TABLES);
        assert_eq!(outcome.usage.cpu, Duration::from_secs(1));
    }
}
