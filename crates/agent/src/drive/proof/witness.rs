//! An independent witness (SPEC V6): while the model works, somebody else computes the headline figure of the same
//! question; at the end the two are compared. Waits at most half a second for it, and knows nothing of how it computes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ba_audit::{Shows, shows};
use ba_protocol::audit::WitnessReport;
use ba_protocol::{ConversationId, RunId, UserId};
use tokio::task::JoinHandle;

use crate::drive::Drive;

/// How long a finished answer waits for it.
const PATIENCE: Duration = Duration::from_millis(500);
/// Whole numbers up to this may be written in words, so that not to find one means nothing.
const SPELT_OUT: f64 = 20.0;

/// What was asked, and of whose files.
#[derive(Debug, Clone)]
pub struct WitnessCase {
    pub owner: UserId,
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub question: String,
    pub earlier: Vec<String>,
}

/// What a witness computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Testimony {
    /// Shares are fractions.
    pub value: f64,
    pub query: String,
    /// What the value is.
    pub name: String,
    pub group: Option<Group>,
}

/// The group a figure belongs to, where groups were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub label: String,
    /// The group itself was the question, not only its figure.
    pub asked_for: bool,
}

/// Computes headline figures apart from the model. Dropping the future of `testify` must stop the work, and long
/// computing must leave the async threads.
#[async_trait]
pub trait Witness: Send + Sync {
    /// `None` where the question cannot be read with confidence.
    async fn testify(&self, case: WitnessCase) -> Option<Testimony>;
}

/// The witness of one run, at work beside it; stopped with it.
#[derive(Default)]
pub struct Beside {
    working: Option<JoinHandle<Option<Testimony>>>,
    heard: Option<Testimony>,
    begun: bool,
}

impl Beside {
    /// What it has to say by now, or within its patience. Later it is no longer waited for.
    async fn hear(&mut self) -> Option<&Testimony> {
        if let Some(mut working) = self.working.take() {
            match tokio::time::timeout(PATIENCE, &mut working).await {
                Ok(done) => self.heard = done.ok().flatten(),
                Err(_) => working.abort(),
            }
        }
        self.heard.as_ref()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(working) = &self.working {
            working.abort();
        }
    }
}

/// Sets the witness to work, once a run. The offline analyst needs none: it would be its own.
pub(crate) fn begin(drive: &mut Drive<'_>) {
    let Some(witness) = drive.parts.witness.clone() else { return };
    let off = drive.parts.audit == ba_protocol::audit::AuditMode::Off;
    if off || drive.witness.begun || drive.model.info().offline {
        return;
    }
    let earlier = drive.turns.iter().flat_map(|turns| turns.iter().map(|r| r.user_message.clone()));
    let case = WitnessCase {
        owner: drive.record.owner.clone(),
        conversation_id: drive.record.conversation_id.clone(),
        run_id: drive.record.id.clone(),
        question: drive.record.message.clone(),
        earlier: earlier.collect(),
    };
    drive.witness.begun = true;
    drive.witness.working = Some(tokio::spawn(async move { witness.testify(case).await }));
}

/// What the witness says of a report.
pub(super) async fn compare(drive: &mut Drive<'_>, report: &Arc<str>) -> Option<WitnessReport> {
    let testimony = drive.witness.hear().await?.clone();
    let report = report.clone();
    tokio::task::spawn_blocking(move || judge(&testimony, &report)).await.ok().flatten()
}

/// Whether a report agrees; `None` where it does not speak of the figure at all.
fn judge(testimony: &Testimony, report: &str) -> Option<WitnessReport> {
    let value = testimony.value;
    let shown = shows(report, value);
    let named = testimony.group.as_ref().map(|g| (report.contains(&g.label), g.asked_for));
    let agrees = match (shown, named) {
        (Shows::Value, None | Some((true, _))) => true,
        // The name alone answers "which one".
        (Shows::NoFigure, Some((true, true))) => true,
        (Shows::OtherFigures, None | Some((true, _)) | Some((false, true))) => false,
        (Shows::Value | Shows::NoFigure, _) | (Shows::OtherFigures, Some((false, false))) => return None,
    };
    if !agrees && value.fract() == 0.0 && value.abs() <= SPELT_OUT {
        return None;
    }
    let name = match &testimony.group {
        Some(group) => format!("{} · {}", group.label, testimony.name),
        None => testimony.name.clone(),
    };
    Some(WitnessReport { agrees, value, query: testimony.query.clone(), name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(report: &str, group: Option<(&str, bool)>) -> Option<bool> {
        let group = group.map(|(label, asked_for)| Group { label: label.to_owned(), asked_for });
        let testimony =
            Testimony { value: 344_020.0, query: "SELECT".into(), name: "销售额".into(), group };
        judge(&testimony, report).map(|w| w.agrees)
    }

    #[test]
    fn a_report_agrees_disagrees_or_speaks_of_something_else() {
        assert_eq!(said("合计 34.4 万元。", None), Some(true));
        assert_eq!(said("合计 412,890 元。", None), Some(false));
        assert_eq!(said("没有这样的数据。", None), None, "a refusal is no figure");
        let all = Some(("华东", false));
        assert_eq!(said("华东 344,020 元，华南 2,345 元。", all), Some(true));
        assert_eq!(said("华东 344,999 元，华南 2,345 元。", all), Some(false));
        assert_eq!(said("East 344,999.", all), None, "perhaps under a translated name");
        let best = Some(("华东", true));
        assert_eq!(said("是华东。", best), Some(true));
        assert_eq!(said("华南最高，为 412,890 元。", best), Some(false));
    }

    #[test]
    fn a_small_count_may_be_written_in_words() {
        let testimony = Testimony { value: 3.0, query: String::new(), name: "rows".into(), group: None };
        assert_eq!(judge(&testimony, "Three of 1,204 orders."), None);
        assert!(judge(&testimony, "3 of 1,204 orders.").unwrap().agrees);
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_witness_is_not_waited_for() {
        let slow = tokio::spawn(async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            None
        });
        let stopped = slow.abort_handle();
        let mut beside = Beside { working: Some(slow), heard: None, begun: true };
        let began = tokio::time::Instant::now();
        assert_eq!(beside.hear().await, None);
        assert_eq!(began.elapsed(), PATIENCE);
        tokio::task::yield_now().await;
        assert!(stopped.is_finished());
        assert_eq!(beside.hear().await, None);
        assert_eq!(began.elapsed(), PATIENCE, "it is not waited for again");
    }
}
