//! The parsed query, written again: this text is sent, never the one that was given. Literals are written here, character
//! by character, because the parser's own way of writing them guesses whether they are escaped already.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Statement, UnaryOperator, Value, ValueWithSpan, VisitMut, VisitorMut};

use super::Dialect;
use super::dialect::Escapes;

/// The statement in the one form that two readings of the same query share: every literal as it is sent, and signs apart.
pub(super) fn canonical(statement: &Statement, dialect: Dialect) -> Result<Statement, String> {
    let mut canonical = statement.clone();
    match canonical.visit(&mut Canonical { dialect }) {
        ControlFlow::Continue(()) => Ok(canonical),
        ControlFlow::Break(what) => Err(what),
    }
}

struct Canonical {
    dialect: Dialect,
}

impl VisitorMut for Canonical {
    type Break = String;

    /// `- -1` is written as `--1`, which opens a comment.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<String> {
        if let Expr::UnaryOp { op, expr: inner } = expr
            && !matches!(op, UnaryOperator::Not)
            && matches!(**inner, Expr::UnaryOp { .. })
        {
            let signed = std::mem::replace(&mut **inner, Expr::value(Value::Null));
            **inner = Expr::Nested(Box::new(signed));
        }
        ControlFlow::Continue(())
    }

    /// A placeholder is written as it is: so is a literal that became one.
    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<String> {
        match literal(&value.value, self.dialect) {
            Ok(Some(text)) => {
                value.value = Value::Placeholder(text);
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Continue(()),
            Err(what) => ControlFlow::Break(what),
        }
    }
}

/// How a literal is sent; `None` for what needs no care.
fn literal(value: &Value, dialect: Dialect) -> Result<Option<String>, String> {
    let (postgres, mysql) = (dialect == Dialect::Postgres, dialect == Dialect::MySql);
    let spark = dialect == Dialect::Spark;
    Ok(match value {
        Value::SingleQuotedString(raw) if dialect == Dialect::ClickHouse && raw.contains("\\x") => {
            return Err("a text with \\x".to_owned());
        }
        Value::SingleQuotedString(raw) | Value::DoubleQuotedString(raw) if spark && names_a_code(raw) => {
            return Err("a text with a character by its number".to_owned());
        }
        Value::SingleQuotedString(raw) | Value::NationalStringLiteral(raw) => {
            Some(dialect.quoted_text(&plain(raw, '\'', dialect)))
        }
        Value::DoubleQuotedString(raw) if dialect.has_double_quoted_texts() => {
            Some(dialect.quoted_text(&plain(raw, '"', dialect)))
        }
        // The tokenizer gives these as they are meant.
        Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) if postgres => {
            Some(dialect.quoted_text(text))
        }
        Value::DollarQuotedString(text) if postgres => Some(dialect.quoted_text(&text.value)),
        Value::HexStringLiteral(digits) if mysql && digits.chars().all(|c| c.is_ascii_hexdigit()) => None,
        Value::SingleQuotedByteStringLiteral(bits) if postgres && bits.chars().all(|c| "01".contains(c)) => {
            None
        }
        Value::Number(..) | Value::Boolean(_) | Value::Null | Value::Placeholder(_) => None,
        other => return Err(format!("the literal {}", ba_protocol::text::shorten(&other.to_string(), 60))),
    })
}

/// The text that a literal means.
fn plain(raw: &str, quote: char, dialect: Dialect) -> String {
    let escapes = dialect.escapes() != Escapes::Doubled;
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if escapes => match chars.next() {
                Some(escaped) => unescape(escaped, dialect, &mut out),
                None => out.push('\\'),
            },
            c if c == quote && chars.peek() == Some(&quote) => {
                chars.next();
                out.push(quote);
            }
            c => out.push(c),
        }
    }
    out
}

fn unescape(c: char, dialect: Dialect, out: &mut String) {
    let clickhouse = dialect == Dialect::ClickHouse;
    // MySQL keeps the backslash before a wildcard and drops it elsewhere; ClickHouse keeps it before what it does not know.
    let known = matches!(c, 'n' | 't' | 'r' | 'b' | '0' | '\\' | '\'' | '"' | '`')
        || clickhouse && matches!(c, 'f' | 'a' | 'v');
    if !known && (clickhouse || matches!(c, '%' | '_')) {
        out.push('\\');
    }
    out.push(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        '0' => '\0',
        'Z' if !clickhouse => '\u{1a}',
        'f' if clickhouse => '\u{c}',
        'a' if clickhouse => '\u{7}',
        'v' if clickhouse => '\u{b}',
        other => other,
    });
}

/// `\u9500`, `\101`: Spark reads them, and each of its versions a little differently.
fn names_a_code(raw: &str) -> bool {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next().is_some_and(|c| matches!(c, 'u' | 'U' | 'x' | '1'..='9')) {
            return true;
        }
    }
    false
}
