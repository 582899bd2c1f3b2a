//! The evidence made ready for looking up: numbers by value, rows by label and period, names by spelling. Built once a
//! report, in time linear in the evidence.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::evidence::{self, Body, Evidence, SourceKind};
use crate::layout::{Kind, Layout};
use crate::period::{self, Part, Period};
use crate::words::{self, Mention, Trie};

/// Columns and distinct labels looked at; hostile tables have more.
const MAX_COLUMNS: usize = 200;

#[derive(Debug)]
pub struct Index<'e> {
    pub tables: Vec<Table<'e>>,
    pub trie: Trie,
    pub entries: Vec<Entry>,
    pub lines: Vec<Line<'e>>,
    /// Labels made of digits, such as hours `00` to `23`: names, however much they look like figures.
    pub codes: HashSet<&'e str>,
    /// Labels of one character, such as 男 and 高: names only where a cell is nothing else.
    short: HashMap<&'e str, u32>,
}

#[derive(Debug)]
pub struct Table<'e> {
    pub id: &'e str,
    pub columns: Vec<Column<'e>>,
    pub rows: usize,
}

#[derive(Debug)]
pub struct Column<'e> {
    pub name: &'e str,
    pub holds: Holds,
    /// A period in the name itself: `sales_2023`.
    pub period: Option<Period>,
    /// 1e4 for 万元 in the name.
    pub scale: f64,
    /// Named as a rate or share.
    pub rate: bool,
    /// Named as a fall: 降幅, loss.
    pub fall: bool,
    /// Named as a mean, so that its values do not add up.
    pub averaged: bool,
    /// All its values are whole.
    pub integral: bool,
    /// Named as a number of things.
    pub counts: bool,
}

#[derive(Debug)]
pub enum Holds {
    Numbers { values: Vec<Option<f64>>, sorted: Vec<(f64, u32)>, sum: f64, count: usize },
    Labels { of_row: Vec<u32>, rows: HashMap<u32, Vec<u32>> },
    Times { of_row: Vec<Option<Period>>, rows: HashMap<Option<Part>, Vec<u32>> },
}

/// What a name stands for.
#[derive(Debug, Default)]
pub struct Entry {
    /// Columns of which it is a label.
    pub labels: Vec<(usize, usize)>,
    /// Columns it names in full, and columns it hints at.
    pub names: Vec<(usize, usize)>,
    pub hints: Vec<(usize, usize)>,
}

/// A line of output or of what the user wrote.
#[derive(Debug)]
pub struct Line<'e> {
    pub id: &'e str,
    pub kind: SourceKind,
    pub at: usize,
    pub text: &'e str,
}

/// No label.
pub const NONE: u32 = u32::MAX;

impl<'e> Index<'e> {
    pub fn new(evidence: &'e Evidence) -> Self {
        let mut index = Self {
            tables: Vec::new(),
            trie: Trie::default(),
            entries: Vec::new(),
            lines: Vec::new(),
            codes: HashSet::new(),
            short: HashMap::new(),
        };
        for source in &evidence.sources {
            match &source.body {
                Body::Table { columns, rows, .. } => index.add_table(&source.id, columns, rows),
                Body::Text { lines } => index.lines.extend(lines.iter().enumerate().map(|(at, text)| Line {
                    id: &source.id,
                    kind: source.kind,
                    at,
                    text,
                })),
            }
        }
        index
    }

    fn add_table(&mut self, id: &'e str, names: &'e [String], rows: &'e [Vec<Value>]) {
        let table = self.tables.len();
        let mut columns = Vec::new();
        for (at, name) in names.iter().take(MAX_COLUMNS).enumerate() {
            let holds = self.column(table, at, name, rows);
            if matches!(holds, Holds::Labels { .. }) {
                self.codes.extend(codes(at, rows));
            }
            let named = period::find(name).first().map(|f| f.period).or_else(|| year_in(name));
            let lower = name.to_lowercase();
            let integral = matches!(&holds, Holds::Numbers { sorted, .. } if sorted.iter().all(|(v, _)| v.fract() == 0.0));
            columns.push(Column {
                name,
                holds,
                period: named,
                scale: scale_in(&lower),
                rate: has(&lower, RATES),
                fall: has(&lower, FALLS),
                averaged: has(&lower, MEANS),
                integral,
                counts: lower == "n" || has(&lower, COUNTS),
            });
            if columns.last().is_some_and(|c| c.values().is_some()) {
                let (full, hints) = words::forms(name);
                for form in full {
                    self.name(&form, |e| &mut e.names, (table, at));
                }
                for hint in hints {
                    self.name(&hint, |e| &mut e.hints, (table, at));
                }
            }
        }
        self.tables.push(Table { id, columns, rows: rows.len() });
    }

