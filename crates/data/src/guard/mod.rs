//! The read-only guard (DESIGN 9, SPEC H3): exactly one statement, and that one only reads. What it hands on to a server is
//! the parsed query, written again, never the text that was given. It is one of three walls: the READ ONLY transaction and
//! the refused superuser stand behind it. DuckDB's own syntax is handed on as given, without comments: its wall is the sandbox.

#[cfg(test)]
mod attacks;
mod functions;
mod lexis;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod tests;
mod text;
mod written;

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, ObjectName, Query, Select, SetExpr, Statement, TableFactor, Visit, Visitor,
};
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
    #[error("the function {name} is not among those that are allowed here{}", near(.nearest))]
    Function { name: String, nearest: Vec<String> },
    #[error("the relation {0} is refused: it holds secrets of the server")]
    Relation(String),
    #[error("comments that a server executes (/*! … */) are refused")]
    ExecutableComment,
    #[error("the query cannot be parsed: {0}")]
    Syntax(String),
    /// What the parser read cannot be written so that every server reads the same.
    #[error("{0} cannot be sent safely; write it in plainer SQL")]
    Inexpressible(String),
}

fn near(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; the nearest are {}", names.join(", ")) }
}

impl Refusal {
    /// Stable, for the model and for tests.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Empty => "EMPTY_QUERY",
            Refusal::TooLong => "QUERY_TOO_LONG",
            Refusal::NotOne(_) => "ONE_STATEMENT",
            Refusal::NotARead(_) => "READ_ONLY",
            Refusal::Function { .. } => "FUNCTION_REFUSED",
            Refusal::Relation(_) => "RELATION_REFUSED",
            Refusal::ExecutableComment => "EXECUTABLE_COMMENT",
            Refusal::Syntax(_) => "SQL_SYNTAX",
            Refusal::Inexpressible(_) => "SQL_INEXPRESSIBLE",
        }
    }
}

/// Checks one statement. What comes back is what may be sent, and nothing else.
pub fn check(sql: &str, dialect: Dialect) -> Result<Checked, Refusal> {
    check_with(sql, dialect, &[])
}

/// The same where the connection's owner allows functions of their own besides.
pub fn check_with(sql: &str, dialect: Dialect, own_functions: &[String]) -> Result<Checked, Refusal> {
    if sql.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if sql.len() > MAX_SQL {
        return Err(Refusal::TooLong);
    }
    let parser = dialect.parser();
    let tokens = tokens(parser.as_ref(), sql)?;
    if tokens.iter().any(|t| is_executable_comment(&t.token)) {
        return Err(Refusal::ExecutableComment);
    }
    if dialect == Dialect::DuckDb
        && let Some(name) = functions::refused_by_duckdb(&tokens)
    {
        return Err(Refusal::Function { name, nearest: Vec::new() });
    }
    let statements = match parse(parser.as_ref(), &tokens) {
        Ok(statements) => statements,
        // DuckDB has syntax of its own (FROM first, SUMMARIZE, PIVOT) and a parser that is asked next,
        // inside the sandbox; a server's statement must be understood here.
        Err(_) if dialect == Dialect::DuckDb && text::starts_as_read(&tokens) => {
            return Ok(text::without_comments(sql, &tokens));
        }
        Err(message) => {
            return Err(text::likely_write(&tokens).map_or(Refusal::Syntax(message), Refusal::NotARead));
        }
    };
    let [statement] = statements.as_slice() else { return Err(Refusal::NotOne(statements.len())) };
    reads_only(statement, dialect, own_functions)?;
    let checked = match dialect {
        Dialect::DuckDb => text::without_comments(sql, &tokens),
        _ => rewritten(statement, dialect)?,
    };
    Ok(checked.explaining(matches!(statement, Statement::Query(_))))
}

fn tokens(parser: &dyn SqlDialect, sql: &str) -> Result<Vec<TokenWithSpan>, Refusal> {
    Tokenizer::new(parser, sql)
        .with_unescape(false)
        .tokenize_with_location()
        .map_err(|e| Refusal::Syntax(e.to_string()))
}

/// The statement as it is sent. It is read once more, by a strict lexer and by the parser: both must find what was meant.
fn rewritten(statement: &Statement, dialect: Dialect) -> Result<Checked, Refusal> {
    let meant = written::canonical(statement, dialect).map_err(Refusal::Inexpressible)?;
    let sql = meant.to_string();
    lexis::verify(&sql, dialect).map_err(Refusal::Inexpressible)?;
    let parser = dialect.parser();
    let tokens = tokens(parser.as_ref(), &sql)?;
    let odd = || Refusal::Inexpressible("the query".to_owned());
    let again = parse(parser.as_ref(), &tokens).map_err(|_| odd())?;
    let [again] = again.as_slice() else { return Err(odd()) };
    if written::canonical(again, dialect).map_err(Refusal::Inexpressible)? != meant {
        return Err(odd());
    }
    Ok(text::without_comments(&sql, &tokens))
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

fn reads_only(statement: &Statement, dialect: Dialect, own: &[String]) -> Result<(), Refusal> {
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
    let mut walk = Walk { dialect, own };
    match statement.visit(&mut walk) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Visits every query, select, relation, function and nested statement.
struct Walk<'a> {
    dialect: Dialect,
    own: &'a [String],
}

impl Walk<'_> {
    fn call(&self, name: &ObjectName) -> ControlFlow<Refusal> {
        if functions::may_call(name, self.dialect, self.own) {
            return ControlFlow::Continue(());
        }
        let name = ba_protocol::text::shorten(&name.to_string(), 80);
        let last = name.rsplit('.').next().unwrap_or(&name).trim_matches(['"', '`']);
        let nearest = functions::nearest(last, self.dialect);
        ControlFlow::Break(Refusal::Function { name, nearest })
    }
}

impl Visitor for Walk<'_> {
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
        check_body(&query.body, self.dialect)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Refusal> {
        if select.into.is_some() {
            return ControlFlow::Break(Refusal::NotARead("SELECT INTO".to_owned()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Refusal> {
        match expr {
            Expr::Function(function) => self.call(&function.name),
            Expr::BinaryOp { op: BinaryOperator::PGCustomBinaryOperator(_), .. } => {
                ControlFlow::Break(Refusal::Inexpressible("OPERATOR(…)".to_owned()))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Refusal> {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => {
                self.call(name)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Refusal> {
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

/// A body may hold a write (`WITH x AS (DELETE … RETURNING *)`), or name a relation without a SELECT (`TABLE pg_authid`).
fn check_body(body: &SetExpr, dialect: Dialect) -> ControlFlow<Refusal> {
    match body {
        SetExpr::Table(table) => {
            let parts = [table.schema_name.as_deref(), table.table_name.as_deref()];
            let name = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
            if functions::refused_relation(&name, dialect) {
                return ControlFlow::Break(Refusal::Relation(name));
            }
            ControlFlow::Continue(())
        }
        SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => {
            ControlFlow::Break(Refusal::NotARead(text::first_words(s)))
        }
        SetExpr::SetOperation { left, right, .. } => {
            check_body(left, dialect)?;
            check_body(right, dialect)
        }
        _ => ControlFlow::Continue(()),
    }
}
