//! Proof-carrying answers (SPEC V): the evidence a run gathered, the audit of its answer, and the one turn a model gets
//! to mend what nothing proves. Decides how a run ends; never writes a report.

pub mod evidence;
mod faults;
mod request;
mod shape;
mod witness;

use std::sync::Arc;

use ba_audit::{Evidence, Options, Source, SourceKind, audit};
use ba_protocol::audit::{Audit, AuditMode, ProofCall, WitnessReport};
use ba_protocol::text::shorten;
use ba_protocol::turn::Round;
use ba_protocol::{Action, RunId, Turn};
use ba_store::{CallEvidence, StoreError};

pub(crate) use witness::begin as begin_witness;
pub use witness::{Beside, Group, Testimony, Witness, WitnessCase};

use super::Drive;
use crate::run::{Effect, Outcome};
use faults::Delivered;
use request::Objections;

/// Earlier runs of the conversation whose evidence counts.
const EARLIER_RUNS: usize = 10;
/// Bytes of their evidence, as it is stored.
const EARLIER_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of this run's evidence that are read back when it is resumed.
const RUN_BYTES: usize = 64 * 1024 * 1024;

/// What becomes of an answer.
pub(crate) enum Settled {
    /// Its model was given the gate turn.
    SentBack(Vec<Effect>),
    Ending(Box<Ending>),
}

/// How a run really ends.
pub(crate) struct Ending {
    pub outcome: Outcome,
    pub audit: Option<Audit>,
    pub witness: Option<WitnessReport>,
}

impl Ending {
    fn of(outcome: Outcome, found: Objections) -> Self {
        Self { outcome, audit: found.audit, witness: found.witness }
    }
}

/// Audits an answer before it is delivered.
pub(crate) async fn settle(drive: &mut Drive<'_>, outcome: Outcome) -> Result<Settled, StoreError> {
    let mode = drive.parts.audit;
    if mode == AuditMode::Off || !matches!(outcome, Outcome::Answer { .. }) {
        return Ok(Settled::Ending(Box::new(Ending::of(outcome, Objections::default()))));
    }
    let evidence = Arc::new(gathered(drive, &outcome).await?);
    let found = judge(drive, &outcome, &evidence).await?;
    let draft = drive.state.machine.gate().map(|gate| gate.draft().clone());
    let Some(draft) = draft else {
        // The offline analyst answers by rule: asked again, it would say the same.
        if mode == AuditMode::Gate
            && !drive.model.info().offline
            && let Some(effects) = send_back(drive, &found)
        {
            return Ok(Settled::SentBack(effects));
        }
        return Ok(Settled::Ending(Box::new(Ending::of(outcome, found))));
    };
    let before = judge(drive, &draft, &evidence).await?;
    let worse = found.count() > before.count() || found.proven() * 2 < before.proven();
    Ok(Settled::Ending(Box::new(if worse { Ending::of(draft, before) } else { Ending::of(outcome, found) })))
}

/// Asks the model once to mend its answer. `None` when there is nothing to mend.
fn send_back(drive: &mut Drive<'_>, found: &Objections) -> Option<Vec<Effect>> {
    let machine = &mut drive.state.machine;
    let request = found.request(machine.steps(), machine.language())?;
    machine.reconsider(request)
}

/// All that speaks against an answer as it would be delivered.
async fn judge(
    drive: &mut Drive<'_>,
    outcome: &Outcome,
    evidence: &Arc<Evidence>,
) -> Result<Objections, StoreError> {
    let Outcome::Answer { response, structured, stop } = outcome else { return Ok(Objections::default()) };
    let draft = drive.draft(response, *structured, *stop).await?;
    let answer = draft.answer();
    let text: Arc<str> = answer.response.as_str().into();
    let (report, known) = (text.clone(), evidence.clone());
    let audited = tokio::task::spawn_blocking(move || audit(&report, &known, Options::default())).await;
    // A report is delivered even where its audit fails.
    let audited = audited.inspect_err(|error| tracing::error!(%error, "the audit of a report failed")).ok();
    let context = drive.gather().await?;
    let audited = audited.map(|found| with_calls(found, drive.state.machine.steps(), context.turns()));
    let witness = witness::compare(drive, &text).await;
    // What a limit ended is our own notice, which has no shape to keep.
    if stop.as_limit().is_some() {
        return Ok(Objections { audit: audited, witness, faults: Vec::new() });
    }
    let files = names(&*drive.files().await?);
    let written = match &response.action {
        Action::Complete(report) => report.content.as_str(),
        Action::ToolCall { .. } => "",
    };
    let faults = faults::find(&Delivered {
        question: &drive.record.message,
        written,
        text: &text,
        warnings: &answer.metadata.warnings,
        files: &files,
        pictures: drive.tally.artifacts.iter().any(|a| is_picture(&a.name)),
        evidence,
        steps: drive.state.machine.steps(),
        audit: audited.as_ref(),
    });
    Ok(Objections { audit: audited, witness, faults })
}

