//! A table as the rules see it: columns with a role, a kind and the concepts their names stand for.
//! Made from a profile; never from the data itself.

use ba_protocol::file::{ColumnProfile, Note, TableProfile};
use jiff::civil::Date;

use crate::glossary::{ConceptRole, DefaultAgg, Glossary};
use crate::names::written_out;
use crate::norm::{is_cjk, name_words, normal};
use crate::plan::dialect::Dialect;
use naming::concepts_of;
use settle::{settle_kinds, settle_money, settle_price, settle_product, settle_twins};

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// `upload_001`.
    pub file_id: String,
    pub filename: String,
    /// The name that tells what a row is: the file's or the sheet's.
    pub rows_called: String,
    /// What SQL calls it.
    pub sql_name: String,
    pub rows: u64,
    pub columns: Vec<Column>,
    /// The database it is in; none for an upload.
    pub connection: Option<String>,
    pub dialect: Dialect,
    /// Days are held as text: SQLite has no type for them.
    pub text_dates: bool,
    /// What was done to the figures when the table was read, in words.
    pub cleaned: Vec<Note>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Number,
    Bool,
    Text,
    Date(DateForm),
}

/// How a date is written in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateForm {
    Native,
    /// With a time of day.
    Timestamp,
    /// Text such as `2024-03`.
    YearMonth,
    /// A number such as 2024.
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Measure,
    Dimension,
    /// Names one thing each: to be counted, hardly to be grouped by.
    Id,
    Time,
    /// Yes or no.
    Flag,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// The name as words, for matching.
    pub words: String,
    /// The same with short forms written out.
    pub full: String,
    pub kind: Kind,
    pub role: Role,
    pub nulls: u64,
    pub distinct: u64,
    pub min: Option<String>,
    pub max: Option<String>,
    /// Values known from the profile.
    pub values: Vec<String>,
    /// True when `values` are all there are.
    pub values_complete: bool,
    pub unit: Option<String>,
    /// Concepts the name stands for, with how surely (3 the name itself, 2 its last part).
    pub concepts: Vec<(String, u8)>,
    pub default_agg: DefaultAgg,
    /// For a flag held as text: the value that means yes.
    pub yes: Option<String>,
}

impl Table {
    pub fn new(file_id: &str, filename: &str, profile: &TableProfile, glossary: &Glossary) -> Self {
        let mut columns: Vec<Column> =
            profile.columns.iter().map(|c| Column::new(c, profile.rows, glossary)).collect();
        settle_twins(&mut columns);
        settle_price(&mut columns, profile.rows);
        settle_money(&mut columns);
        settle_kinds(&mut columns);
        settle_product(&mut columns, profile.rows);
        let sql_name = if profile.name.is_empty() { file_id.to_owned() } else { profile.name.clone() };
        Self {
            file_id: file_id.to_owned(),
            filename: filename.to_owned(),
            rows_called: filename.to_owned(),
            sql_name,
            rows: profile.rows,
            columns,
            connection: None,
            dialect: Dialect::default(),
            text_dates: false,
            cleaned: profile.notes.clone(),
        }
    }

    /// This is one sheet of several.
    pub fn is_sheet(&mut self, sheet: &str, first: bool) {
        self.rows_called = sheet.to_owned();
        self.filename = format!("{} · {sheet}", self.filename);
        let plain: String = sheet.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        self.sql_name = if first { self.file_id.clone() } else { format!("{}_{plain}", self.file_id) };
    }

