//! Tool calls of a run: the intent before, the result after. What has no result was in flight.

use ba_protocol::RunId;

use super::json;
use crate::conversations::now;
use crate::db::{Row, Session, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::{CallEvidence, RecordedCall, ToolIntent, ToolOutcome};

impl Store {
    /// Every call of the run, in order of intent.
    pub async fn calls(&self, run: &RunId) -> Result<Vec<RecordedCall>> {
        let rows = self
            .db()
            .read(
                "SELECT step, tool_call_id, tool_name, arguments, idempotent, started_at, result, telemetry
                 FROM calls WHERE run_id = $1 ORDER BY step, position, tool_call_id",
                params![run],
            )
            .await?;
        rows.iter().map(call_from_row).collect()
    }

    /// What the calls of these runs left as evidence, newest run first, until `max_bytes` are read.
    pub async fn evidence(&self, runs: &[RunId], max_bytes: usize) -> Result<Vec<CallEvidence>> {
        let mut found = Vec::new();
        let mut left = max_bytes;
        for run in runs {
            let rows = self
                .db()
                .read(
                    "SELECT tool_call_id, evidence FROM calls
                     WHERE run_id = $1 AND evidence IS NOT NULL ORDER BY step, position, tool_call_id",
                    params![run],
                )
                .await?;
            for row in &rows {
                let (tool_call_id, evidence) = (row.string(0)?, row.string(1)?);
                let Some(rest) = left.checked_sub(evidence.len()) else { return Ok(found) };
                left = rest;
                found.push(CallEvidence { run_id: run.clone(), tool_call_id, evidence });
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Every call of a conversation with its evidence, for archives.
    pub(crate) async fn call_records(&self, run: &RunId) -> Result<Vec<(RecordedCall, Option<String>)>> {
        let rows = self
            .db()
            .read(
                "SELECT step, tool_call_id, tool_name, arguments, idempotent, started_at, result, telemetry, evidence
                 FROM calls WHERE run_id = $1 ORDER BY step, position, tool_call_id",
                params![run],
            )
            .await?;
        rows.iter().map(|row| Ok((call_from_row(row)?, row.optional_string(8)?))).collect()
    }
}

/// An intent recorded again (by a resumed run) keeps its first form.
pub(super) async fn insert_intents(s: &mut dyn Session, run: &RunId, intents: &[ToolIntent]) -> Result<()> {
    for (position, intent) in intents.iter().enumerate() {
        s.execute(
            "INSERT INTO calls (run_id, step, tool_call_id, position, tool_name, arguments, idempotent, started_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (run_id, step, tool_call_id) DO NOTHING",
            params![
                run,
                intent.step,
                intent.tool_call_id.as_str(),
                position as u64,
                intent.tool_name.as_str(),
                json(&intent.arguments)?,
                intent.idempotent,
                now()
            ],
        )
        .await?;
    }
    Ok(())
}

/// A result without an intent (answered from a cache, or refused before it ran) is kept as well.
pub(super) async fn insert_outcomes(
    s: &mut dyn Session,
    run: &RunId,
    outcomes: &[ToolOutcome],
) -> Result<()> {
    for (position, outcome) in outcomes.iter().enumerate() {
        let telemetry = outcome.telemetry.as_ref().map(json).transpose()?;
        s.execute(
            "INSERT INTO calls (run_id, step, tool_call_id, position, tool_name, arguments, idempotent,
                                started_at, result, telemetry, evidence, finished_at)
             VALUES ($1, $2, $3, $4, $5, '{}', 1, $6, $7, $8, $9, $6)
             ON CONFLICT (run_id, step, tool_call_id) DO UPDATE
             SET result = excluded.result, telemetry = excluded.telemetry, evidence = excluded.evidence,
                 finished_at = excluded.finished_at
             WHERE calls.result IS NULL",
            params![
                run,
                outcome.step,
                outcome.result.tool_call_id.as_str(),
                position as u64,
                outcome.result.tool_name.as_str(),
                now(),
                json(&outcome.result)?,
                telemetry,
                outcome.evidence.clone()
            ],
        )
        .await?;
    }
    Ok(())
}

fn call_from_row(row: &Row) -> Result<RecordedCall> {
    Ok(RecordedCall {
        intent: ToolIntent {
            step: row.u32(0)?,
            tool_call_id: row.string(1)?,
            tool_name: row.string(2)?,
            arguments: row.json(3)?,
            idempotent: row.flag(4)?,
        },
        started_at: row.time(5)?,
        result: row.optional_json(6)?,
        telemetry: row.optional_json(7)?,
    })
}
