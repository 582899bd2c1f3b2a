//! The checked text: comments blanked out, the last semicolon cut, and named parameters found. Never reorders tokens.

use sqlparser::ast::Statement;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Whitespace};

/// A statement that may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    sql: String,
    placeholders: Vec<Placeholder>,
    /// A plain query, which can be wrapped in another one; SHOW and EXPLAIN cannot.
    is_query: bool,
}

/// A named parameter in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    pub name: String,
    /// Bytes of the text, the sign included.
    pub range: std::ops::Range<usize>,
    /// Where it is an item of `IN (…)`.
    pub list: Option<InList>,
}

/// The `IN (…)` around a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InList {
    /// Bytes from `IN`, or the `NOT` before it, to the closing parenthesis.
    pub range: std::ops::Range<usize>,
    pub negated: bool,
    /// The parameter is the only item.
    pub alone: bool,
}

impl Checked {
    pub fn sql(&self) -> &str {
        &self.sql
    }

    pub fn placeholders(&self) -> &[Placeholder] {
        &self.placeholders
    }

    pub fn is_query(&self) -> bool {
        self.is_query
    }

    pub(super) fn explaining(mut self, is_query: bool) -> Self {
        self.is_query = is_query;
        self
    }
}

/// Byte offset of a place that the tokenizer counts in lines and characters.
struct Places<'a> {
    sql: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(sql: &'a str) -> Self {
        let lines = std::iter::once(0).chain(sql.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { sql, lines }
    }

    fn byte(&self, at: Location) -> usize {
        let line = usize::try_from(at.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let column = usize::try_from(at.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(&start) = self.lines.get(line) else { return self.sql.len() };
        self.sql[start..].char_indices().nth(column).map_or(self.sql.len(), |(i, _)| start + i)
    }
}

pub(super) fn without_comments(sql: &str, tokens: &[TokenWithSpan]) -> Checked {
    let places = Places::new(sql);
    let mut clean = sql.as_bytes().to_vec();
    for t in tokens {
        let comment = matches!(
            t.token,
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
        );
        if comment {
            let end = places.byte(t.span.end).min(clean.len());
            for byte in &mut clean[places.byte(t.span.start).min(end)..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
    }
    let mut clean = String::from_utf8_lossy(&clean).into_owned();
    let last = tokens.iter().rev().find(|t| !matches!(t.token, Token::Whitespace(_) | Token::EOF));
    if let Some(last) = last.filter(|t| t.token == Token::SemiColon) {
        clean.truncate(places.byte(last.span.start));
    }
    let placeholders =
        placeholders(tokens, &places).into_iter().filter(|p| p.range.end <= clean.len()).collect();
    Checked { sql: clean.trim_end().to_owned(), placeholders, is_query: true }
}

fn placeholders(tokens: &[TokenWithSpan], places: &Places<'_>) -> Vec<Placeholder> {
    let mut found = Vec::new();
    for (i, t) in tokens.iter().enumerate() {
        match &t.token {
            Token::Placeholder(text) => {
                let start = places.byte(t.span.start);
                let name = text.trim_start_matches(['$', ':', '?', '@']);
                let (range, list) = (start..start + text.len(), in_list(tokens, i, i + 1, places));
                found.push(Placeholder { name: name.to_owned(), range, list });
            }
            Token::Colon => {
                let Some(next) = tokens.get(i + 1) else { continue };
                let (start, end) = (places.byte(t.span.start), places.byte(next.span.start));
                // `:name` stands together; `a : b` and slices of numbers do not.
                if let Token::Word(word) = &next.token
                    && end == start + 1
                    && word.quote_style.is_none()
                {
                    let (range, list) = (start..end + word.value.len(), in_list(tokens, i, i + 2, places));
                    found.push(Placeholder { name: word.value.clone(), range, list });
                }
            }
            _ => {}
        }
    }
    found
}

/// The `IN (…)` whose item the tokens from `first` to before `after` are.
fn in_list(tokens: &[TokenWithSpan], first: usize, after: usize, places: &Places<'_>) -> Option<InList> {
    let solid = |t: &&(usize, &TokenWithSpan)| !matches!(t.1.token, Token::Whitespace(_));
    let before: Vec<(usize, &TokenWithSpan)> = tokens[..first].iter().enumerate().collect();
    let mut before = before.iter().rev().filter(solid);
    let mut behind = tokens.get(after..)?.iter().filter(|t| !matches!(t.token, Token::Whitespace(_)));
    let (left, right) = (before.next()?, behind.next()?);
    let mut alone = left.1.token == Token::LParen && right.token == Token::RParen;
    if !matches!(left.1.token, Token::LParen | Token::Comma)
        || !matches!(right.token, Token::RParen | Token::Comma)
    {
        return None;
    }
    let (mut depth, mut here) = (0, left);
    while here.1.token != Token::LParen || depth > 0 {
        depth += i32::from(here.1.token == Token::RParen) - i32::from(here.1.token == Token::LParen);
        here = before.next()?;
    }
    let is = |t: &Token, word: &str| matches!(t, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word));
    let keyword = before.next().filter(|t| is(&t.1.token, "in"))?;
    let not = before.next().filter(|t| is(&t.1.token, "not"));
    let mut close = right;
    depth = 0;
    while close.token != Token::RParen || depth > 0 {
        depth += i32::from(close.token == Token::LParen) - i32::from(close.token == Token::RParen);
        close = behind.next()?;
    }
    alone &= close.token == Token::RParen;
    let start = places.byte(not.unwrap_or(keyword).1.span.start);
    Some(InList { range: start..places.byte(close.span.start) + 1, negated: not.is_some(), alone })
}

fn words(tokens: &[TokenWithSpan]) -> impl Iterator<Item = String> + '_ {
    tokens.iter().filter_map(|t| match &t.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    })
}

/// Whether the first word opens a read in DuckDB's own syntax, and no second statement follows.
pub(super) fn starts_as_read(tokens: &[TokenWithSpan]) -> bool {
    let reads = [
        "SELECT",
        "FROM",
        "WITH",
        "SUMMARIZE",
        "DESCRIBE",
        "DESC",
        "SHOW",
        "PIVOT",
        "UNPIVOT",
        "VALUES",
        "EXPLAIN",
        "TABLE",
    ];
    let one = tokens
        .iter()
        .map(|t| &t.token)
        .skip_while(|t| **t != Token::SemiColon)
        .all(|t| matches!(t, Token::SemiColon | Token::Whitespace(_) | Token::EOF));
    one && words(tokens).next().is_some_and(|w| reads.contains(&w.as_str()))
}

/// The word that makes an unparsable text look like something other than a read.
pub(super) fn likely_write(tokens: &[TokenWithSpan]) -> Option<String> {
    const WRITES: &[&str] = &[
        "INSERT", "UPDATE", "DELETE", "MERGE", "DROP", "CREATE", "ALTER", "TRUNCATE", "COPY", "GRANT",
        "REVOKE", "CALL", "DO", "SET", "RESET", "BEGIN", "COMMIT", "ROLLBACK", "LOCK", "VACUUM", "ATTACH",
        "DETACH", "INSTALL", "LOAD", "PRAGMA", "OUTFILE", "DUMPFILE", "EXPORT", "IMPORT", "EXECUTE",
        "PREPARE", "LISTEN", "NOTIFY", "REINDEX", "CLUSTER", "REFRESH", "KILL", "HANDLER", "REPLACE",
        "OPTIMIZE", "SYSTEM", "RENAME", "USE",
    ];
    words(tokens).find(|w| WRITES.contains(&w.as_str()))
}

/// `DELETE FROM sales` → `DELETE FROM`: enough to name what is refused.
pub(super) fn first_words(statement: &Statement) -> String {
    statement.to_string().split_whitespace().take(2).collect::<Vec<_>>().join(" ").to_uppercase()
}