    fn name(
        &mut self,
        name: &str,
        list: fn(&mut Entry) -> &mut Vec<(usize, usize)>,
        of: (usize, usize),
    ) -> u32 {
        let entries = &mut self.entries;
        let made = self.trie.entry(name, || {
            entries.push(Entry::default());
            entries.len() as u32 - 1
        });
        let Some(entry) = made else { return NONE };
        let list = list(&mut self.entries[entry as usize]);
        if list.last() != Some(&of) {
            list.push(of);
        }
        entry
    }

    /// Cells of the report's tables that are a label of one character.
    pub fn short_labels(&self, report: &str, layout: &Layout) -> Vec<Mention> {
        let mut all = Vec::new();
        if self.short.is_empty() {
            return all;
        }
        for block in &layout.blocks {
            let Kind::Table { header, rows } = &block.kind else { continue };
            for cell in rows.iter().flatten().chain(header) {
                let text = &report[cell.clone()];
                let bare = text.trim_matches(['*', ' ']);
                if let Some(entry) = self.short.get(bare) {
                    let start = cell.start + (text.len() - text.trim_start_matches(['*', ' ']).len());
                    all.push(Mention { span: start..start + bare.len(), entry: *entry });
                }
            }
        }
        all
    }

    fn label(&mut self, text: &'e str, of: (usize, usize)) -> u32 {
        let entry = self.name(text, |e| &mut e.labels, of);
        // "per laptop" is said of Laptops.
        let plural = text.len() > 4 && text.is_ascii() && text.ends_with('s') && !text.ends_with("ss");
        if entry != NONE && plural {
            let _ = self.trie.entry(&text[..text.len() - 1], || entry);
        }
        let mut chars = text.chars();
        let single =
            chars.next().is_some_and(|c| !c.is_ascii() && c.is_alphabetic()) && chars.next().is_none();
        if entry != NONE || !single {
            return entry;
        }
        let entries = &mut self.entries;
        let made = *self.short.entry(text).or_insert_with(|| {
            entries.push(Entry::default());
            entries.len() as u32 - 1
        });
        let labels = &mut self.entries[made as usize].labels;
        if labels.last() != Some(&of) {
            labels.push(of);
        }
        made
    }

    fn column(&mut self, table: usize, at: usize, name: &str, rows: &'e [Vec<Value>]) -> Holds {
        let cells = || rows.iter().map(|r| r.get(at).filter(|v| !v.is_null()));
        let filled = cells().flatten().count().max(1);
        // Reading periods is dear; the first rows show whether there are any.
        let some: Vec<&Value> = cells().flatten().take(40).collect();
        let seems_dated = some.iter().filter(|v| time(v).is_some()).count() * 10 >= some.len() * 7;
        let times: Vec<Option<Period>> =
            if seems_dated { cells().map(|v| v.and_then(time)).collect() } else { vec![None; rows.len()] };
        let numbers: Vec<Option<f64>> = rows.iter().map(|r| r.get(at).and_then(evidence::number)).collect();
        let dated = times.iter().flatten().count() * 10 >= filled * 8;
        let counted = numbers.iter().flatten().count();
        if dated && (counted * 2 < filled || is_year_name(name) || at == 0) {
            let mut by: HashMap<Option<Part>, Vec<u32>> = HashMap::new();
            for (row, time) in times.iter().enumerate() {
                if let Some(time) = time {
                    by.entry(time.part).or_default().push(row as u32);
                }
            }
            return Holds::Times { of_row: times, rows: by };
        }
        if counted * 10 >= filled * 6 && counted > 0 {
            let mut sorted: Vec<(f64, u32)> =
                numbers.iter().enumerate().filter_map(|(r, v)| v.map(|v| (v, r as u32))).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let sum = numbers.iter().flatten().sum();
            return Holds::Numbers { values: numbers, sorted, sum, count: counted };
        }
        let mut of_row = Vec::with_capacity(rows.len());
        let mut by: HashMap<u32, Vec<u32>> = HashMap::new();
        for (row, value) in rows.iter().enumerate() {
            let entry = match value.get(at) {
                Some(Value::String(text)) => self.label(text, (table, at)),
                _ => NONE,
            };
            of_row.push(entry);
            if entry != NONE {
                by.entry(entry).or_default().push(row as u32);
            }
        }
        Holds::Labels { of_row, rows: by }
    }
}