    /// Columns that stand for a concept, the surest first.
    pub fn with_concept(&self, id: &str) -> Vec<(usize, u8)> {
        let mut found: Vec<(usize, u8)> = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(i, c)| c.concepts.iter().find(|(k, _)| k == id).map(|(_, q)| (i, *q)))
            .collect();
        found.sort_by_key(|&(i, q)| (std::cmp::Reverse(q), i));
        found
    }

    /// The column time is measured by when the question names none: the surest date, else the first.
    pub fn main_date(&self) -> Option<usize> {
        let dates: Vec<usize> = self.indices(|c| c.role == Role::Time);
        let native = |i: &&usize| !matches!(self.columns[**i].kind, Kind::Date(DateForm::Year));
        // When something was paid or done is empty where it was not: another date that all rows have tells more.
        let gaps = |i: &usize| self.columns[*i].nulls * 50 > self.rows;
        let whole = dates.iter().filter(native).any(|i| self.columns[*i].nulls == 0);
        let named = dates.iter().filter(native).filter(|i| !whole || !gaps(i));
        let named = named.into_iter().find(|i| self.columns[**i].has_concept("date"));
        // When someone was hired or born is seldom when it happened.
        let personal = |c: &Column| {
            c.has_concept("hire_date") || ["birth", "出生", "生日"].iter().any(|w| c.full.contains(w))
        };
        let other =
            dates.iter().filter(native).find(|i| !personal(&self.columns[**i]) && (!whole || !gaps(i)));
        named.or(other).or_else(|| dates.iter().find(native)).or_else(|| dates.first()).copied()
    }

    pub fn indices(&self, keep: impl Fn(&Column) -> bool) -> Vec<usize> {
        self.columns.iter().enumerate().filter(|(_, c)| keep(c)).map(|(i, _)| i).collect()
    }
}

impl Column {
    fn new(profile: &ColumnProfile, rows: u64, glossary: &Glossary) -> Self {
        let words = name_words(&profile.name);
        let mut values: Vec<String> = profile.top.iter().map(|t| t.value.clone()).collect();
        for example in &profile.examples {
            if !values.contains(example) {
                values.push(example.clone());
            }
        }
        let mut column = Self {
            name: profile.name.clone(),
            concepts: concepts_of(&written_out(&words), glossary),
            full: written_out(&words),
            kind: kind_of(&profile.kind),
            role: Role::Dimension,
            nulls: profile.nulls,
            distinct: profile.distinct,
            min: profile.min.as_ref().map(plain),
            max: profile.max.as_ref().map(plain),
            values_complete: (values.len() as u64) >= profile.distinct,
            values,
            unit: profile.unit.clone(),
            default_agg: DefaultAgg::Sum,
            yes: None,
            words,
        };
        column.settle_dates(rows);
        column.settle_role(rows, glossary);
        if column.role != Role::Measure {
            // `捐赠编号` numbers donations, it is none.
            column.concepts.retain(|(id, _)| role_of(glossary, id) != Some(ConceptRole::Measure));
        }
        if column.role == Role::Id {
            // `Return #` numbers returns, it does not say whether.
            column.concepts.retain(|(id, _)| role_of(glossary, id) != Some(ConceptRole::Flag));
        }
        let timed = [" days", " hours", " hrs", " min", " mins", " minutes", " sec", " secs", " seconds"];
        if column.role == Role::Measure
            && column.concepts.is_empty()
            && timed.iter().any(|u| column.full.ends_with(u))
        {
            column.concepts.push(("duration".to_owned(), 2));
        }
        column.default_agg = column.guess_agg(glossary);
        column
    }

    /// Text such as `2024-03` and numbers such as 2024 under a column called year are dates, too.
    fn settle_dates(&mut self, rows: u64) {
        let samples = || self.values.iter().chain(self.min.iter()).chain(self.max.iter());
        match self.kind {
            Kind::Text if samples().next().is_some() && samples().all(|v| is_year_month(v)) => {
                self.kind = Kind::Date(DateForm::YearMonth);
            }
            Kind::Integer if is_year_name(&self.words) && rows > 0 => {
                let year = |v: &Option<String>| v.as_deref().and_then(|v| v.parse::<f64>().ok());
                if let (Some(low), Some(high)) = (year(&self.min), year(&self.max))
                    && low >= 1800.0
                    && high <= 2200.0
                {
                    self.kind = Kind::Date(DateForm::Year);
                }
            }
            _ => {}
        }
    }

    fn settle_role(&mut self, rows: u64, glossary: &Glossary) {
        self.yes = self.yes_value();
        let named_flag = self.concepts.iter().any(|(id, _)| role_of(glossary, id) == Some(ConceptRole::Flag));
        self.role = match self.kind {
            Kind::Date(_) => Role::Time,
            Kind::Bool => Role::Flag,
            _ if self.yes.is_some()
                && (self.kind == Kind::Text || named_flag || is_flag_name(&self.words)) =>
            {
                Role::Flag
            }
            Kind::Integer | Kind::Number if is_id_name(&self.full) => Role::Id,
            Kind::Integer if self.has_entity(glossary) && !is_plural(&self.full) => Role::Id,
            Kind::Integer | Kind::Number => Role::Measure,
            Kind::Text if is_id_name(&self.full) => Role::Id,
            Kind::Text if rows > 20 && self.distinct * 10 >= rows * 9 && !self.has_entity(glossary) => {
                Role::Id
            }
            Kind::Text => Role::Dimension,
        };
    }

