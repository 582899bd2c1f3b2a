//! What of the tables a question speaks of (SPEC W1): the columns and values that stand in it, and one statement with their real
//! names, since a small model writes what it has just seen. Reads the question as words, and decides nothing.

use std::collections::HashSet;
use std::fmt::Write;

use ba_protocol::file::ColumnProfile;

use super::{Facts, KnownTable, line};

const MOST_TABLES: usize = 40;
const MOST_COLUMNS: usize = 120;
const MOST_MENTIONS: usize = 6;
/// Tables whose columns are told.
const MOST_SPOKEN: usize = 3;
/// Characters of a question that are looked at.
const MOST_QUESTION: usize = 400;

/// Words that mean something else where a name may stand.
const RESERVED: [&str; 57] = [
    "all", "and", "any", "array", "as", "asc", "at", "both", "case", "cast", "check", "collate", "column",
    "create", "cross", "default", "desc", "describe", "distinct", "do", "else", "end", "except", "false",
    "fetch", "for", "from", "full", "group", "having", "in", "inner", "into", "is", "join", "left", "like",
    "limit", "not", "null", "offset", "on", "or", "order", "outer", "pivot", "primary", "right", "select",
    "show", "table", "then", "to", "true", "using", "when", "where",
];

type Spoken<'f, 'a> = (&'f KnownTable<'a>, Vec<Mention<'a>>);

/// A column that a question speaks of, and the value of it that stands there.
struct Mention<'a> {
    column: &'a ColumnProfile,
    /// What of the question it was found by.
    word: String,
    /// The whole name stands in the question, or a value.
    whole: bool,
    value: Option<&'a str>,
}

/// The last lines of a dossier.
pub(super) fn lines(facts: &Facts<'_>) -> String {
    let mut text = String::new();
    let question: String = facts.question.chars().take(MOST_QUESTION).collect::<String>().to_lowercase();
    if question.trim().is_empty() {
        return text;
    }
    let recent = facts.tables.iter().rev().take(MOST_TABLES);
    let found: Vec<Spoken<'_, '_>> = recent.map(|t| (t, mentions(t, &question))).collect();
    let mut spoken: Vec<&Spoken<'_, '_>> = found.iter().filter(|(_, all)| !all.is_empty()).collect();
    // The tables that the question speaks of most, the latest first.
    spoken.sort_by_key(|(_, all)| {
        std::cmp::Reverse(all.iter().map(|m| 1 + usize::from(m.whole)).sum::<usize>())
    });
    for (table, all) in spoken.iter().take(MOST_SPOKEN) {
        let shown = all.iter().map(|m| match m.value {
            Some(value) => format!("{} = {}", name(&m.column.name), literal(value)),
            None => name(&m.column.name),
        });
        let shown: Vec<String> = shown.collect();
        text.push_str(&facts.words.spoken_of(name(&table.sql), shown.join(facts.words.between())));
    }
    let chosen = match (found.as_slice(), spoken.as_slice()) {
        ([one], _) => Some(one),
        // Of several tables one must be meant by more than a value: which of them to join is the model's to say.
        (_, [one]) if one.1.iter().any(|m| m.value.is_none()) => Some(*one),
        _ => None,
    };
    if let Some(statement) = chosen.and_then(|(table, all)| statement(table, all, &question)) {
        text.push_str(&facts.words.statement(statement));
    }
    text
}

fn mentions<'a>(table: &KnownTable<'a>, question: &str) -> Vec<Mention<'a>> {
    let asked: HashSet<String> = words(question).collect();
    let mut found: Vec<Mention<'a>> = Vec::new();
    for column in table.profile.columns.iter().take(MOST_COLUMNS).filter(|c| is_plain(&c.name)) {
        if let Some((word, whole)) = named(&column.name.to_lowercase(), question, &asked) {
            found.push(Mention { column, word, whole, value: None });
        }
        let held = column.top.iter().map(|t| t.value.as_str()).filter(|v| is_plain(v));
        for value in held.filter(|v| stands_in(&v.to_lowercase(), question, &asked)).take(2) {
            found.push(Mention { column, word: value.to_lowercase(), whole: true, value: Some(value) });
        }
    }
    // 产品 of the question is the column 产品 where there is one, and not 产品类别 too.
    let whole: Vec<String> = found.iter().filter(|m| m.whole).map(|m| m.word.clone()).collect();
    found.retain(|m| m.whole || !whole.iter().any(|w| w.contains(&m.word)));
    found.sort_by_key(|m| (!m.whole, std::cmp::Reverse(m.word.chars().count())));
    found.truncate(MOST_MENTIONS);
    found
}

/// The part of a column's name that stands in the question, and whether that is all of it.
fn named(name: &str, question: &str, asked: &HashSet<String>) -> Option<(String, bool)> {
    if stands_in(name, question, asked) {
        return Some((name.to_owned(), true));
    }
    if name.is_ascii() {
        let longest = words(name).filter(|w| w.len() >= 4 && asked.contains(w)).max_by_key(String::len)?;
        return Some((longest, false));
    }
    let letters: Vec<char> = name.chars().collect();
    let parts = (2..letters.len()).rev().flat_map(|size| letters.windows(size));
    let part =
        parts.map(|p| p.iter().collect::<String>()).find(|p| !p.is_ascii() && question.contains(p.as_str()));
    part.map(|part| (part, false))
}

