//! Ranks skills by a question when their list does not fit the prompt. Words for alphabetic scripts, pairs of
//! characters for Chinese; rare terms weigh more. No model is asked.

use std::collections::{HashMap, HashSet};

use crate::skill::Skill;

const NAME_WEIGHT: f64 = 3.0;
const KEYWORD_WEIGHT: f64 = 3.0;
const DESCRIPTION_WEIGHT: f64 = 1.0;
const HEADING_WEIGHT: f64 = 0.5;

/// Indices of `skills`, the best match first; ties keep their order.
pub fn by_question(skills: &[&Skill], question: &str) -> Vec<usize> {
    let documents: Vec<HashMap<String, f64>> = skills.iter().map(|s| weights(s)).collect();
    let mut spread: HashMap<&str, usize> = HashMap::new();
    for document in &documents {
        for term in document.keys() {
            *spread.entry(term).or_default() += 1;
        }
    }
    let asked: HashSet<String> = terms(question).collect();
    let score = |document: &HashMap<String, f64>| -> f64 {
        let one = |term: &String| {
            let weight = document.get(term)?;
            let rarity =
                1.0 + (skills.len() as f64 / spread.get(term.as_str()).copied().unwrap_or(1) as f64).ln();
            Some(weight * rarity)
        };
        asked.iter().filter_map(one).sum()
    };
    let scores: Vec<f64> = documents.iter().map(score).collect();
    let mut order: Vec<usize> = (0..skills.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    order
}

fn weights(skill: &Skill) -> HashMap<String, f64> {
    let mut weights = HashMap::new();
    let mut add = |text: &str, weight: f64| {
        for term in terms(text) {
            let seen = weights.entry(term).or_insert(0.0);
            *seen = f64::max(*seen, weight);
        }
    };
    add(skill.name.as_str(), NAME_WEIGHT);
    skill.front.keywords.iter().for_each(|k| add(k, KEYWORD_WEIGHT));
    add(&skill.front.description, DESCRIPTION_WEIGHT);
    let headings = skill.body.lines().filter(|l| l.starts_with('#')).take(40);
    headings.for_each(|h| add(h, HEADING_WEIGHT));
    weights
}

/// `sales` and `sale`, `churned` and `churn` are one term; short words stay as they are.
fn stem(word: &str) -> &str {
    let shorter = ["ing", "ed", "s"].iter().find_map(|suffix| word.strip_suffix(suffix));
    shorter.filter(|s| s.len() > 3).unwrap_or(word)
}

/// Lower-case words of two letters and more, stemmed, and pairs of neighbouring ideographs.
fn terms(text: &str) -> impl Iterator<Item = String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars().chain([' ']).take(4000) {
        let ideograph = ('\u{3400}'..='\u{9fff}').contains(&c);
        if c.is_alphanumeric() && !ideograph {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            if word.chars().count() > 1 {
                out.push(stem(&word).to_owned());
            }
            word.clear();
        }
        if let (true, Some(b)) = (ideograph, before) {
            out.push([b, c].iter().collect());
        }
        before = ideograph.then_some(c);
    }
    out.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_is_matched_by_pairs_and_english_by_words() {
        let got: Vec<String> = terms("分析RFM 客户, cohorts").collect();
        assert_eq!(got, ["分析", "rfm", "客户", "cohort"]);
        assert_eq!(terms("").count(), 0);
    }
}
