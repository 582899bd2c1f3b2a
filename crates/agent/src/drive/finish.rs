//! How a run ends: the answer is built, its code saved, and everything committed in one step. Every ending leaves its
//! round in the history (SPEC X9), so that the next question can build on what was found.

use ba_audit::Evidence;
use ba_protocol::{
    Action, CodeId, ConversationId, ParseOutcome, RunEvent, StructuredResponse, Turn, TurnEnding, parse,
};
use ba_store::{NewCode, RunStatus, StepCommit, Store, StoreError};

use super::Drive;
use super::proof::{self, Ending};
use crate::respond::{self, Answer, Draft, Known, charts};
use crate::run::{Outcome, StopReason};
use crate::spans;

impl Drive<'_> {
    /// Commits the end of a run and tells whoever watches. Done again after a crash, it does the same.
    pub(super) async fn finish(&mut self, ending: Ending) -> Result<Option<RunEvent>, StoreError> {
        spans::run_ended(&self.book.span, &ending.outcome, &self.book.usage);
        // No skill outlives the run.
        self.state.skills.unwind();
        let (status, event, turn) = match ending.outcome {
            Outcome::Answer { response, structured, stop } => {
                let draft = self.draft(&response, structured, stop).await?;
                let saved = self.save_codes(&draft).await?;
                if let Some(audit) = &ending.audit {
                    self.parts.log.audit(&self.record, audit);
                }
                let turn = Turn { audit: ending.audit.clone(), ..self.turn_of(Some(draft.history.clone())) };
                let mut answer = draft.finish(&saved);
                answer.metadata.audit = ending.audit;
                answer.metadata.witness = ending.witness;
                for warning in &answer.metadata.warnings {
                    self.parts.log.warning(&self.record, warning);
                }
                (RunStatus::Complete, RunEvent::Report(Box::new(answer)), turn)
            }
            Outcome::Failed { error } => {
                self.parts.log.warning(&self.record, &format!("{}: {}", error.code, error.message));
                let turn = Turn { ending: TurnEnding::Failed, ..self.turn_of(None) };
                (RunStatus::Failed, RunEvent::RunFailed { error }, turn)
            }
            Outcome::Cancelled => {
                let partial = readable(&self.said.lock());
                let turn = Turn { ending: TurnEnding::Cancelled, ..self.turn_of(partial.clone()) };
                (RunStatus::Cancelled, RunEvent::RunCancelled { partial }, turn)
            }
        };
        let commit = StepCommit { status, events: vec![event], turn: Some(turn), ..self.progress() };
        self.close(commit).await
    }

    async fn save_codes(&self, draft: &Draft) -> Result<Vec<ba_protocol::CodeFile>, StoreError> {
        let mut saved = Vec::new();
        for code in &draft.save {
            let new = NewCode {
                code_id: code.code_id.to_string(),
                code: code.code.clone(),
                language: code.language.name.to_owned(),
                description: code.description.clone(),
            };
            let file = self.parts.store.save_code(&self.record.conversation_id, new).await?.file;
            self.parts.log.code_saved(&self.record, &file);
            saved.push(file);
        }
        Ok(saved)
    }

    /// An answer as it would be delivered.
    pub(super) async fn draft(
        &mut self,
        response: &StructuredResponse,
        structured: bool,
        stop: StopReason,
    ) -> Result<Draft, StoreError> {
        let text = match &response.action {
            Action::Complete(report) => report.content.as_str(),
            Action::ToolCall { .. } => "",
        };
        let results = if charts::wanted(text) { proof::results(self).await? } else { Evidence::new() };
        let files = self.files().await?;
        let known = Known {
            results,
            code: files.codes.clone(),
            uploads: files.uploads.clone(),
            artifacts: files.artifacts.clone(),
        };
        let mut facts = self.facts();
        facts.stop_reason = stop.as_limit().map(str::to_owned);
        let answer = match structured {
            true => Answer::Structured(response),
            false => Answer::Plain { text, round: response.current_round },
        };
        // The same answer names its code the same way, so that finishing it again after a crash saves nothing twice.
        let (day, run) =
            (self.record.created_at.to_zoned(jiff::tz::TimeZone::system()).date(), &self.record.id);
        let mut count = 0;
        let mut next_id = || {
            count += 1;
            CodeId::dated(day, number_of(&format!("{run}/{count}")))
        };
        Ok(respond::complete(answer, &known, facts, &mut next_id))
    }

    fn turn_of(&self, final_answer: Option<String>) -> Turn {
        Turn {
            run_id: self.record.id.clone(),
            user_message: self.record.message.clone(),
            created_at: self.record.created_at,
            steps: self.state.machine.steps().to_vec(),
            final_answer,
            tokens_used: self.book.usage.input_tokens + self.book.usage.output_tokens,
            audit: None,
            ending: TurnEnding::Complete,
        }
    }
}

fn number_of(name: &str) -> u32 {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes().iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The part of an answer that a person could have read when it was stopped: text without an object, or the content of
/// a report whose object was still open.
fn readable(said: &str) -> Option<String> {
    let content = match said.trim_start().starts_with(['{', '`']) {
        false => said.to_owned(),
        true => ["", "\"}}"].iter().find_map(|end| {
            match parse(&format!("{}{end}", said.trim_end_matches('\\'))).outcome {
                ParseOutcome::Structured(StructuredResponse { action: Action::Complete(report), .. }) => {
                    Some(report.content)
                }
                _ => None,
            }
        })?,
    };
    (!content.trim().is_empty()).then_some(content)
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
