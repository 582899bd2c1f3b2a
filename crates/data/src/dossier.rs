//! The dossier (SPEC W1): what is known of a conversation's tables, as a text within a budget of tokens, for the first request of
//! a turn. A pure function of stored facts; reads no file and asks nobody. Names and values in it are hostile text, each on its line.

mod columns;
mod near;
mod profile;
mod words;

use std::fmt::Write;

use ba_protocol::UploadId;
use ba_protocol::file::{Note, NoteLevel, TableProfile, TestedJoin};
use ba_protocol::text::{one_line, shorten};

pub use profile::profile;
pub use words::Words;

/// Tokens a dossier may have.
pub const MAX_TOKENS: usize = 1_500;
/// No tokenizer makes fewer tokens of this many bytes: a longer text is not even counted.
const BYTES_PER_TOKEN: usize = 12;
const MOST_JOINS: usize = 10;
const MOST_NOTES: usize = 4;
/// Cleaning that changes what a figure means.
const TOLD_STEPS: [&str; 6] =
    ["totals_left_out", "filled_down", "unit_row", "title_rows", "title", "header_joined"];

/// All that a dossier is made of.
#[derive(Default)]
pub struct Facts<'a> {
    /// What is asked; empty where nothing is yet.
    pub question: &'a str,
    pub words: Words,
    pub tables: Vec<KnownTable<'a>>,
    /// Results that a query or code kept: SQL name and what is known of its size.
    pub kept: Vec<(String, String)>,
    /// Files that tools made.
    pub files: Vec<String>,
    /// Name, kind and shape of what Python holds.
    pub variables: Vec<(String, String, String)>,
}

pub struct KnownTable<'a> {
    pub file_id: &'a UploadId,
    pub filename: &'a str,
    /// The name SQL finds it by.
    pub sql: String,
    /// The name `load` finds it by.
    pub python: String,
    pub profile: &'a TableProfile,
}

/// How much is told of each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Names,
    Types,
    Ranges,
    Full,
}

/// The text, at most `most` tokens as `count` counts them; `None` when there is nothing to tell.
pub fn write(facts: &Facts<'_>, most: usize, count: &dyn Fn(&str) -> usize) -> Option<String> {
    if facts.tables.is_empty() && facts.kept.is_empty() && facts.variables.is_empty() {
        return None;
    }
    let near = near::lines(facts);
    for detail in [Detail::Full, Detail::Ranges, Detail::Types, Detail::Names] {
        let text = whole(facts, detail, facts.tables.len(), most * BYTES_PER_TOKEN) + &near;
        if fits(&text, most, count) {
            return Some(text);
        }
    }
    // Too many tables even for their names: the latest, which a question is about.
    let (mut low, mut high) = (0, facts.tables.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&(whole(facts, Detail::Names, middle, most * BYTES_PER_TOKEN) + &near), most, count) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(whole(facts, Detail::Names, low, usize::MAX) + &near).filter(|text| fits(text, most, count))
}

fn fits(text: &str, most: usize, count: &dyn Fn(&str) -> usize) -> bool {
    text.len() <= most * BYTES_PER_TOKEN && count(text) <= most
}

/// Stops soon after `enough` bytes: what is longer is thrown away anyway.
fn whole(facts: &Facts<'_>, detail: Detail, tables: usize, enough: usize) -> String {
    let words = facts.words;
    let mut text = words.heading().to_owned();
    let skipped = facts.tables.len() - tables;
    if skipped > 0 {
        text.push_str(&words.skipped(skipped));
    }
    for table in &facts.tables[skipped..] {
        push_table(&mut text, table, detail, words);
        if text.len() > enough {
            return text;
        }
    }
    push_joins(&mut text, facts);
    let list =
        |items: &mut dyn Iterator<Item = String>| items.take(20).collect::<Vec<_>>().join(words.apart());
    if !facts.kept.is_empty() {
        let mut kept = facts.kept.iter().rev().map(|(name, size)| {
            let size = if size.is_empty() { String::new() } else { words.size(line(size, 80)) };
            format!("\"{}\"{size}", line(name, 60))
        });
        let _ = writeln!(text, "{}{}", words.kept(), list(&mut kept));
    }
    if !facts.files.is_empty() {
        let mut files = facts.files.iter().rev().map(|f| line(f, 60));
        let _ = writeln!(text, "{}{}", words.files(), list(&mut files));
    }
    if !facts.variables.is_empty() {
        let most = if detail >= Detail::Ranges { 90 } else { 30 };
        let mut variables = facts.variables.iter().rev().map(|(name, kind, about)| {
            format!("{} {} {}", line(name, 40), line(kind, 20), line(about, most)).trim_end().to_owned()
        });
        let _ = writeln!(text, "{}{}", words.variables(), list(&mut variables));
    }
    text
}