/// Latin names stand as words, others anywhere.
fn stands_in(name: &str, question: &str, asked: &HashSet<String>) -> bool {
    if name.is_ascii() {
        let mut own = words(name).peekable();
        return name.len() >= 2 && own.peek().is_some() && own.all(|w| asked.contains(&w));
    }
    name.chars().count() >= 2 && question.contains(name)
}

/// Latin words in lower case, without the plural's `s`.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(|word| {
        let word = word.to_lowercase();
        match word.strip_suffix('s') {
            Some(one) if one.len() >= 3 && !one.ends_with('s') => one.to_owned(),
            _ => word,
        }
    })
}

/// `SELECT "地区", sum("销售额") AS "销售额" FROM "retail" GROUP BY 1`, of what is spoken of, else of any.
fn statement(table: &KnownTable<'_>, spoken: &[Mention<'_>], question: &str) -> Option<String> {
    let columns = || table.profile.columns.iter().take(MOST_COLUMNS).filter(|c| is_plain(&c.name));
    let counts = ["多少个", "几个", "how many", "number of", "count"].iter().any(|w| question.contains(w));
    let means = ["平均", "均值", "average", "mean"].iter().any(|w| question.contains(w));
    let open = || spoken.iter().filter(|m| m.value.is_none()).map(|m| m.column);
    let any = spoken.is_empty();
    let measure = open().find(|c| is_number(c)).or_else(|| columns().find(|c| any && is_number(c)));
    let group = open().find(|c| is_group(c)).or_else(|| columns().find(|c| any && is_group(c)));
    let figure = match measure.filter(|_| !counts) {
        Some(column) => {
            let named = name(&column.name);
            format!("{}({named}) AS {named}", if means { "avg" } else { "sum" })
        }
        None if any => return None,
        None => "count(*) AS n".to_owned(),
    };
    let mut sql = "SELECT ".to_owned();
    if let Some(group) = group {
        let _ = write!(sql, "{}, ", name(&group.name));
    }
    let _ = write!(sql, "{figure} FROM {}", name(&table.sql));
    let held =
        spoken.iter().filter_map(|m| Some(format!("{} = {}", name(&m.column.name), literal(m.value?))));
    let tests: Vec<String> = held.take(2).chain(period(table, question)).collect();
    if !tests.is_empty() {
        let _ = write!(sql, " WHERE {}", tests.join(" AND "));
    }
    if group.is_some() {
        sql.push_str(" GROUP BY 1");
    }
    Some(sql)
}

/// The year of the question, and its month, as a test of the table's first date: `year("日期") = 2024 AND month("日期") = 3`.
fn period(table: &KnownTable<'_>, question: &str) -> Option<String> {
    let is_date = |c: &&ColumnProfile| c.kind == "DATE" || c.kind.starts_with("TIMESTAMP");
    let date = table.profile.columns.iter().take(MOST_COLUMNS).find(is_date).filter(|c| is_plain(&c.name))?;
    let mut years = question
        .split(|c: char| !c.is_ascii_digit())
        .filter(|d| d.len() == 4 && (d.starts_with("19") || d.starts_with("20")));
    let year = years.next()?;
    // Two years are compared, not asked for.
    if years.any(|other| other != year) {
        return None;
    }
    let date = name(&date.name);
    let mut test = format!("year({date}) = {year}");
    let after = question.split_once(year).and_then(|(_, rest)| rest.trim_start().strip_prefix('年'));
    let month =
        after.and_then(|rest| rest.split_once('月')).and_then(|(month, _)| month.trim().parse::<u8>().ok());
    if let Some(month) = month.filter(|m| (1..=12).contains(m)) {
        let _ = write!(test, " AND month({date}) = {month}");
    }
    Some(test)
}

/// A number that can be summed: not one that names something.
fn is_number(column: &ColumnProfile) -> bool {
    let name = column.name.to_lowercase();
    if ["id", "号", "码", "code", "year", "年份"].iter().any(|end| name.ends_with(end)) {
        return false;
    }
    matches!(column.kind.as_str(), "DOUBLE" | "FLOAT" | "BIGINT" | "INTEGER")
        || column.kind.starts_with("DECIMAL")
}

fn is_group(column: &ColumnProfile) -> bool {
    column.kind == "VARCHAR" && (2..=60).contains(&column.distinct)
}

/// Shown as it is, it can be written as it is.
fn is_plain(text: &str) -> bool {
    line(text, 60) == text
}

/// Without quotes where SQL needs none: inside JSON small models get them wrong.
fn name(text: &str) -> String {
    let is_word =
        text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.starts_with(|c: char| c.is_numeric());
    if is_word && !RESERVED.contains(&text.to_lowercase().as_str()) {
        return text.to_owned();
    }
    format!("\"{}\"", line(text, 60).replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
