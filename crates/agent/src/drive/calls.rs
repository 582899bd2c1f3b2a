//! The tool calls of one round: which run, in parallel, and what they answered. Nothing with effects runs before the
//! disk knows of it, and nothing that was answered before a crash runs again.

use std::sync::Arc;

use ba_protocol::{OutputLevel, RunEvent, ToolCall, ToolErrorType, ToolFailure, ToolResult, text};
use ba_store::{ConversationFiles, RecordedCall, StoreError, ToolIntent, ToolOutcome};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tracing::Instrument;

use super::{Drive, proof};
use crate::pipeline::{CallRequest, Executed};
use crate::run::{Effect, PlannedCall};
use crate::tool::{Progress, ToolContext};
use crate::{skills, spans};

impl Drive<'_> {
    /// Runs the calls of one round in parallel; each result is on disk before a person hears of it.
    pub(super) async fn run_tools(
        &mut self,
        mut planned: Vec<PlannedCall>,
    ) -> Result<Vec<Effect>, StoreError> {
        let round = self.state.machine.model_turns();
        let mut results = self.answered_before(&planned, round).await?;
        let to_run: Vec<usize> = (0..planned.len()).filter(|&at| results[at].is_none()).collect();
        if to_run.iter().any(|&at| !self.is_harmless(&planned[at].call)) {
            self.book.ledger.durable().await?;
        }
        let files = fingerprint(&*self.files().await?);
        let effective = self.effective();
        skills::refuse_others(&mut planned, &effective, &self.state.skills);
        let chains = skills::chains(&self.state.skills, &planned);
        let skill_files = self.parts.skills.files(&self.state.skills);
        let shown = self.shown();
        let this = &*self;
        let mut executions: FuturesUnordered<_> = to_run
            .iter()
            .map(|&at| {
                let planned = &planned[at];
                let request = CallRequest {
                    planned,
                    registry: &this.parts.registry,
                    context: ToolContext {
                        skills: chains[at].clone(),
                        skill_files: skill_files.clone(),
                        shown: shown.clone(),
                        ..this.tool_context(&planned.call.tool_call_id)
                    },
                    global_level: effective.output_level.unwrap_or(this.parts.default_level),
                    window_share: this.window_share,
                    files: &files,
                    counter: &this.parts.counter,
                    told: &this.tally.told,
                };
                let span = spans::tool(&this.book.round_span, &planned.call);
                async move {
                    let executed = this.parts.executor.execute(request).instrument(span.clone()).await;
                    if let Ok(executed) = &executed {
                        spans::tool_finished(&span, executed);
                    }
                    executed.map(|executed| (at, executed))
                }
            })
            .collect();
        let mut finished: Vec<(usize, Executed)> = Vec::with_capacity(to_run.len());
        while let Some(ended) = executions.next().await {
            let (at, executed) = ended?;
            this.keep_result(round, &executed).await?;
            finished.push((at, executed));
        }
        drop(executions);
        // Told as they came; counted in call order (SPEC T8).
        finished.sort_by_key(|(at, _)| *at);
        for (at, executed) in finished {
            self.count(&executed);
            self.evidence.extend(executed.evidence);
            results[at] = Some(executed.result);
        }
        self.parts.skills.apply(&mut self.state.skills, &planned, &results);
        Ok(self.state.machine.on_tools(results.into_iter().flatten().collect()))
    }

    /// What the calls of earlier steps brought.
    fn shown(&self) -> Arc<[(String, String)]> {
        let steps = self.state.machine.steps().iter();
        let calls = steps.flat_map(|step| step.tool_calls.iter().zip(&step.results));
        let answered = calls.filter(|(_, result)| result.success);
        answered.map(|(call, result)| (call.tool_name.clone(), result.observation.clone())).collect()
    }

    /// What calls of this round were answered before the run was interrupted, by their place.
    async fn answered_before(
        &mut self,
        planned: &[PlannedCall],
        round: u32,
    ) -> Result<Vec<Option<ToolResult>>, StoreError> {
        let recorded = match std::mem::take(&mut self.resumed) {
            true => self.parts.store.calls(&self.record.id).await?,
            false => Vec::new(),
        };
        let of = |call: &ToolCall| {
            let same =
                |r: &&RecordedCall| r.intent.step == round && r.intent.tool_call_id == call.tool_call_id;
            recorded.iter().find(same).and_then(|found| found.result.clone())
        };
        Ok(planned.iter().map(|p| of(&p.call)).collect())
    }

    /// What earlier rounds of a resumed run did.
    pub(super) async fn restore(&mut self) -> Result<(), StoreError> {
        let round = self.state.machine.model_turns();
        self.evidence = proof::restored(self).await?;
        let mut interrupted = Vec::new();
        for call in &self.parts.store.calls(&self.record.id).await? {
            match &call.result {
                Some(result) => self.tally.add(result, call.telemetry.as_ref()),
                None if call.intent.step == round && !call.intent.idempotent => {
                    interrupted.push(interrupted_result(&call.intent));
                }
                None => {}
            }
        }
        if interrupted.is_empty() {
            return Ok(());
        }
        let outcome = |result| ToolOutcome { step: round, result, telemetry: None, evidence: None };
        self.keep_outcomes(interrupted.into_iter().map(outcome).collect()).await
    }

    /// Whether running it twice does no harm.
    pub(super) fn is_harmless(&self, call: &ToolCall) -> bool {
        let tool = self.parts.registry.get(&call.tool_name);
        tool.is_none_or(|t| t.plan(&call.arguments).effects.is_harmless())
    }

    fn tool_context(&self, call_id: &str) -> ToolContext {
        let (teller, tool_call_id) = (self.book.ledger.teller(), call_id.to_owned());
        let progress = Progress::new(move |fraction, message| {
            let event = RunEvent::ToolProgress {
                tool_call_id: tool_call_id.clone(),
                fraction,
                message: text::shorten(&text::one_line(message), 200),
            };
            teller.tell(event);
        });
        let record = &self.record;
        let context = ToolContext::new(
            record.owner.clone(),
            record.conversation_id.clone(),
            record.id.clone(),
            call_id,
        );
        ToolContext { level: self.parts.default_level, progress, ..context }
    }
}

/// A call with effects that was in flight when the process ended: it is not run again.
fn interrupted_result(intent: &ToolIntent) -> ToolResult {
    let message = "the server restarted while this call was running; it was not run again, because its effects may \
                   already have happened. Check the files, then decide.";
    let failure = ToolFailure::new(ToolErrorType::InternalError, "INTERRUPTED", message);
    crate::pipeline::failed(&intent.tool_call_id, &intent.tool_name, &failure, OutputLevel::default())
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
