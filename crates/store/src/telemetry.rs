//! What was measured about calls (SPEC E11), read back after a restart.

use crate::db::{Row, params};
use crate::error::Result;
use crate::store::Store;
use crate::types::{TelemetryRow, TelemetryScope};

impl Store {
    /// Oldest first, at most `limit` (the latest ones).
    pub async fn telemetry(&self, scope: TelemetryScope<'_>, limit: u32) -> Result<Vec<TelemetryRow>> {
        let rows = match scope {
            TelemetryScope::Conversation(id) => {
                self.db()
                    .read(
                        "SELECT r.conversation_id, k.run_id, k.tool_call_id, k.telemetry
                         FROM calls k JOIN runs r ON r.id = k.run_id
                         WHERE k.telemetry IS NOT NULL AND r.conversation_id = $1
                         ORDER BY k.finished_at DESC LIMIT $2",
                        params![id, limit],
                    )
                    .await?
            }
            TelemetryScope::Owner(owner) => {
                self.db()
                    .read(
                        "SELECT r.conversation_id, k.run_id, k.tool_call_id, k.telemetry
                         FROM calls k JOIN runs r ON r.id = k.run_id JOIN conversations c ON c.id = r.conversation_id
                         WHERE k.telemetry IS NOT NULL AND c.owner = $1 AND c.deleted_at IS NULL
                         ORDER BY k.finished_at DESC LIMIT $2",
                        params![owner, limit],
                    )
                    .await?
            }
            TelemetryScope::All | TelemetryScope::Since(_) => {
                let since = match scope {
                    TelemetryScope::Since(time) => time.as_microsecond(),
                    _ => 0,
                };
                self.db()
                    .read(
                        "SELECT r.conversation_id, k.run_id, k.tool_call_id, k.telemetry
                         FROM calls k JOIN runs r ON r.id = k.run_id
                         WHERE k.telemetry IS NOT NULL AND k.finished_at >= $1
                         ORDER BY k.finished_at DESC LIMIT $2",
                        params![since, limit],
                    )
                    .await?
            }
        };
        rows.iter().rev().map(from_row).collect()
    }
}

fn from_row(row: &Row) -> Result<TelemetryRow> {
    Ok(TelemetryRow {
        conversation_id: row.id(0)?,
        run_id: row.id(1)?,
        tool_call_id: row.string(2)?,
        telemetry: row.json(3)?,
    })
}
