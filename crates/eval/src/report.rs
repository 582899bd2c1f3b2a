//! The outcome of an evaluation: accuracy, cost and failures, for people and for machines.

use serde::Serialize;

/// One question's outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    pub id: String,
    pub split: String,
    pub question: String,
    pub right: bool,
    /// What was wrong, when something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub answer: String,
    pub rounds: u64,
    pub tokens: u64,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub model: String,
    pub total: Tally,
    pub splits: Vec<Tally>,
    pub outcomes: Vec<Outcome>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tally {
    pub split: String,
    pub questions: usize,
    pub right: usize,
    pub accuracy: f64,
    pub mean_rounds: f64,
    pub tokens: u64,
    pub seconds_p50: f64,
    pub seconds_p95: f64,
}

impl Summary {
    pub fn new(model: &str, outcomes: Vec<Outcome>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for outcome in &outcomes {
            if !names.contains(&outcome.split) {
                names.push(outcome.split.clone());
            }
        }
        let all: Vec<&Outcome> = outcomes.iter().collect();
        let splits = names
            .iter()
            .map(|n| Tally::of(n, &outcomes.iter().filter(|o| o.split == *n).collect::<Vec<_>>()))
            .collect();
        Self { model: model.to_owned(), total: Tally::of("all", &all), splits, outcomes }
    }

    pub fn markdown(&self) -> String {
        let row = |t: &Tally| {
            format!(
                "| {} | {} | {} | {:.1} % | {:.1} | {} | {:.2} | {:.2} |",
                t.split,
                t.questions,
                t.right,
                t.accuracy * 100.0,
                t.mean_rounds,
                t.tokens,
                t.seconds_p50,
                t.seconds_p95
            )
        };
        let mut out = vec![
            format!("# Evaluation: {}", self.model),
            String::new(),
            "| split | questions | right | accuracy | rounds | tokens | s p50 | s p95 |".to_owned(),
            "|---|---|---|---|---|---|---|---|".to_owned(),
        ];
        out.extend(self.splits.iter().map(row));
        out.push(row(&self.total));
        let failures: Vec<&Outcome> = self.outcomes.iter().filter(|o| !o.right).collect();
        if !failures.is_empty() {
            out.extend([String::new(), "## Failures".to_owned(), String::new()]);
            for f in failures {
                let problem = f.problem.as_deref().unwrap_or("").replace('\n', " ");
                out.push(format!("- **{}** {}: {problem}", f.id, f.question));
            }
        }
        out.push(String::new());
        out.join("\n")
    }
}

impl Tally {
    fn of(split: &str, outcomes: &[&Outcome]) -> Self {
        let n = outcomes.len();
        let right = outcomes.iter().filter(|o| o.right).count();
        let mut seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let at = |part: usize| seconds.get((n * part / 100).min(n.saturating_sub(1))).copied().unwrap_or(0.0);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred questions")]
        let share = |count: u64| if n == 0 { 0.0 } else { count as f64 / n as f64 };
        Self {
            split: split.to_owned(),
            questions: n,
            right,
            accuracy: share(right as u64),
            mean_rounds: share(outcomes.iter().map(|o| o.rounds).sum()),
            tokens: outcomes.iter().map(|o| o.tokens).sum(),
            seconds_p50: at(50),
            seconds_p95: at(95),
        }
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
            problem: (!right).then(|| "wrong\nfigure".into()),
            answer: String::new(),
            rounds: 2,
            tokens: 10,
            seconds,
        }
    }

    #[test]
    fn splits_are_told_apart_and_failures_listed() {
        let summary = Summary::new(
            "m",
            vec![outcome("a", true, 1.0), outcome("b", false, 3.0), outcome("b", true, 2.0)],
        );
        assert_eq!(summary.splits.len(), 2);
        assert!((summary.splits[1].accuracy - 0.5).abs() < 1e-9);
        assert_eq!(summary.total.right, 2);
        let text = summary.markdown();
        assert!(text.contains("| b | 2 | 1 | 50.0 % |"));
        assert!(text.contains("wrong figure"));
        assert_eq!(Summary::new("m", vec![]).total.questions, 0);
    }
}
