//! Proof-carrying answers (SPEC V): the evidence a run gathered, the audit of its answer, and the one turn a model gets
//! to mend what nothing proves. Decides how a run ends; never writes a report.

pub mod evidence;

use std::sync::Arc;

use ba_audit::{Evidence, Options, Source, SourceKind, audit, gate_request};
use ba_protocol::audit::{Audit, AuditMode};
use ba_protocol::{Round, RunId};
use ba_store::{CallEvidence, StoreError};

use super::Drive;
use crate::run::{Effect, Language, Outcome};

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
    Ending(Ending),
}

/// How a run really ends.
pub(crate) struct Ending {
    pub outcome: Outcome,
    pub audit: Option<Audit>,
}

/// Audits an answer before it is delivered.
pub(crate) async fn settle(drive: &mut Drive<'_>, outcome: Outcome) -> Result<Settled, StoreError> {
    let mode = drive.parts.audit;
    if mode == AuditMode::Off || !matches!(outcome, Outcome::Answer { .. }) {
        return Ok(Settled::Ending(Ending { outcome, audit: None }));
    }
    let evidence = Arc::new(gathered(drive, &outcome).await?);
    let found = audit_of(drive, &outcome, &evidence).await?;
    let draft = drive.state.machine.gate().map(|gate| gate.draft().clone());
    let Some(draft) = draft else {
        // The offline analyst answers by rule: asked again, it would say the same.
        if mode == AuditMode::Gate
            && !drive.model.info().offline
            && let Some(effects) = send_back(drive, found.as_ref())
        {
            return Ok(Settled::SentBack(effects));
        }
        return Ok(Settled::Ending(Ending { outcome, audit: found }));
    };
    let before = audit_of(drive, &draft, &evidence).await?;
    let ending = match (&before, &found) {
        (Some(before), Some(after)) if is_worse(after, before) => {
            Ending { outcome: draft, audit: Some(before.clone()) }
        }
        _ => Ending { outcome, audit: found },
    };
    Ok(Settled::Ending(ending))
}

/// Asks the model once to mend its figures. `None` when there is nothing to mend.
fn send_back(drive: &mut Drive<'_>, found: Option<&Audit>) -> Option<Vec<Effect>> {
    let language = match drive.state.machine.language() {
        Language::Zh => ba_audit::Language::Chinese,
        Language::En => ba_audit::Language::English,
    };
    let request = found.and_then(|audit| gate_request(audit, language))?;
    drive.state.machine.reconsider(request)
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
    let text = drive.draft(response, *structured, *stop).await?.text().to_owned();
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
        all.given("limits", &drive.state.machine.spelled_limits());
    }
    if !context.business_notes().is_empty() {
        all.given("business", context.business_notes());
    }
    let earlier: Vec<&Round> = context.rounds().iter().rev().take(EARLIER_RUNS).collect();
    earlier.iter().for_each(|round| all.given("user", &round.user_message));
    let runs: Vec<RunId> = earlier.iter().map(|round| round.round_id.clone()).collect();
    for call in drive.parts.store.evidence(&runs, EARLIER_BYTES).await? {
        let id = format!("earlier:{}/{}", call.run_id, call.tool_call_id);
        for source in parsed(&call).sources {
            all.push(Source { id: id.clone(), kind: SourceKind::Earlier, ..source });
        }
    }
    Ok(all)
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
