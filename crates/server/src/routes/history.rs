//! A conversation's rounds as the page shows them, made from its durable events.

use ba_protocol::api::{AgentResponse, ErrorInfo};
use ba_protocol::{Artifact, ConversationId, Event, RunEvent, RunId, Said, UploadId};
use ba_store::{EventScope, Store};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::turns::FeedbackInfo;
use crate::error::Result;

const PAGE: u32 = 500;

/// One question and all that was done for it.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryRound {
    pub run_id: RunId,
    /// The first run of its turn: a question that was asked again or edited has several runs with the same one.
    pub turn_id: RunId,
    /// Whether this version of the turn counts: the model sees no other.
    pub chosen: bool,
    pub user_message: String,
    /// The uploads that came with the question.
    pub file_ids: Vec<UploadId>,
    #[schema(value_type = String)]
    pub created_at: Timestamp,
    /// `running`, `complete`, `failed` or `cancelled`.
    pub status: &'static str,
    /// The sequence number of the round's last event: where a reader of its stream goes on.
    pub last_seq: u64,
    /// The model's turns that called tools, as they were answered.
    pub processing: Vec<AgentResponse>,
    pub steps: Vec<HistoryStep>,
    pub answer: Option<AgentResponse>,
    /// What of the answer was there when it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    pub error: Option<ErrorInfo>,
    /// What the person thought of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackInfo>,
}

/// One tool call.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryStep {
    pub tool_call_id: String,
    pub tool_name: String,
    #[schema(value_type = Object)]
    pub arguments: Map<String, Value>,
    pub round: u32,
    /// Absent while it runs.
    pub success: Option<bool>,
    pub duration_ms: Option<f64>,
    pub cache_hit: bool,
    pub summary: String,
    /// The same as a code with values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
    pub observation: String,
    pub error_code: Option<String>,
    pub artifacts: Vec<Artifact>,
}

pub async fn rounds(store: &Store, conversation: &ConversationId) -> Result<Vec<HistoryRound>> {
    let mut rounds: Vec<HistoryRound> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.events_after(EventScope::Conversation(conversation), after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for event in page {
            add(&mut rounds, event);
        }
    }
    for version in store.turn_versions(conversation).await? {
        if let Some(round) = rounds.iter_mut().find(|round| round.run_id == version.run_id) {
            round.chosen = !version.superseded;
            round.turn_id = version.turn_id;
        }
    }
    for feedback in store.feedback(conversation).await? {
        if let Some(round) = rounds.iter_mut().find(|round| round.run_id == feedback.run_id) {
            round.feedback = Some(feedback.into());
        }
    }
    Ok(rounds)
}

fn add(rounds: &mut Vec<HistoryRound>, event: Event) {
    if let RunEvent::RunStarted { message, file_ids, .. } = &event.event {
        rounds.push(HistoryRound {
            turn_id: event.run_id.clone(),
            chosen: true,
            feedback: None,
            run_id: event.run_id,
            user_message: message.clone(),
            file_ids: file_ids.clone(),
            created_at: event.at,
            status: "running",
            last_seq: event.seq,
            processing: Vec::new(),
            steps: Vec::new(),
            answer: None,
            partial: None,
            error: None,
        });
        return;
    }
    let Some(round) = rounds.iter_mut().rev().find(|round| round.run_id == event.run_id) else { return };
    round.last_seq = event.seq;
    match event.event {
        RunEvent::Turn(answer) => round.processing.push(*answer),
        RunEvent::ToolStarted { tool_call_id, tool_name, arguments, round: number } => {
            round.steps.push(HistoryStep {
                tool_call_id,
                tool_name,
                arguments,
                round: number,
                success: None,
                duration_ms: None,
                cache_hit: false,
                summary: String::new(),
                said: None,
                observation: String::new(),
                error_code: None,
                artifacts: Vec::new(),
            });
        }
        RunEvent::ToolFinished(finished) => {
            let step = round.steps.iter_mut().rev().find(|step| step.tool_call_id == finished.tool_call_id);
            if let Some(step) = step {
                step.success = Some(finished.success);
                step.duration_ms = Some(finished.duration_ms);
                step.cache_hit = finished.cache_hit;
                step.summary = finished.summary;
                step.said = finished.said;
                step.observation = finished.observation;
                step.error_code = finished.error_code;
                step.artifacts = finished.artifacts;
            }
        }
        RunEvent::Report(answer) => {
            round.status = "complete";
            round.answer = Some(*answer);
        }
        RunEvent::RunFailed { error } => {
            round.status = "failed";
            round.error = Some(error);
        }
        RunEvent::RunCancelled { partial } => {
            round.status = "cancelled";
            round.partial = partial;
        }
        RunEvent::RunStarted { .. } | RunEvent::TextDelta { .. } | RunEvent::ToolProgress { .. } => {}
    }
}
