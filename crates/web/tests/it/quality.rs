//! How close an extracted text is to the expected one: bigrams of words (characters for Chinese) as multisets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub struct Model {
    pub name: String,
    pub html: String,
    pub expected: String,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// Every page of the corpus, by name.
pub fn corpus() -> Vec<Model> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "html"))
        .collect();
    pages.sort();
    let read = |p: &Path| std::fs::read_to_string(p).unwrap();
    pages
        .iter()
        .map(|p| Model {
            name: p.file_stem().unwrap().to_string_lossy().into_owned(),
            html: read(p),
            expected: read(&p.with_extension("txt")),
        })
        .collect()
}

/// What the model reads of a page, without Markdown's own marks: the title and the text.
pub fn plain(title: &str, markdown: &str) -> String {
    let mut out = format!("{title}\n");
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            continue;
        }
        let numbered = trimmed.split_once(". ").filter(|(n, _)| n.chars().all(|c| c.is_ascii_digit()));
        let mut rest = numbered.map_or(trimmed, |(_, text)| text);
        while let Some((before, after)) = rest.split_once("](") {
            out.push_str(before);
            rest = after.split_once(')').map_or("", |(_, rest)| rest);
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

pub fn score(found: &str, expected: &str) -> Score {
    let (found, expected) = (bigrams(found), bigrams(expected));
    let common: usize = found.iter().map(|(k, n)| (*n).min(expected.get(k).copied().unwrap_or(0))).sum();
    let share = |all: &HashMap<(String, String), usize>| match all.values().sum::<usize>() {
        0 => 0.0,
        n => common as f64 / n as f64,
    };
    let (precision, recall) = (share(&found), share(&expected));
    let f1 = if common == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
    Score { precision, recall, f1 }
}

pub fn mean(scores: &[Score]) -> Score {
    let n = scores.len().max(1) as f64;
    let of = |get: fn(&Score) -> f64| scores.iter().map(get).sum::<f64>() / n;
    Score { precision: of(|s| s.precision), recall: of(|s| s.recall), f1: of(|s| s.f1) }
}

fn bigrams(text: &str) -> HashMap<(String, String), usize> {
    let tokens = tokens(text);
    let mut all = HashMap::new();
    for pair in tokens.windows(2) {
        *all.entry((pair[0].clone(), pair[1].clone())).or_default() += 1;
    }
    all
}

/// Runs of letters and digits in lower case; each Chinese character by itself.
fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        let chinese = matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff);
        if c.is_alphanumeric() && !chinese {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            all.push(std::mem::take(&mut word));
        }
        if chinese {
            all.push(c.to_string());
        }
    }
    all
}