    fn has_entity(&self, glossary: &Glossary) -> bool {
        self.concepts.iter().any(|(id, q)| *q == 3 && role_of(glossary, id) == Some(ConceptRole::Entity))
    }

    fn yes_value(&self) -> Option<String> {
        if self.kind == Kind::Bool || self.distinct == 0 || self.distinct > 2 || !self.values_complete {
            return None;
        }
        const YES: [&str; 10] = ["yes", "y", "true", "t", "是", "1", "有", "1.0", "已", "√"];
        const NO: [&str; 10] = ["no", "n", "false", "f", "否", "0", "无", "0.0", "未", "×"];
        let normals: Vec<String> = self.values.iter().map(|v| normal(v)).collect();
        let all_known = normals.iter().all(|v| YES.contains(&v.as_str()) || NO.contains(&v.as_str()));
        if !all_known {
            return None;
        }
        let at = normals.iter().position(|v| YES.contains(&v.as_str()))?;
        Some(self.values[at].clone())
    }

    /// Prices, rates and scores are averaged; amounts are added up.
    fn guess_agg(&self, glossary: &Glossary) -> DefaultAgg {
        let first = self.full.split(' ').next().unwrap_or("");
        let timed =
            matches!(first, "days" | "hours" | "minutes" | "time" | "average") && self.full.contains(' ');
        if timed
            || self.full.starts_with("unit ")
            || self.full.starts_with("单位")
            || self.full.ends_with("单价")
        {
            return DefaultAgg::Mean;
        }
        if settle::is_effort(&self.full) {
            return DefaultAgg::Sum;
        }
        let known = self.concepts.iter().max_by_key(|(_, q)| *q).and_then(|(id, _)| glossary.concept(id));
        // What a person earns is averaged, `drop in income` is added up.
        const EARNED: [&str; 8] =
            ["annual", "household", "monthly", "family", "personal", "median", "yearly", "disposable"];
        let own = self.full == "income" || self.full.split(' ').any(|w| EARNED.contains(&w));
        if let Some(concept) = known.filter(|c| c.role == ConceptRole::Measure) {
            if concept.id == "income" && !own && self.full.is_ascii() {
                return DefaultAgg::Sum;
            }
            return concept.agg;
        }
        const MEAN_ENDINGS: [&str; 31] = [
            "时效",
            "账期",
            "账龄",
            "周期",
            "rate",
            "ratio",
            "pct",
            "percent",
            "percentage",
            "avg",
            "average",
            "mean",
            "index",
            "score",
            "price",
            "level",
            "years",
            "hours",
            "minutes",
            "days",
            "temperature",
            "率",
            "比",
            "均",
            "指数",
            "系数",
            "程度",
            "度",
            "年限",
            "时间",
            "天数",
        ];
        let by_name = MEAN_ENDINGS.iter().any(|e| self.full.ends_with(e));
        // A few small whole numbers under a name that counts nothing are marks.
        let high = self.max.as_deref().and_then(crate::observe::number);
        let marks = self.kind == Kind::Integer
            && self.distinct <= 11
            && high.is_some_and(|h| h > 1.0 && h <= 10.0)
            && !self.full.split(' ').any(is_plural)
            && self.unit.is_none();
        // Whole numbers from somewhere to a hundred under one plain word are marks out of a hundred.
        let low = self.min.as_deref().and_then(crate::observe::number);
        let out_of_hundred = self.kind == Kind::Integer
            && self.distinct > 15
            && low.is_some_and(|l| l >= 5.0)
            && high.is_some_and(|h| (90.0..=100.0).contains(&h))
            && !self.full.contains(' ')
            && !is_plural(&self.full)
            && self.unit.is_none();
        if by_name || marks || out_of_hundred || self.unit.as_deref() == Some("%") {
            DefaultAgg::Mean
        } else {
            DefaultAgg::Sum
        }
    }

    pub fn has_concept(&self, id: &str) -> bool {
        self.concepts.iter().any(|(k, _)| k == id)
    }

    /// The largest figure, 0 where there is none.
    pub fn high(&self) -> f64 {
        self.max.as_deref().and_then(crate::observe::number).unwrap_or(0.0)
    }

