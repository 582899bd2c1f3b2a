//! Whether a question reads like one that tables of its kind can answer. A linear model over the marks of the best reading
//! (`weigh::outline`): its weights are learnt from `evals/archive.tar.zst` by `cargo run --example learn`
//! and kept in `data/judge.tsv`, a mark and its weight a line. Marks nobody saw weigh nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

/// From here on a question is taken for one beyond the tables (0 would be even odds). It is below even because a wrong
/// figure is worse than none: docs/evaluation.md has what it costs and saves.
const DOUBT: f32 = -1.3;

static WEIGHTS: LazyLock<HashMap<&str, f32>> = LazyLock::new(|| weights(include_str!("../data/judge.tsv")));

/// The mark every question has.
pub const ALWAYS: &str = "always";

fn weights(text: &str) -> HashMap<&str, f32> {
    text.lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(mark, w)| Some((mark, w.parse().ok()?)))
        .collect()
}

/// The question asks for what is in no table.
pub fn is_beyond(marks: &[String]) -> bool {
    score(&WEIGHTS, marks) >= DOUBT
}

/// The log of the odds that a question is beyond the tables.
pub fn score(weights: &HashMap<&str, f32>, marks: &[String]) -> f32 {
    let weight = |mark: &str| weights.get(mark).copied().unwrap_or(0.0);
    weight(ALWAYS) + marks.iter().map(|m| weight(m)).sum::<f32>()
}

/// Why: the marks that weigh something, the heaviest first.
pub fn reasons(marks: &[String]) -> Vec<(&str, f32)> {
    let all = std::iter::once(ALWAYS).chain(marks.iter().map(String::as_str));
    let mut out: Vec<(&str, f32)> = all.filter_map(|m| Some((m, *WEIGHTS.get(m)?))).collect();
    out.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_weights_is_a_mark_and_a_number() {
        let text = include_str!("../data/judge.tsv");
        assert_eq!(WEIGHTS.len(), text.lines().count());
        assert!(WEIGHTS.contains_key(ALWAYS));
    }

    #[test]
    fn marks_add_up_and_unknown_ones_weigh_nothing() {
        let weights = weights("always\t-1\nu:steal\t2.5\n");
        let marks = ["u:steal".to_owned(), "u:neverseen".to_owned()];
        assert!((score(&weights, &marks) - 1.5).abs() < 1e-6);
    }
}
