//! The outcome of an evaluation, one model beside another: accuracy by both rules, cost, proofs and failures, for people
//! and for machines.

use ba_protocol::audit::FigureState;
use serde::{Deserialize, Serialize};

/// One question's outcome with one model; a line of the journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub id: String,
    #[serde(default)]
    pub split: String,
    pub question: String,
    pub right: bool,
    /// By the benchmark's own rule, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// What was wrong, when something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Nothing was answered: the run itself failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    pub answer: String,
    pub rounds: u64,
    pub tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub seconds: f64,
    #[serde(default)]
    pub figures: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<Unproven>,
    /// What the witness said, where there was one (SPEC V6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<bool>,
}

/// A figure that nothing proves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unproven {
    pub text: String,
    pub state: FigureState,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub model: String,
    pub total: Tally,
    pub splits: Vec<Tally>,
    pub proofs: Proofs,
    pub outcomes: Vec<Outcome>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tally {
    pub split: String,
    pub questions: usize,
    pub right: usize,
    pub accuracy: f64,
    /// Right by the benchmark's own rule, of those that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_accuracy: Option<f64>,
    pub failed: usize,
    pub mean_rounds: f64,
    pub tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub seconds_p50: f64,
    pub seconds_p95: f64,
}

/// The figures of all answers (docs/proof.md).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proofs {
    pub figures: usize,
    pub unproven: Vec<Named>,
    /// Answers the witness agreed and disagreed with.
    pub witness: [usize; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    pub id: String,
    #[serde(flatten)]
    pub figure: Unproven,
}

impl Summary {
    /// Outcomes in the order of the set.
    pub fn new(model: &str, outcomes: Vec<Outcome>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for outcome in &outcomes {
            if !names.contains(&outcome.split) {
                names.push(outcome.split.clone());
            }
        }
        let of = |name: &String| outcomes.iter().filter(|o| o.split == *name).collect::<Vec<_>>();
        let splits = names.iter().map(|n| Tally::of(n, &of(n))).collect();
        let total = Tally::of("all", &outcomes.iter().collect::<Vec<_>>());
        let marked = outcomes
            .iter()
            .flat_map(|o| o.unproven.iter().map(|figure| Named { id: o.id.clone(), figure: figure.clone() }));
        let heard = |said: bool| outcomes.iter().filter(|o| o.witness == Some(said)).count();
        let proofs = Proofs {
            figures: outcomes.iter().map(|o| o.figures).sum(),
            unproven: marked.collect(),
            witness: [heard(true), heard(false)],
        };
        Self { model: model.to_owned(), total, splits, proofs, outcomes }
    }
}

const HEAD: &str = "questions | right | accuracy | strict | failed | rounds | tokens | cost | s p50 | s p95 |\n|---|---|---|---|---|---|---|---|---|---|---|";

/// All models beside each other, then each by its splits with its failures.
pub fn markdown(all: &[Summary]) -> String {
    let mut out = vec!["# Evaluation".to_owned(), String::new()];
    if all.len() > 1 {
        out.push(format!("| model | {HEAD}"));
        out.extend(all.iter().map(|s| s.total.row(&s.model)));
        out.push(String::new());
    }
    for summary in all {
        out.extend([format!("## {}", summary.model), String::new(), format!("| split | {HEAD}")]);
        out.extend(summary.splits.iter().map(|t| t.row(&t.split)));
        out.push(summary.total.row("all"));
        out.extend([String::new(), summary.proofs.line()]);
        let failures: Vec<&Outcome> = summary.outcomes.iter().filter(|o| !o.right).collect();
        if !failures.is_empty() {
            out.extend([String::new(), "### Failures".to_owned(), String::new()]);
        }
        for failure in failures {
            let problem = failure.problem.as_deref().unwrap_or("").replace('\n', " ");
            out.push(format!("- **{}** {}: {problem}", failure.id, failure.question.replace('\n', " ")));
        }
        out.push(String::new());
    }
    out.join("\n")
}

impl Proofs {
    pub fn line(&self) -> String {
        let [agreed, disagreed] = self.witness;
        let mut line = format!("{} figures in the answers, {} unproven", self.figures, self.unproven.len());
        if agreed + disagreed > 0 {
            line.push_str(&format!(
                "; the witness agreed with {agreed} answers and disagreed with {disagreed}"
            ));
        }
        line
    }
}

impl Tally {
    fn of(split: &str, outcomes: &[&Outcome]) -> Self {
        let n = outcomes.len();
        let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count();
        let mut seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let at = |part: usize| seconds.get((n * part / 100).min(n.saturating_sub(1))).copied().unwrap_or(0.0);
        #[expect(clippy::cast_precision_loss, reason = "a few thousand questions")]
        let share = |part: u64, of: usize| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let right = count(&|o| o.right);
        let ruled = count(&|o| o.strict.is_some());
        let strictly = count(&|o| o.strict == Some(true));
        let costs: Vec<f64> = outcomes.iter().filter_map(|o| o.cost).collect();
        Self {
            split: split.to_owned(),
            questions: n,
            right,
            accuracy: share(right as u64, n),
            strict_accuracy: (ruled > 0).then(|| share(strictly as u64, ruled)),
            failed: count(&|o| o.failed),
            mean_rounds: share(outcomes.iter().map(|o| o.rounds).sum(), n),
            tokens: outcomes.iter().map(|o| o.tokens).sum(),
            cost: (!costs.is_empty()).then(|| costs.iter().sum()),
            seconds_p50: at(50),
            seconds_p95: at(95),
        }
    }

    fn row(&self, name: &str) -> String {
        let strict = self.strict_accuracy.map_or_else(|| "–".to_owned(), |s| format!("{:.1} %", s * 100.0));
        let cost = self.cost.map_or_else(|| "–".to_owned(), |c| format!("{c:.4}"));
        format!(
            "| {name} | {} | {} | {:.1} % | {strict} | {} | {:.1} | {} | {cost} | {:.2} | {:.2} |",
            self.questions,
            self.right,
            self.accuracy * 100.0,
            self.failed,
            self.mean_rounds,
            self.tokens,
            self.seconds_p50,
            self.seconds_p95
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(split: &str, right: bool, seconds: f64) -> Outcome {
        Outcome {
            id: format!("{split}{seconds}"),
            split: split.into(),
            question: "q".into(),
            right,
            strict: Some(false),
            problem: (!right).then(|| "wrong\nfigure".into()),
            rounds: 2,
            tokens: 10,
            cost: Some(0.25),
            seconds,
            ..Outcome::default()
        }
    }

    #[test]
    fn models_stand_beside_each_other_and_failures_are_listed() {
        let all = vec![outcome("a", true, 1.0), outcome("b", false, 3.0), outcome("b", true, 2.0)];
        let text = markdown(&[Summary::new("m1", all), Summary::new("m2", vec![outcome("a", true, 1.0)])]);
        assert!(
            text.contains("| m1 | 3 | 2 | 66.7 % | 0.0 % | 0 | 2.0 | 30 | 0.7500 | 2.00 | 3.00 |"),
            "{text}"
        );
        assert!(text.contains("| m2 | 1 | 1 | 100.0 % |"), "{text}");
        assert!(text.contains("| b | 2 | 1 | 50.0 % |") && text.contains("wrong figure"), "{text}");
        assert_eq!(Summary::new("m", vec![]).total.questions, 0);
    }
}