impl Column<'_> {
    pub fn values(&self) -> Option<&[Option<f64>]> {
        match &self.holds {
            Holds::Numbers { values, .. } => Some(values),
            _ => None,
        }
    }

    pub fn value(&self, row: u32) -> Option<f64> {
        self.values()?.get(row as usize).copied().flatten()
    }

    /// The sum of the whole column.
    pub fn total(&self) -> Option<f64> {
        match &self.holds {
            Holds::Numbers { sum, count, .. } if *count > 0 => Some(*sum),
            _ => None,
        }
    }

    /// Whether percentages are kept as fractions, as numbers of percent, or perhaps either.
    pub fn percents(&self) -> &'static [f64] {
        let Holds::Numbers { sorted, .. } = &self.holds else { return &[] };
        let largest = sorted.first().map_or(0.0, |f| f.0.abs()).max(sorted.last().map_or(0.0, |l| l.0.abs()));
        let said = self.name.contains(['%', '％'])
            || self.name.to_lowercase().contains("pct")
            || self.name.to_lowercase().contains("percent");
        match () {
            () if said && largest > 1.0 => &[0.01],
            () if said => &[0.01, 1.0],
            () if largest <= 1.5 => &[1.0],
            () if largest <= 10.0 && self.rate => &[1.0, 0.01],
            () if self.rate => &[0.01],
            () => &[],
        }
    }
}

/// The values of a column of text in which digits of one width, some with leading zeros, number its rows.
fn codes(at: usize, rows: &[Vec<Value>]) -> Vec<&str> {
    let texts: Vec<&str> = rows.iter().filter_map(|r| r.get(at)?.as_str()).collect();
    let digits = |text: &&str| (2..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let width = texts.first().map_or(0, |t| t.len());
    let padded = texts.iter().any(|t| t.starts_with('0'));
    if padded && texts.iter().all(|t| digits(t) && t.len() == width) { texts } else { Vec::new() }
}

fn time(value: &Value) -> Option<Period> {
    match value {
        Value::String(text) => period::whole(text),
        Value::Number(n) => n
            .as_i64()
            .filter(|y| (1950..=2060).contains(y))
            .map(|y| Period { year: Some(y as i32), part: None }),
        _ => None,
    }
}

fn is_year_name(name: &str) -> bool {
    has(
        &name.to_lowercase(),
        &["年", "year", "yr", "fy", "期", "month", "月", "date", "日", "period", "quarter", "季"],
    )
}

/// `sales_2023`, `收入2024`: a year at the end that the period reader takes for part of a word.
fn year_in(name: &str) -> Option<Period> {
    let digits = &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let year = digits.parse::<i32>().ok().filter(|y| (1950..=2060).contains(y))?;
    Some(Period { year: Some(year), part: None })
}

fn scale_in(name: &str) -> f64 {
    match () {
        () if name.contains("亿元") || name.contains("(亿") || name.contains("（亿") => 1e8,
        () if name.contains("百万") => 1e6,
        () if name.contains("万元")
            || name.contains("(万")
            || name.contains("（万")
            || name.ends_with("_万") =>
        {
            1e4
        }
        () if name.contains("千元") || name.ends_with("_k") || name.contains("(k") => 1e3,
        () if name.ends_with("_m") || name.contains("(m)") || name.contains("million") => 1e6,
        () => 1.0,
    }
}

const RATES: &[&str] = &[
    "率",
    "比",
    "占",
    "份额",
    "增速",
    "增幅",
    "降幅",
    "留存",
    "毛利率",
    "%",
    "％",
    "pct",
    "percent",
    "rate",
    "ratio",
    "share",
    "margin",
    "growth",
    "ctr",
    "cvr",
    "roi",
    "churn",
    "retention",
    "yoy",
    "mom",
    "change",
    "nrr",
    "attainment",
];
const FALLS: &[&str] =
    &["降", "跌", "减", "亏", "损", "流失", "decline", "drop", "loss", "decrease", "fall", "churn"];

const MEANS: &[&str] =
    &["平均", "均价", "单价", "客单价", "均次", "中位", "avg", "average", "mean", "median"];

const COUNTS: &[&str] = &[
    "count",
    "cnt",
    "num",
    "order",
    "ride",
    "visit",
    "user",
    "customer",
    "ticket",
    "session",
    "transaction",
    "click",
    "数",
    "量",
    "人",
    "笔",
    "次",
    "单",
];

fn has(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|p| name.contains(p))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_known_by_what_they_hold() {
        let mut evidence = Evidence::new();
        let names = ["地区", "年份", "月份", "销售额", "rate_pct"].map(str::to_owned).to_vec();
        evidence.table(
            "q",
            names,
            vec![
                vec![json!("华东"), json!(2023), json!("2023-01"), json!("12.5"), json!(30)],
                vec![json!("华南"), json!(2024), json!("2024-01"), json!(7), json!(0.5)],
            ],
        );
        let index = Index::new(&evidence);
        let kinds: Vec<_> = index.tables[0]
            .columns
            .iter()
            .map(|c| match &c.holds {
                Holds::Numbers { sum, .. } => format!("numbers {sum}"),
                Holds::Labels { rows, .. } => format!("labels {}", rows.len()),
                Holds::Times { rows, .. } => format!("times {}", rows.len()),
            })
            .collect();
        assert_eq!(kinds, ["labels 2", "times 1", "times 1", "numbers 19.5", "numbers 30.5"]);
        assert_eq!(index.tables[0].columns[4].percents(), [0.01]);
    }
}