/// `表 "retail"（upload_001 retail.csv，Python: load("retail")）：5000 行，每行一个 订单号`
fn push_table(text: &mut String, table: &KnownTable<'_>, detail: Detail, words: Words) {
    let profile = table.profile;
    let (sql, python) = (line(&table.sql, 80), line(&table.python, 80));
    text.push_str(&words.table(&sql, table.file_id, line(table.filename, 60), python, profile.rows));
    if let Some(key) = profile.keys.first() {
        text.push_str(&words.one_row_per(names(key, " + ")));
        for other in &profile.keys[1..] {
            text.push_str(&words.also_unique(names(other, " + ")));
        }
    } else if profile.rows > 1 {
        text.push_str(words.no_key());
    }
    text.push('\n');
    columns::push(text, profile, detail, words);
    let told = |n: &&Note| n.level == NoteLevel::Warn || TOLD_STEPS.contains(&n.code.as_str());
    let most = if detail >= Detail::Ranges { MOST_NOTES } else { 1 };
    for note in profile.notes.iter().filter(told).take(most) {
        text.push_str(&words.note(line(&note.text, 160)));
    }
    if !profile.with_totals.is_empty() && detail >= Detail::Types {
        text.push_str(&words.with_totals(sql));
    }
}

fn push_joins(text: &mut String, facts: &Facts<'_>) {
    let place = |file: &UploadId, name: &str| {
        facts.tables.iter().position(|t| t.file_id == file && t.profile.name == name)
    };
    let mut found: Vec<(usize, usize, &TestedJoin)> = Vec::new();
    for (i, table) in facts.tables.iter().enumerate() {
        for join in &table.profile.joins {
            let Some(j) = place(&join.other_file, &join.other_table) else { continue };
            let holds = |t: &KnownTable<'_>, c: &str| t.profile.columns.iter().any(|own| own.name == c);
            let known = found.iter().any(|(a, b, other)| {
                (*a, *b) == (j, i) && other.column == join.other_column && other.other_column == join.column
            });
            if holds(table, &join.column) && holds(&facts.tables[j], &join.other_column) && !known {
                found.push((i, j, join));
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let fan = |j: &TestedJoin| j.fan_out.min(j.other_fan_out);
    found.sort_by(|(_, _, a), (_, _, b)| {
        let covered = |j: &TestedJoin| j.covered.max(j.other_covered);
        fan(a).cmp(&fan(b)).then(covered(b).total_cmp(&covered(a)))
    });
    text.push_str(facts.words.joins());
    for (i, j, join) in found.into_iter().take(MOST_JOINS) {
        let side = |at: usize, column: &str| {
            format!("\"{}\".\"{}\"", line(&facts.tables[at].sql, 60), line(column, 60))
        };
        text.push_str(&facts.words.join(
            side(i, &join.column),
            side(j, &join.other_column),
            percent(join.covered),
            percent(join.other_covered),
            facts.words.shape(join),
        ));
    }
}

/// `99.9%` is not all.
fn percent(share: f64) -> String {
    let whole = (share * 100.0).clamp(0.0, 100.0);
    if whole > 99.0 && whole < 100.0 || whole > 0.0 && whole < 1.0 {
        format!("{whole:.1}%").replace("100.0%", "99.9%")
    } else {
        format!("{whole:.0}%")
    }
}

fn names(all: &[String], between: &str) -> String {
    all.iter().map(|n| line(n, 40)).collect::<Vec<_>>().join(between)
}

fn line(text: &str, most: usize) -> String {
    shorten(one_line(text).trim(), most)
}

#[cfg(test)]
mod tests;