    /// A count that may be nought.
    pub fn counts_from_zero(&self) -> bool {
        self.role == Role::Measure && self.min.as_deref().and_then(crate::observe::number) == Some(0.0)
    }

    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, Kind::Integer | Kind::Number)
    }

    /// First and last day, for dates.
    pub fn date_span(&self) -> Option<(Date, Date)> {
        let Kind::Date(form) = self.kind else { return None };
        let day = |v: &Option<String>, last: bool| parse_day(v.as_deref()?, form, last);
        Some((day(&self.min, false)?, day(&self.max, true)?))
    }
}

fn role_of(glossary: &Glossary, id: &str) -> Option<ConceptRole> {
    glossary.concept(id).map(|c| c.role)
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn parse_day(text: &str, form: DateForm, last: bool) -> Option<Date> {
    let number = |s: &str| s.trim().parse::<i16>().ok();
    match form {
        DateForm::Native | DateForm::Timestamp => text.get(..10)?.parse().ok(),
        DateForm::Year => {
            let year = number(text.split('.').next()?)?;
            if last { Date::new(year, 12, 31).ok() } else { Date::new(year, 1, 1).ok() }
        }
        DateForm::YearMonth => {
            let year = number(text.get(..4)?)?;
            let month = number(text.get(5..)?.trim_end_matches('月'))?;
            let first = Date::new(year, i8::try_from(month).ok()?, 1).ok()?;
            Some(if last { first.last_of_month() } else { first })
        }
    }
}

fn kind_of(duckdb: &str) -> Kind {
    let upper = duckdb.to_uppercase();
    let is = |names: &[&str]| names.iter().any(|n| upper.starts_with(n));
    if is(&["BOOL"]) {
        Kind::Bool
    } else if is(&["TIMESTAMP", "DATETIME"]) {
        Kind::Date(DateForm::Timestamp)
    } else if is(&["DATE"]) {
        Kind::Date(DateForm::Native)
    } else if is(&[
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINT",
        "UBIGINT",
        "UHUGEINT",
    ]) {
        Kind::Integer
    } else if is(&["DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC", "NUMBER"]) {
        Kind::Number
    } else {
        Kind::Text
    }
}

fn is_year_month(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digits = |s: &[u8]| !s.is_empty() && s.iter().all(u8::is_ascii_digit);
    // `2024/25` is a season.
    let month = || value[5..].parse::<u8>().is_ok_and(|m| (1..=12).contains(&m));
    matches!(bytes.len(), 6 | 7)
        && value.is_ascii()
        && month()
        && digits(&bytes[..4])
        && matches!(bytes[4], b'-' | b'/')
        && digits(&bytes[5..])
}

fn is_year_name(words: &str) -> bool {
    const BEGUN: [&str; 6] = ["year", "founded", "established", "built", "vintage", "opened"];
    words.split(' ').any(|w| BEGUN.contains(&w)) || ["年份", "年", "年度"].iter().any(|e| words.ends_with(e))
}

fn is_flag_name(words: &str) -> bool {
    words.starts_with("is ")
        || words.starts_with("has ")
        || words.starts_with("是否")
        || words.ends_with("flag")
        || !words.contains(' ') && words.ends_with("ed") && words.len() > 4
}

/// A number under `orders` says how many, under `order` which one.
fn is_plural(words: &str) -> bool {
    let last = words.rsplit(' ').next().unwrap_or(words);
    last.is_ascii() && last.len() > 3 && last.ends_with('s') && !last.ends_with("ss")
        || matches!(last, "children" | "people" | "staff" | "headcount")
        || ["数", "量", "人次"].iter().any(|e| words.ends_with(e))
}

fn is_id_name(words: &str) -> bool {
    let last = words.rsplit(' ').next().unwrap_or(words);
    matches!(
        last,
        "id" | "uuid"
            | "guid"
            | "key"
            | "code"
            | "no"
            | "number"
            | "index"
            | "sku"
            | "zip"
            | "phone"
            | "序号"
            | "邮编"
            | "电话"
            | "手机号"
    ) || ["编号", "编码", "单号", "代码", "工号", "学号", "卡号", "号", "id"]
        .iter()
        .any(|e| words.ends_with(e) && words.chars().any(is_cjk))
}

mod naming;
mod settle;
#[cfg(test)]
mod tests;
