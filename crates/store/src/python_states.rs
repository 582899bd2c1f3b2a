//! Where Python's variables of a conversation stand (SPEC N4): an epoch that every successful call raises, the names it
//! left, and the journal of calls that made them. The variables themselves live in a process of one server.

use std::time::Duration;

use ba_protocol::ConversationId;
use jiff::Timestamp;

use crate::conversations::now;
use crate::db::params;
use crate::error::Result;
use crate::store::Store;

/// What a conversation's last successful call left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonState {
    /// Raised by every successful call, on whatever server; 0 before the first.
    pub epoch: u64,
    /// Names of the variables.
    pub variables: Vec<String>,
    /// Calls before this are not worth repeating: what they made is gone, and the model knows.
    pub since: Option<Timestamp>,
}

/// A successful call that can be run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonCall {
    pub code: String,
    /// How long it ran.
    pub took: Duration,
}

impl Store {
    pub async fn python_state(&self, conversation: &ConversationId) -> Result<PythonState> {
        let sql = "SELECT epoch, variables, since FROM python_states WHERE conversation_id = $1";
        let Some(row) = self.db().read_one(sql, params![conversation]).await? else {
            return Ok(PythonState::default());
        };
        let since = row.time(2)?;
        Ok(PythonState {
            epoch: row.unsigned(0)?,
            variables: row.json(1)?,
            since: (since > Timestamp::UNIX_EPOCH).then_some(since),
        })
    }

    /// A call succeeded and left these variables. Gives the new epoch.
    pub async fn python_ran(&self, conversation: &ConversationId, variables: &[String]) -> Result<u64> {
        let (conversation, variables) = (conversation.clone(), super::runs::json(&variables)?);
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    let row = s
                        .one(
                            "INSERT INTO python_states (conversation_id, epoch, since, variables) VALUES ($1, 1, 0, $2)
                             ON CONFLICT (conversation_id) DO UPDATE
                             SET epoch = python_states.epoch + 1, variables = excluded.variables
                             RETURNING epoch",
                            params![&conversation, variables],
                        )
                        .await?;
                    row.map_or(Ok(0), |row| row.unsigned(0))
                })
            })
            .await
    }

    /// The variables are gone for good: the calls so far are not run again.
    pub async fn python_lost(&self, conversation: &ConversationId) -> Result<()> {
        let conversation = conversation.clone();
        self.db()
            .write(move |s| {
                Box::pin(async move {
                    s.execute(
                        "UPDATE python_states SET since = $2, variables = '[]' WHERE conversation_id = $1",
                        params![&conversation, now()],
                    )
                    .await
                    .map(|_| ())
                })
            })
            .await
    }

    /// The successful calls that made the variables, in the order they ended.
    pub async fn python_journal(
        &self,
        conversation: &ConversationId,
        state: &PythonState,
    ) -> Result<Vec<PythonCall>> {
        let since = state.since.unwrap_or(Timestamp::UNIX_EPOCH);
        let rows = self
            .db()
            .read(
                "SELECT c.arguments, c.result, c.telemetry FROM calls c JOIN runs r ON r.id = c.run_id
                 WHERE r.conversation_id = $1 AND c.tool_name = 'run_python' AND c.result IS NOT NULL
                   AND c.started_at >= $2
                 ORDER BY c.finished_at, r.admitted, c.step, c.position",
                params![conversation, since],
            )
            .await?;
        let mut calls = Vec::new();
        for row in &rows {
            let result: ba_protocol::ToolResult = row.json(1)?;
            let arguments: serde_json::Map<String, serde_json::Value> = row.json(0)?;
            let Some(code) = arguments.get("code").and_then(|code| code.as_str()) else { continue };
            if result.success {
                let telemetry: Option<ba_protocol::ToolTelemetry> = row.optional_json(2)?;
                let took = telemetry.map_or(0.0, |t| t.duration_ms.max(0.0)) / 1000.0;
                let took = Duration::try_from_secs_f64(took).unwrap_or(Duration::MAX);
                calls.push(PythonCall { code: code.to_owned(), took });
            }
        }
        Ok(calls)
    }
}
