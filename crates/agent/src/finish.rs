//! How a run ends: the answer is built, its code saved, and everything committed in one step.

use ba_audit::Evidence;
use ba_model::Prices;
use ba_protocol::api::UsageInfo;
use ba_protocol::{
    Action, CodeId, ConversationId, OutputLevel, Round, RunEvent, StructuredResponse, ToolErrorType,
    ToolFailure, ToolResult,
};
use ba_store::{ConversationFiles, NewCode, RunStatus, StepCommit, Store, StoreError, ToolIntent};

use crate::driver::Drive;
use crate::proof::{self, Ending};
use crate::respond::{self, Answer, Draft, Known, charts};
use crate::run::{Outcome, StopReason};
use crate::spans;

/// Commits the end of a run and tells whoever watches.
pub(crate) async fn finish(drive: &mut Drive<'_>, ending: Ending) -> Result<(), StoreError> {
    spans::run_ended(&drive.span, &ending.outcome, &drive.usage);
    match ending.outcome {
        Outcome::Answer { response, structured, stop } => {
            let draft = draft(drive, &response, structured, stop).await?;
            let mut saved = Vec::new();
            for code in &draft.save {
                let new = NewCode {
                    code_id: code.code_id.to_string(),
                    code: code.code.clone(),
                    language: code.language.name.to_owned(),
                    description: code.description.clone(),
                };
                let file = drive.parts.store.save_code(&drive.record.conversation_id, new).await?.file;
                drive.parts.log.code_saved(&drive.record, &file);
                saved.push(file);
            }
            if let Some(audit) = &ending.audit {
                drive.parts.log.audit(&drive.record, audit);
            }
            let round = Round { audit: ending.audit.clone(), ..round_of(drive, Some(draft.history.clone())) };
            let mut answer = draft.finish(&saved);
            answer.metadata.audit = ending.audit;
            let commit = StepCommit {
                status: RunStatus::Complete,
                events: vec![RunEvent::Report(Box::new(answer))],
                round: Some(round),
                ..drive.progress()
            };
            drive.commit(commit).await?;
        }
        Outcome::Failed { error } => {
            // What was found before the failure stays in the history, so that the next turn can build on it.
            let round = round_of(drive, None);
            let commit = StepCommit {
                status: RunStatus::Failed,
                events: vec![RunEvent::RunFailed { error }],
                round: (!round.steps.is_empty()).then_some(round),
                ..drive.progress()
            };
            drive.commit(commit).await?;
        }
        Outcome::Cancelled => {
            let commit = StepCommit {
                status: RunStatus::Cancelled,
                events: vec![RunEvent::RunCancelled {}],
                ..drive.progress()
            };
            drive.commit(commit).await?;
        }
    }
    drive.ending = drive.ledger.durable().await?;
    let round = drive.state.machine.model_turns();
    drive.parts.log.round_end(&drive.record, round, drive.round_began.elapsed());
    drive.parts.metrics.run_ended(&drive.record.conversation_id, &drive.usage);
    Ok(())
}

/// An answer as it would be delivered.
pub(crate) async fn draft(
    drive: &mut Drive<'_>,
    response: &StructuredResponse,
    structured: bool,
    stop: StopReason,
) -> Result<Draft, StoreError> {
    let content = match &response.action {
        Action::Complete(report) => report.content.as_str(),
        Action::ToolCall { .. } => "",
    };
    let results = if charts::wanted(content) { proof::results(drive).await? } else { Evidence::new() };
    let files = drive.files().await?;
    let known = Known {
        results,
        code: files.codes.clone(),
        uploads: files.uploads.clone(),
        artifacts: files.artifacts.clone(),
    };
    let mut facts = drive.facts();
    facts.stop_reason = stop.as_limit().map(str::to_owned);
    let answer = match structured {
        true => Answer::Structured(response),
        false => Answer::Plain { text: content, round: response.current_round },
    };
    let today = jiff::Zoned::now().date();
    Ok(respond::complete(answer, &known, facts, &mut || CodeId::dated(today)))
}

fn round_of(drive: &Drive<'_>, final_answer: Option<String>) -> Round {
    Round {
        round_id: drive.record.id.clone(),
        user_message: drive.record.message.clone(),
        created_at: drive.record.created_at,
        steps: drive.state.machine.steps().to_vec(),
        final_answer,
        tokens_used: drive.usage.input_tokens + drive.usage.output_tokens,
        audit: None,
    }
}

/// Changes whenever a file a tool could read changes (SPEC E9).
pub(crate) fn fingerprint(known: &ConversationFiles) -> String {
    let mut hasher = blake3::Hasher::new();
    for code in &known.codes {
        hasher.update(format!("{}@{};", code.code_id, code.version).as_bytes());
    }
    for upload in &known.uploads {
        let read = (&upload.status, &upload.ingest_options);
        hasher.update(format!("{}={}{read:?};", upload.file_id, upload.sha256).as_bytes());
    }
    for artifact in &known.artifacts {
        hasher.update(format!("{}={}@{};", artifact.name, artifact.size, artifact.created_at).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// A call with effects that was in flight when the process ended: it is not run again.
pub(crate) fn interrupted(intent: &ToolIntent) -> ToolResult {
    let message = "the server restarted while this call was running; it was not run again, because its effects may \
                   already have happened. Check the files, then decide.";
    let failure = ToolFailure::new(ToolErrorType::InternalError, "INTERRUPTED", message);
    crate::pipeline::failed(&intent.tool_call_id, &intent.tool_name, &failure, OutputLevel::default())
}

#[expect(clippy::cast_precision_loss, reason = "money to show, not to book")]
pub(crate) fn cost(usage: &UsageInfo, prices: &Prices) -> f64 {
    let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens) as f64;
    let cached = usage.cached_tokens as f64 * prices.cached.unwrap_or(prices.input);
    (fresh * prices.input + cached + usage.output_tokens as f64 * prices.output) / 1e6
}

#[async_trait::async_trait]
impl crate::pipeline::ToolData for Store {
    async fn keep(
        &self,
        conversation: &ConversationId,
        tool_call_id: &str,
        extension: &str,
        bytes: &[u8],
        summary: &str,
    ) -> Result<String, String> {
        let kept = self.put_tool_data(conversation, tool_call_id, extension, bytes, summary).await;
        kept.map(|data| data.reference).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_read_in_another_way_is_another_file_to_the_cache() {
        let mut files = ConversationFiles::default();
        let upload = serde_json::json!({"file_id": "upload_001", "conversation_id": "conv_a87365d8983d",
            "filename": "s.csv", "file_type": "csv", "size": 1, "sha256": "0", "created_at": "2026-01-01T00:00:00Z",
            "status": "ready"});
        files.uploads.push(serde_json::from_value(upload).unwrap());
        let before = fingerprint(&files);
        assert_eq!(before, fingerprint(&files.clone()));
        files.uploads[0].ingest_options.encoding = Some("big5".into());
        assert_ne!(before, fingerprint(&files));
    }
}
