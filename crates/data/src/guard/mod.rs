//! The read-only guard (DESIGN 9): exactly one statement, and that one only reads. It works on the text before any
//! database sees it, and hands on exactly what it checked, without comments. It is one of three walls: the
//! READ ONLY transaction and the refused superuser stand behind it.

mod functions;
#[cfg(test)]
mod tests;
mod text;

use std::ops::ControlFlow;

use sqlparser::ast::{Query, Select, SetExpr, Statement, Visit, Visitor};
use sqlparser::dialect::{
    ClickHouseDialect, Dialect as SqlDialect, DuckDbDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Whitespace};

pub use text::{Checked, InList, Placeholder};

/// Longer statements are not parsed at all.
const MAX_SQL: usize = 200_000;
const MAX_DEPTH: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    DuckDb,
    Postgres,
    MySql,
    Sqlite,
    ClickHouse,
}

impl Dialect {
    fn parser(self) -> Box<dyn SqlDialect> {
        match self {
            Dialect::DuckDb => Box::new(DuckDbDialect {}),
            Dialect::Postgres => Box::new(PostgreSqlDialect {}),
            Dialect::MySql => Box::new(MySqlDialect {}),
            Dialect::Sqlite => Box::new(SQLiteDialect {}),
            Dialect::ClickHouse => Box::new(ClickHouseDialect {}),
        }
    }
}

/// Why a statement is not run. Every variant names what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the query is empty")]
    Empty,
    #[error("the query is longer than {MAX_SQL} bytes")]
    TooLong,
    #[error("exactly one statement is allowed, got {0}")]
    NotOne(usize),
    #[error("only reading is allowed: {0} is refused")]
    NotARead(String),
    #[error("the function {0} is refused: it reaches beyond the tables, waits, or changes something")]
    Function(String),
    #[error("the relation {0} is refused: it holds secrets of the server")]
    Relation(String),
    #[error("comments that a server executes (/*! … */) are refused")]
    ExecutableComment,
    #[error("the query cannot be parsed: {0}")]
    Syntax(String),
}

impl Refusal {
    /// Stable, for the model and for tests.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Empty => "EMPTY_QUERY",
            Refusal::TooLong => "QUERY_TOO_LONG",
            Refusal::NotOne(_) => "ONE_STATEMENT",
            Refusal::NotARead(_) => "READ_ONLY",
            Refusal::Function(_) => "FUNCTION_REFUSED",
            Refusal::Relation(_) => "RELATION_REFUSED",
            Refusal::ExecutableComment => "EXECUTABLE_COMMENT",
            Refusal::Syntax(_) => "SQL_SYNTAX",
        }
    }
}

/// Checks one statement. What comes back is what may be sent, and nothing else.
pub fn check(sql: &str, dialect: Dialect) -> Result<Checked, Refusal> {
    if sql.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if sql.len() > MAX_SQL {
        return Err(Refusal::TooLong);
    }
    let parser = dialect.parser();
    let tokens = Tokenizer::new(parser.as_ref(), sql)
        .with_unescape(false)
        .tokenize_with_location()
        .map_err(|e| Refusal::Syntax(e.to_string()))?;
    if tokens.iter().any(|t| is_executable_comment(&t.token)) {
        return Err(Refusal::ExecutableComment);
    }
    if let Some(name) = functions::refused_call(&tokens, dialect) {
        return Err(Refusal::Function(name));
    }
    let checked = text::without_comments(sql, &tokens);
    match parse(parser.as_ref(), &tokens) {
        Ok(statements) => {
            let [statement] = statements.as_slice() else { return Err(Refusal::NotOne(statements.len())) };
            reads_only(statement, dialect)?;
            Ok(checked.explaining(matches!(statement, Statement::Query(_))))
        }
        // DuckDB has syntax of its own (FROM first, SUMMARIZE, PIVOT) and a parser that is asked next,
        // inside the sandbox; a server's statement must be understood here.
        Err(_) if dialect == Dialect::DuckDb && text::starts_as_read(&tokens) => Ok(checked),
        Err(message) => Err(text::likely_write(&tokens).map_or(Refusal::Syntax(message), Refusal::NotARead)),
    }
}

fn parse(dialect: &dyn SqlDialect, tokens: &[TokenWithSpan]) -> Result<Vec<Statement>, String> {
    Parser::new(dialect)
        .with_recursion_limit(MAX_DEPTH)
        .with_tokens_with_locations(tokens.to_vec())
        .parse_statements()
        .map_err(|e| e.to_string().trim_start_matches("sql parser error: ").to_owned())
}

fn is_executable_comment(token: &Token) -> bool {
    match token {
        Token::Whitespace(Whitespace::MultiLineComment(text)) => {
            text.starts_with('!') || text.starts_with("M!") || text.contains("/*!") || text.contains("/*M!")
        }
        _ => false,
    }
}

fn reads_only(statement: &Statement, dialect: Dialect) -> Result<(), Refusal> {
    let allowed = match statement {
        Statement::Query(_)
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ShowSchemas { .. }
        | Statement::ShowViews { .. }
        | Statement::ExplainTable { .. } => true,
        Statement::ShowCreate { .. } => dialect != Dialect::Postgres,
        Statement::Explain { statement, .. } => matches!(**statement, Statement::Query(_)),
        _ => false,
    };
    if !allowed {
        return Err(Refusal::NotARead(text::first_words(statement)));
    }
    let mut walk = Walk { dialect, refusal: None };
    match statement.visit(&mut walk) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => walk.refusal.map_or(Ok(()), Err),
    }
}

/// Visits every query, select, relation and nested statement.
struct Walk {
    dialect: Dialect,
    refusal: Option<Refusal>,
}

impl Visitor for Walk {
    type Break = Refusal;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Refusal> {
        if !query.locks.is_empty() {
            return ControlFlow::Break(Refusal::NotARead("FOR UPDATE / FOR SHARE".to_owned()));
        }
        if query.settings.is_some() {
            return ControlFlow::Break(Refusal::NotARead("SETTINGS".to_owned()));
        }
        if query.format_clause.is_some() {
            return ControlFlow::Break(Refusal::NotARead("FORMAT".to_owned()));
        }
        check_body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Refusal> {
        if select.into.is_some() {
            return ControlFlow::Break(Refusal::NotARead("SELECT INTO".to_owned()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &sqlparser::ast::ObjectName) -> ControlFlow<Refusal> {
        let name = relation.to_string();
        if functions::refused_relation(&name, self.dialect) {
            return ControlFlow::Break(Refusal::Relation(name));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Refusal> {
        let write = matches!(
            statement,
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_)
        );
        if write {
            return ControlFlow::Break(Refusal::NotARead(text::first_words(statement)));
        }
        ControlFlow::Continue(())
    }
}

/// A body may hold a write (`WITH x AS (DELETE … RETURNING *)`).
fn check_body(body: &SetExpr) -> ControlFlow<Refusal> {
    match body {
        SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => {
            ControlFlow::Break(Refusal::NotARead(text::first_words(s)))
        }
        SetExpr::SetOperation { left, right, .. } => {
            check_body(left)?;
            check_body(right)
        }
        _ => ControlFlow::Continue(()),
    }
}
