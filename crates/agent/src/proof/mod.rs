//! Proof-carrying answers (SPEC V): the evidence a run gathered, the audit of its answer, and the one turn a model gets
//! to mend what nothing proves. Decides how a run ends; never writes a report.

pub mod evidence;

use std::sync::Arc;

use ba_audit::{Evidence, Options, Source, SourceKind, audit, gate_request};
use ba_protocol::audit::{Audit, AuditMode};
use ba_protocol::{Round, RunId};
use ba_store::{CallEvidence, StoreError};

use crate::driver::Drive;
use crate::finish;
use crate::run::{Language, Outcome};

/// Earlier runs of the conversation whose evidence counts.
const EARLIER_RUNS: usize = 10;
/// Bytes of their evidence, as it is stored.
const EARLIER_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of this run's evidence that are read back when it is resumed.
const RUN_BYTES: usize = 64 * 1024 * 1024;

/// How a run really ends.
pub(crate) struct Ending {
    pub outcome: Outcome,
    pub audit: Option<Audit>,
}

/// Audits an answer before it is delivered. `None` when its model was given the gate turn.
pub(crate) async fn settle(drive: &mut Drive<'_>, outcome: Outcome) -> Result<Option<Ending>, StoreError> {
    let mode = drive.parts.audit;
    if mode == AuditMode::Off || !matches!(outcome, Outcome::Answer { .. }) {
        return Ok(Some(Ending { outcome, audit: None }));
    }
    let evidence = Arc::new(gathered(drive, &outcome).await?);
    let found = audit_of(drive, &outcome, &evidence).await?;
    let draft = drive.state.machine.gate().map(|gate| gate.draft().clone());
    let Some(draft) = draft else {
        // The offline analyst answers by rule: asked again, it would say the same.
        if mode == AuditMode::Gate && !drive.model.info().offline && send_back(drive, found.as_ref()).await? {
            return Ok(None);
        }
        return Ok(Some(Ending { outcome, audit: found }));
    };
    let before = audit_of(drive, &draft, &evidence).await?;
    let ending = match (&before, &found) {
        (Some(before), Some(after)) if is_worse(after, before) => {
            Ending { outcome: draft, audit: Some(before.clone()) }
        }
        _ => Ending { outcome, audit: found },
    };
    Ok(Some(ending))
}

/// Asks the model once to mend its figures. False when there is nothing to mend.
async fn send_back(drive: &mut Drive<'_>, found: Option<&Audit>) -> Result<bool, StoreError> {
    let language = match drive.state.machine.language() {
        Language::Zh => ba_audit::Language::Chinese,
        Language::En => ba_audit::Language::English,
    };
    let Some(request) = found.and_then(|audit| gate_request(audit, language)) else { return Ok(false) };
    if !drive.state.machine.reconsider(request.clone()) {
        return Ok(false);
    }
    drive.parts.log.sent_back(&drive.record, &request);
    drive.commit(drive.progress()).await?;
    Ok(true)
}

/// More figures to warn of, or half of the proven ones gone with the rest of the report.
fn is_worse(after: &Audit, before: &Audit) -> bool {
    let proven = |a: &Audit| a.proven + a.derived + a.given;
    let marked = |a: &Audit| a.unproven + a.mismatch;
    marked(after) > marked(before) || proven(after) * 2 < proven(before)
}

/// The audit of an answer as it would be delivered.
async fn audit_of(
    drive: &mut Drive<'_>,
    outcome: &Outcome,
    evidence: &Arc<Evidence>,
) -> Result<Option<Audit>, StoreError> {
    let Outcome::Answer { response, structured, stop } = outcome else { return Ok(None) };
    let text = finish::draft(drive, response, *structured, *stop).await?.text().to_owned();
    let evidence = evidence.clone();
    let audited = tokio::task::spawn_blocking(move || audit(&text, &evidence, Options::default())).await;
    // A report is delivered even where its audit fails.
    Ok(audited.inspect_err(|error| tracing::error!(%error, "the audit of a report failed")).ok())
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
        all.given("limits", &drive.parts.limits.spelled());
    }
    if !context.business_notes().is_empty() {
        all.given("business", context.business_notes());
    }
    let earlier: Vec<&Round> = context.rounds().iter().rev().take(EARLIER_RUNS).collect();
    earlier.iter().for_each(|round| all.given("user", &round.user_message));
    let runs: Vec<RunId> = earlier.iter().map(|round| round.round_id.clone()).collect();
    add_earlier(drive, &runs, &mut all).await?;
    Ok(all)
}

/// What the calls of this run returned, then those of earlier runs, newest first: what a chart may be drawn from.
pub(crate) async fn results(drive: &mut Drive<'_>) -> Result<Evidence, StoreError> {
    let context = drive.gather().await?;
    let runs: Vec<RunId> =
        context.rounds().iter().rev().take(EARLIER_RUNS).map(|round| round.round_id.clone()).collect();
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
