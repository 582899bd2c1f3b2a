//! The read-only guard (DESIGN 9, SPEC H3): exactly one statement, and that one only reads. What it hands on to a server is
//! the parsed query, written again, never the text that was given. It is one of three walls: the READ ONLY transaction and
//! the refused superuser stand behind it. DuckDB's own syntax is handed on as given, without comments: its wall is the sandbox.

mod alike;
#[cfg(test)]
mod attacks;
mod dialect;
mod functions;
mod lexis;
mod over;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod sqlserver_tests;
#[cfg(test)]
mod tests;
mod text;
mod written;

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, ObjectName, Query, Select, SetExpr, Statement, TableFactor, Visit, Visitor,
};
use sqlparser::dialect::Dialect as SqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Whitespace};

pub use alike::check_alike;
pub use dialect::Dialect;
pub use over::{FileTable, check_over};
pub use text::{Checked, InList, Placeholder};

/// Longer statements are not parsed at all.
const MAX_SQL: usize = 200_000;
const MAX_DEPTH: usize = 100;
/// Words and signs that may chain (`a + b + c`, `UNION`): each nests the statement one deeper, which nothing else bounds.
const MAX_LINKS: usize = 4_000;
/// Enough for that many levels; taken only as far as it is used.
const STACK_BYTES: usize = 128 << 20;

/// Why a statement is not run. Every variant names what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the query is empty")]
    Empty,
    #[error("the query is longer than {MAX_SQL} bytes")]
    TooLong,
    #[error("the query has more than {MAX_LINKS} operators and keywords")]
    TooManyLinks,
    #[error("exactly one statement is allowed, got {0}")]
    NotOne(usize),
    #[error("only reading is allowed: {0} is refused")]
    NotARead(String),
    #[error("the function {name} is not among those that are allowed here{}", near(.nearest))]
    Function { name: String, nearest: Vec<String> },
    #[error("the relation {0} is refused: it holds secrets of the server")]
    Relation(String),
    #[error("no table `{name}` here; there are: {known}")]
    UnknownTable { name: String, known: String },
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
            Refusal::TooLong | Refusal::TooManyLinks => "QUERY_TOO_LONG",
            Refusal::NotOne(_) => "ONE_STATEMENT",
            Refusal::NotARead(_) => "READ_ONLY",
            Refusal::Function { .. } => "FUNCTION_REFUSED",
            Refusal::Relation(_) => "RELATION_REFUSED",
            Refusal::UnknownTable { .. } => "UNKNOWN_TABLE",
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
    stacker::grow(STACK_BYTES, || checked(sql, dialect, own_functions))
}

fn checked(sql: &str, dialect: Dialect, own_functions: &[String]) -> Result<Checked, Refusal> {
    let tokens = lexed(sql, dialect)?;
    if dialect == Dialect::DuckDb {
        if let Some(name) = functions::refused_by_duckdb(&tokens) {
            return Err(Refusal::Function { name, nearest: Vec::new() });
        }
        // DuckDB has syntax of its own (FROM first, SUMMARIZE, PIVOT) and a parser that is asked next, inside the sandbox; a
        // server's statement must be understood here.
        if parse(dialect.parser().as_ref(), &tokens).is_err() && text::starts_as_read(&tokens) {
            return Ok(text::without_comments(sql, &tokens));
        }
    }
    let statement = understood(&tokens, dialect, own_functions)?;
    let checked = match dialect {
        Dialect::DuckDb => text::without_comments(sql, &tokens),
        _ => rewritten(&statement, dialect)?,
    };
    Ok(checked.explaining(matches!(statement, Statement::Query(_))))
}

/// The one statement, which only reads, as it was understood.
fn understood(tokens: &[TokenWithSpan], dialect: Dialect, own: &[String]) -> Result<Statement, Refusal> {
    let parsed = parse(dialect.parser().as_ref(), tokens);
    let mut statements = parsed
        .map_err(|message| text::likely_write(tokens).map_or(Refusal::Syntax(message), Refusal::NotARead))?;
    if statements.len() != 1 {
        return Err(Refusal::NotOne(statements.len()));
    }
    let statement = statements.pop().ok_or(Refusal::Empty)?;
    reads_only(&statement, dialect, own)?;
    Ok(statement)
}

fn lexed(sql: &str, dialect: Dialect) -> Result<Vec<TokenWithSpan>, Refusal> {
    if sql.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if sql.len() > MAX_SQL {
        return Err(Refusal::TooLong);
    }
    let tokens = tokens(dialect.parser().as_ref(), sql)?;
    if tokens.iter().filter(|t| may_chain(&t.token)).count() > MAX_LINKS {
        return Err(Refusal::TooManyLinks);
    }
    if tokens.iter().any(|t| is_executable_comment(&t.token)) {
        return Err(Refusal::ExecutableComment);
    }
    Ok(tokens)
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

fn may_chain(token: &Token) -> bool {
    match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Number(..) | Token::Char(_) | Token::Whitespace(_) | Token::EOF => false,
        Token::Comma | Token::LParen | Token::RParen | Token::Period | Token::SemiColon => false,
        Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) | Token::Placeholder(_) => false,
        _ => true,
    }
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
        Statement::Query(_) => true,
        // Its parser knows words that the server does not.
        _ if dialect == Dialect::MsSql => false,
        Statement::ShowTables { .. }
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
            // Most of SQL Server's hints lock what others need.
            TableFactor::Table { with_hints, .. } if with_hints.iter().any(|h| !is_harmless_hint(h)) => {
                ControlFlow::Break(Refusal::NotARead("WITH (hints)".to_owned()))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Refusal> {
        let name = relation.to_string();
        // A word that our parser takes for a name, and PostgreSQL does not: the relation is what follows it.
        if self.dialect == Dialect::Postgres && name.eq_ignore_ascii_case("only") {
            return ControlFlow::Break(Refusal::Inexpressible("ONLY".to_owned()));
        }
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

fn is_harmless_hint(hint: &Expr) -> bool {
    matches!(hint, Expr::Identifier(name) if ["nolock", "readpast"].contains(&name.value.to_lowercase().as_str()))
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