/// Names what the calls behind the figures ran.
fn with_calls(mut audit: Audit, steps: &[Round], earlier: &[Turn]) -> Audit {
    const MAX_CALLS: usize = 60;
    const MAX_CODE: usize = 1_200;
    let own = steps.iter().flat_map(|s| &s.tool_calls).map(|call| (call.tool_call_id.clone(), call));
    let before = earlier.iter().rev().take(EARLIER_RUNS).flat_map(|turn| {
        let calls = turn.steps.iter().flat_map(|s| &s.tool_calls);
        calls.map(|call| (format!("earlier:{}/{}", turn.run_id, call.tool_call_id), call))
    });
    let used = audit.used_calls();
    let named = own.chain(before).filter(|(id, _)| used.contains(id.as_str())).map(|(id, call)| {
        let ran = ["query", "code", "path"].iter().find_map(|key| call.arguments.get(*key)?.as_str());
        let code = shorten(ran.unwrap_or_default(), MAX_CODE);
        ProofCall { tool_call_id: id, tool_name: call.tool_name.clone(), code }
    });
    audit.calls = named.take(MAX_CALLS).collect();
    audit
}

fn is_picture(name: &str) -> bool {
    [".png", ".svg", ".jpg", ".jpeg", ".html", ".pdf"].iter().any(|end| name.to_lowercase().ends_with(end))
}

/// What the files of a conversation are called.
fn names(files: &ba_store::ConversationFiles) -> Vec<String> {
    let uploads = files.uploads.iter().flat_map(|f| [f.filename.clone(), f.file_id.to_string()]);
    let codes = files.codes.iter().flat_map(|f| [f.filename(), f.code_id.to_string()]);
    uploads.chain(codes).chain(files.artifacts.iter().map(|f| f.name.clone())).collect()
}

/// All a report may draw on, nearest first: what does not fit the caps is the oldest.
async fn gathered(drive: &mut Drive<'_>, outcome: &Outcome) -> Result<Evidence, StoreError> {
    let context = drive.gather().await?;
    let mut all = Evidence::new();
    all.given("user", &drive.record.message);
    all.extend([drive.evidence.clone()]);
    if let Outcome::Answer { stop, .. } = outcome
        && stop.as_limit().is_some()
    {
        // Our own notice names the limit that was reached.
        all.given("limits", &drive.state.machine.spelled_limits());
    }
    if !context.business_notes().is_empty() {
        all.given("business", context.business_notes());
    }
    let earlier: Vec<&Turn> = context.turns().iter().rev().take(EARLIER_RUNS).collect();
    earlier.iter().for_each(|turn| all.given("user", &turn.user_message));
    let runs: Vec<RunId> = earlier.iter().map(|turn| turn.run_id.clone()).collect();
    add_earlier(drive, &runs, &mut all).await?;
    Ok(all)
}

/// What the calls of this run returned, then those of earlier runs, newest first: what a chart may be drawn from.
pub(crate) async fn results(drive: &mut Drive<'_>) -> Result<Evidence, StoreError> {
    let context = drive.gather().await?;
    let runs: Vec<RunId> =
        context.turns().iter().rev().take(EARLIER_RUNS).map(|turn| turn.run_id.clone()).collect();
    let mut all = drive.evidence.clone();
    add_earlier(drive, &runs, &mut all).await?;
    Ok(all)
}

async fn add_earlier(drive: &Drive<'_>, runs: &[RunId], all: &mut Evidence) -> Result<(), StoreError> {
    for call in drive.parts.store.evidence(runs, EARLIER_BYTES).await? {
        let id = format!("earlier:{}/{}", call.run_id, call.tool_call_id);
        for source in parsed(&call).sources {
            all.push(Source { id: id.clone(), kind: SourceKind::Earlier, ..source });
        }
    }
    Ok(())
}

/// The evidence of a run's calls that were answered before it was interrupted.
pub(crate) async fn restored(drive: &Drive<'_>) -> Result<Evidence, StoreError> {
    let calls = drive.parts.store.evidence(std::slice::from_ref(&drive.record.id), RUN_BYTES).await?;
    let mut all = Evidence::new();
    all.extend(calls.iter().map(parsed));
    Ok(all)
}

fn parsed(call: &CallEvidence) -> Evidence {
    serde_json::from_str(&call.evidence).unwrap_or_else(|error| {
        tracing::warn!(run = %call.run_id, %error, "evidence of a call cannot be read");
        Evidence { cut: true, ..Evidence::default() }
    })
}
